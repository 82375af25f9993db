// Validates texts of files as the operator and the language would, and lists all that they would report. What the files
// refer to and do not contain is a notice: it may be in the cluster.

import { didYouMean } from '../../base/nearest-name.ts'
import { compileAtOnce } from '../reconcile/documents/compile-document.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import { Reconciler } from '../reconcile/reconciler.ts'
import type { Verdict } from '../reconcile/verdict.ts'
import type { ReasonOf } from '../resource/condition.ts'
import {
  DEFAULT_CLASS,
  resourceKey,
  type Resource,
  type SecretResource,
} from '../resource/resource.ts'
import { dependsOnNoVariable } from '../resource/stand-in-variables.ts'
import { collectResources, type Located } from './collect-resources.ts'
import { byPlace, type FilesValidation, type ValidationFinding } from './finding.ts'
import type { GatheredFile } from './gather-files.ts'

/** @param maxRoutes as the gateways have it; 20,000 if left out */
export const validateFiles = (
  files: readonly GatheredFile[],
  maxRoutes?: number,
): FilesValidation => {
  const { resources: located, findings } = collectResources(files)
  const resources = new Map([...located].map(([key, { resource }]) => [key, resource]))
  const standIns = standInSecrets(resources)
  const cache = { version: 1, resources: new Map([...standIns, ...resources]), notes: [] }
  const classes = new Set([...resources.values()].map(classOf))
  // Every class is validated by itself, as its operator would.
  const validated = [...classes].flatMap((className) => [
    ...new Reconciler({ className, compiler: compileAtOnce(maxRoutes) }).reconcile(cache).verdicts,
  ])
  const verdicts = new Map(validated)
  const realms = realmsAmong(verdicts)
  const found = [...verdicts].flatMap(([key, verdict]) => {
    const place = located.get(key)
    return place === undefined ? [] : findingsOf(verdict, place, { standIns, realms })
  })
  const kinds = [...resources.values()].map(({ kind }) => kind)
  return {
    names: files.map(({ name }) => name),
    documents: kinds.filter((kind) => kind === 'ApiSpecification').length,
    realms: kinds.filter((kind) => kind === 'Realm').length,
    findings: [...findings, ...found].sort(byPlace),
  }
}

/** What the findings of one resource depend on beside it. */
interface Surroundings {
  readonly standIns: ReadonlyMap<string, SecretResource>
  /** By uri. */
  readonly realms: ReadonlyMap<string, 'complete' | 'incomplete'>
}

const realmsAmong = (verdicts: ReadonlyMap<string, Verdict>): Surroundings['realms'] =>
  new Map(
    [...verdicts.values()].flatMap(({ resource, id, digest }) =>
      resource.kind === 'Realm' && id !== undefined
        ? [[id, digest === undefined ? 'incomplete' : 'complete'] as const]
        : [],
    ),
  )

const classOf = (resource: Resource): string =>
  (resource.kind === 'ApiSpecification' || resource.kind === 'Realm'
    ? resource.className
    : undefined) ?? DEFAULT_CLASS

/**
 * A document is validated with empty texts in place of variables whose Secret is not among the files: an empty
 * text passes every function unchanged.
 */
const standInSecrets = (
  resources: ReadonlyMap<string, Resource>,
): ReadonlyMap<string, SecretResource> => {
  const secrets = new Map<string, SecretResource>()
  for (const resource of resources.values()) {
    for (const { name, key } of variableReferences(resource)) {
      const { namespace } = resource.metadata
      const id = resourceKey('Secret', namespace, name)
      if (resources.has(id)) continue
      const data = { ...secrets.get(id)?.data, [key]: '' }
      secrets.set(id, { kind: 'Secret', metadata: { ...resource.metadata, name }, data })
    }
  }
  return secrets
}

const variableReferences = (
  resource: Resource,
): readonly { readonly name: string; readonly key: string }[] => {
  if (resource.kind !== 'ApiSpecification' || !('spec' in resource.checked)) return []
  return (resource.checked.spec.variablesFrom ?? []).flatMap(({ secretRef: { name, key } }) =>
    key === undefined ? [] : [{ name, key }],
  )
}

