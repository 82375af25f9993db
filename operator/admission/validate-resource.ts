// Validates an object of our kinds by itself and lists every problem and warning, with the same language as everywhere.
// Objects that it refers to are not read, as they may come later. Pure.

import type { CompileTask } from '../../compiler/task.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { RealmFacts } from '../../language/realm/environment.ts'
import { MAX_ROUTES } from '../../language/routes/route-limit.ts'
import { compileDocument, type DocumentResult } from '../reconcile/documents/compile-document.ts'
import { readResource } from '../resource/read-resource.ts'
import type { ApiSpecificationSpec } from '../resource/resource.ts'
import { dependsOnNoVariable } from '../resource/stand-in-variables.ts'
import { validateRealmSpec } from '../resource/validate-realm-spec.ts'

export interface ResourceValidation {
  /** Pointers lead into the object: `/spec/document/host`. */
  readonly problems: readonly Located[]
  readonly warnings: readonly Located[]
}

/** A Problem or a Warning of the language. */
export interface Located {
  readonly code: string
  readonly path: string
  readonly message: string
}

const NOTHING: ResourceValidation = { problems: [], warnings: [] }

/** Compiles the document of one review. Rejects where the result is not there in time. */
export type CompileForReview = (
  task: CompileTask & { readonly document: ValueMap },
) => DocumentResult | Promise<DocumentResult>

export const compileHere: CompileForReview = (task) =>
  compileDocument(task, { maxRoutes: MAX_ROUTES })

/** Undefined: it is not of our kinds, or of a version that we do not know. */
export const validateResource = async (
  object: ValueMap,
  compile: CompileForReview = compileHere,
): Promise<ResourceValidation | undefined> => {
  const known = { uid: '', resourceVersion: '', generation: 1, createdAt: 0 }
  // Names and labels are validated by the API server.
  const read = readResource({ ...object, metadata: { name: 'validated' } }, known)
  if (read.result !== 'resource') return undefined
  const { resource } = read
  if (resource.kind !== 'ApiSpecification' && resource.kind !== 'Realm') return undefined
  if ('problems' in resource.checked) return { problems: resource.checked.problems, warnings: [] }
  return resource.kind === 'Realm'
    ? validateRealmSpec(resource.checked.spec)
    : validateSpecification(resource.checked.spec, compile)
}

/** Has everything that a document may require of a realm. */
const ANY_REALM: RealmFacts = { authmethods: ['oidcrp', 'cookie'], oidcProviders: [] }

const PLACE = '/spec/document'

const validateSpecification = async (
  spec: ApiSpecificationSpec,
  compile: CompileForReview,
): Promise<ResourceValidation> => {
  const { document } = spec
  if (document === undefined) return NOTHING
  const secrets = standInVariables(spec)
  const compilation = await compile({
    document,
    realm: ANY_REALM,
    ...(secrets !== undefined && { variables: secrets }),
  })
  const isCertain = secrets === undefined ? () => true : dependsOnNoVariable(document)
  // What an unknown realm lacks is not known either.
  const warnings = compilation.warnings
    .filter((warning) => warning.code !== 'UnsatisfiedSecurity' && isCertain(warning))
    .map(relocate)
  if (!('problems' in compilation)) return { problems: [], warnings }
  const certain = compilation.problems.filter(isCertain)
  const later = certain.length < compilation.problems.length ? [notYet(spec)] : []
  return { problems: certain.map(relocate), warnings: [...later, ...warnings] }
}

const relocate = ({ code, path, message }: Located): Located => ({
  code,
  path: `${PLACE}${path}`,
  message,
})

/** Empty texts in place of values from Secrets, as far as these have names; undefined: nothing comes from Secrets. */
const standInVariables = ({ variablesFrom = [] }: ApiSpecificationSpec): ValueMap | undefined =>
  variablesFrom.length === 0
    ? undefined
    : Object.fromEntries(
        variablesFrom.flatMap(({ name }) => (name === undefined ? [] : [[name, '']])),
      )

const notYet = ({ variablesFrom = [] }: ApiSpecificationSpec): Located => {
  const names = [...new Set(variablesFrom.map(({ secretRef }) => secretRef.name))]
  const message = `some expressions are validated once the Secret is read: ${names.join(', ')}`
  return { code: 'UnresolvedVariables', path: '/spec/variablesFrom', message }
}
