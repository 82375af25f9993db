// Validates YAML of the documentation. A fragment, such as a Security Object, is completed to a document or a Realm
// first; which one it is, its keys say.

import { parseAllDocuments } from 'yaml'
import { levelKeys } from '../../language/compile/level-part.ts'
import { INHERITED_KEYS } from '../../language/compile/operation-parts.ts'
import { VERSION_PARTS } from '../../language/compile/version-parts.ts'
import { METHODS } from '../../language/document.ts'
import { isMap, type Value } from '../../language/expression/value.ts'
import { OIDC_PROVIDER_SCHEMA } from '../../language/schema/oidc-provider-schema.ts'
import { REALM_SPEC } from '../../operator/resource/realm-spec-schema.ts'
import { API_VERSION } from '../../operator/resource/resource.ts'
import { validateFiles } from '../../cli/validate/validate-files.ts'
import {
  diagnosticLine,
  type ValidationDiagnostic,
} from '../../cli/validate/validation-diagnostic.ts'
import { createCertificateAuthority } from './certificates.ts'
import { chartSections, valueFault } from './documented-commands.ts'

/** What is wrong with a block of YAML, notices of what is not in it left out; undefined: it is not known what it is. */
export const faultsOfYaml = (snippet: string): readonly string[] | undefined => {
  const text = snippet.replaceAll(/MII\w*…/g, certificateBody)
  const parsed = parseAllDocuments(text)
  const errors = parsed.flatMap(({ errors: each }) => each.map(({ message }) => message))
  if (errors.length > 0) return errors
  const values = parsed.map((document) => document.toJS() as Value)
  const keys = values.map((value) => (isMap(value) ? Object.keys(value) : []))
  if (keys.length > 0 && keys.every((each) => each.includes('kind'))) return faultsOfFile(text)
  const [only = []] = keys
  // Comments alone, such as the line that names a schema to editors.
  if (text.split('\n').every((line) => /^(?:#|$)/.test(line))) return []
  if (keys.length !== 1 || only.length === 0) return undefined
  const form = FORMS.find(({ fits }) => fits(only))
  return form?.faults(text)
}

/** In place of one that a page cuts short. */
const certificateBody = (): string =>
  createCertificateAuthority('snippet')
    .cert.split('\n')
    .filter((line) => line !== '' && !line.startsWith('-'))
    .join('')

interface Form {
  readonly fits: (keys: readonly string[]) => boolean
  readonly faults: (text: string) => readonly string[]
}

const are =
  (...names: readonly string[]) =>
  (keys: readonly string[]): boolean =>
    keys.every((key) => names.includes(key))

const indented = (text: string, by: number): string => text.replaceAll(/^(?=.)/gm, ' '.repeat(by))

const inVersions = (text: string): string =>
  `id: snippet\nhost: api.example.com\nrealm_uri: com.example\nversions:\n${indented(text, 2)}`
const inVersion = (text: string): string => inVersions(`v1:\n${indented(text, 2)}`)
const inPaths = (text: string): string =>
  inVersion(`base_path: /snippet\npaths:\n${indented(text, 2)}`)
/** With the bindings that it reads. */
const inPath = (text: string): string => {
  const names = new Set(
    [...text.matchAll(/request\.bindings\.([\w-]+)/g)].map(([, name = '']) => name),
  )
  const path = ['/path', ...[...names].map((name) => `:${name}`)].join('/')
  return inPaths(`${path}:\n${indented(text, 2)}`)
}
const inOperation = (text: string): string => inPath(`${guardFor(text)}post:\n${indented(text, 2)}`)
const STATIC = 'post:\n  action: {type: static, body: hello}\n'
/** No user is known without one. */
const guardFor = (text: string): string =>
  text.includes('{{security.') ? 'security: {type: basic}\n' : ''
const inRealm = (text: string): string =>
  `apiVersion: gateway.svc.dev/v1alpha1\nkind: Realm\nmetadata: {name: snippet}\nspec:\n${indented(text, 2)}`

const DEFAULTS = ['variables', 'defaults', ...Object.keys(INHERITED_KEYS)]
const REALM_FIELDS = Object.keys(REALM_SPEC.properties)
const PROVIDER_FIELDS = Object.keys(OIDC_PROVIDER_SCHEMA.properties).map((name) =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
)
const PROVIDER_REST = [
  'clientId: gateway',
  'clientSecret: {secretRef: {name: oidc, key: secret}}',
  'redirectUri: https://api.example.com/v1/oidc/corp/callback',
]

const hasMethod = (text: string): boolean => METHODS.some((name) => text.includes(`${name}:`))

/** The first that fits counts. */
const FORMS: readonly Form[] = [
  { fits: (keys) => keys.includes('versions'), faults: (text) => faultsOfFile(text) },
  { fits: (keys) => keys.includes('base_path'), faults: (text) => faultsOfFile(inVersion(text)) },
  {
    fits: (keys) => keys.every((key) => key.startsWith('/')),
    faults: (text) =>
      faultsOfFile(inPaths(hasMethod(text) ? text : `${text}\n${indented(STATIC, 2)}`)),
  },
  { fits: are(...METHODS), faults: (text) => faultsOfFile(inPath(text)) },
  { fits: are('action', 'response'), faults: (text) => faultsOfFile(inOperation(text)) },
  {
    // The shared response of a document, beside the variable that it uses.
    fits: (keys) => keys.includes('response') && are('variables', 'response')(keys),
    faults: (text) => {
      const [variables = '', response = ''] = text.split(/^(?=response:)/m)
      const operation = `action: {type: static, body: a}\n${response}`
      return faultsOfFile(inPath(`${variables}\npost:\n${indented(operation, 2)}`))
    },
  },
  { fits: are(...DEFAULTS), faults: (text) => faultsOfFile(inPath(`${text}\n${STATIC}`)) },
  {
    fits: are('openapi', 'docs_page', ...Object.keys(levelKeys(VERSION_PARTS))),
    faults: (text) => faultsOfFile(inVersion(`base_path: /snippet\npaths: {}\n${text}`)),
  },
  {
    fits: (keys) => keys.includes('issuer') && are(...PROVIDER_FIELDS)(keys),
    faults: (text) => {
      const entry = `${text}${PROVIDER_REST.join('\n')}\n`
      const providers = `uri: com.example\nauthmethods: [oidcrp, cookie]\ninfo:\n  oidcProviders:\n    corp:\n`
      return faultsOfFile(inRealm(`${providers}${indented(entry, 6)}`))
    },
  },
  {
    fits: are(...REALM_FIELDS),
    faults: (text) =>
      faultsOfFile(inRealm(/^uri:/m.test(text) ? text : `uri: com.example\n${text}`)),
  },
  {
    fits: are(...chartSections()),
    faults: (text) =>
      leavesOf(parseAllDocuments(text)[0]?.toJS() as Value).flatMap(
        (path) => valueFault(path) ?? [],
      ),
  },
]

/** Kinds that the documentation shows beside ours, by apiVersion. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  v1: ['ConfigMap', 'Namespace', 'Pod', 'Secret', 'Service', 'ServiceAccount'],
  'apps/v1': ['Deployment'],
  'argoproj.io/v1alpha1': ['Application'],
  'networking.k8s.io/v1': ['Ingress', 'NetworkPolicy'],
  'rbac.authorization.k8s.io/v1': ['ClusterRoleBinding', 'Role', 'RoleBinding'],
}

const isKnownKind = (value: Value): boolean => {
  if (!isMap(value)) return false
  const { apiVersion, kind } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return false
  return apiVersion === API_VERSION || FOREIGN[apiVersion]?.includes(kind) === true
}

const faultsOfFile = (text: string): readonly string[] => {
  const unknown = parseAllDocuments(text)
    .map((document) => document.toJS() as Value)
    .filter((value) => isMap(value) && Object.hasOwn(value, 'kind') && !isKnownKind(value))
  return [
    ...unknown.map((value) => `this kind is not known here: ${JSON.stringify(value).slice(0, 80)}`),
    ...validateFiles([{ name: 'snippet', text }])
      .diagnostics.filter(isFault)
      .map(diagnosticLine),
  ]
}

/** A fragment does not contain the realm, Secret or ConfigMap that it names. */
const isFault = ({ severity }: ValidationDiagnostic): boolean => severity !== 'notice'

const leavesOf = (value: Value, path = ''): readonly string[] =>
  isMap(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, member]) =>
        leavesOf(member, path === '' ? key : `${path}.${key}`),
      )
    : [path]