const findingsOf = (
  verdict: Verdict,
  located: Located,
  { standIns, realms }: Surroundings,
): readonly ValidationFinding[] => {
  const at = placeIn(located)
  const isCertain = certainty(verdict, standIns)
  return [
    ...verdict.errors
      .filter(isCertain)
      .map(({ path, code, message }) => at('error', path, code, message)),
    ...referenceFindings(verdict, located, realms),
    ...verdict.warnings
      .filter(isCertain)
      .map(({ path, code, message }) => at(severityOf(code), path, code, message)),
    ...secretNotices(verdict, located, standIns),
  ]
}

/** Who runs this wants to know before it is deployed; a gateway serves the other operations of the document. */
const severityOf = (code: Warning['code']): 'error' | 'warning' =>
  code === 'AlwaysFails' ? 'error' : 'warning'

/** What may be said of a document whose Secrets are not among the files. */
const certainty = (
  { resource }: Verdict,
  standIns: ReadonlyMap<string, SecretResource>,
): ((diagnostic: Problem | Warning) => boolean) => {
  const { namespace } = resource.metadata
  const isComplete = variableReferences(resource).every(
    ({ name }) => !standIns.has(resourceKey('Secret', namespace, name)),
  )
  const document =
    resource.kind === 'ApiSpecification' && 'spec' in resource.checked
      ? resource.checked.spec.document
      : undefined
  if (isComplete || document === undefined) return () => true
  const isCertain = dependsOnNoVariable(document)
  return ({ code, path }) => isCertain({ code, path: path.replace(/^\/spec\/document/, '') })
}

type AtPath = (
  severity: ValidationFinding['severity'],
  path: string,
  code: string,
  message: string,
) => ValidationFinding

const placeIn =
  ({ file, positionOf, name, isPlain }: Located): AtPath =>
  (severity, path, code, message) => ({
    severity,
    file,
    ...positionOf(path),
    resource: name,
    path: isPlain ? path.replace(/^\/spec\/document/, '') : path,
    code,
    message: isPlain ? message.replaceAll('/spec/document/', '/') : message,
  })

/** What is not there may be elsewhere; what is there and not allowed, or lacks a key, is wrong. */
const NOTICES: ReadonlySet<ReasonOf<'ResolvedRefs'>> = new Set([
  'RealmNotFound',
  'SecretNotFound',
  'ConfigMapNotFound',
])

const referenceFindings = (
  verdict: Verdict,
  located: Located,
  realms: Surroundings['realms'],
): readonly ValidationFinding[] => {
  const { status, reason, message } = verdict.resolvedRefs
  if (status !== 'False') return []
  const at = placeIn(located)
  if (reason === 'RealmNotFound')
    return [at('notice', '/spec/document/realm_uri', reason, describeRealm(verdict, realms))]
  const path = '/spec'
  return NOTICES.has(reason)
    ? [at('notice', path, reason, `${message} (not among the files)`)]
    : [at('error', path, reason, message)]
}

const describeRealm = (
  { realmUri = '', resource }: Verdict,
  realms: Surroundings['realms'],
): string => {
  if (realms.get(realmUri) === 'incomplete')
    return (
      `the realm '${realmUri}' is among the files, but has errors or lacks a Secret: ` +
      'what this document needs of it is not validated'
    )
  const hint = didYouMean(realmUri, realms.keys()) || '.'
  return (
    `there is no realm '${realmUri}' among these files that namespace ${resource.metadata.namespace} may use${hint} ` +
    'Add it, unless it is deployed elsewhere'
  )
}

const secretNotices = (
  { resource }: Verdict,
  located: Located,
  standIns: ReadonlyMap<string, SecretResource>,
): readonly ValidationFinding[] => {
  const at = placeIn(located)
  const { namespace } = resource.metadata
  const names = new Set(variableReferences(resource).map(({ name }) => name))
  return [...names]
    .filter((name) => standIns.has(resourceKey('Secret', namespace, name)))
    .map((name) => {
      const message = `Secret ${namespace}/${name} is not among the files: validated with empty variables`
      return at('notice', '/spec/variablesFrom', 'SecretNotFound', message)
    })
}
