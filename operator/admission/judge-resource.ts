// An object of our kinds in; everything that is wrong with it in itself, and what its owner should know, out. The
// same language as everywhere; what an object refers to is not looked at, as that may come later. Pure.

import type { CompileTask } from '../../compiler/task.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import type { RealmFacts } from '../../language/environment.ts'
import { MAX_ROUTES } from '../../language/routes/route-limit.ts'
import { validateRealm } from '../../language/realm/validate.ts'
import { compileDocument, type DocumentOutcome } from '../reconcile/documents/compile-document.ts'
import { followPointer } from '../resource/json-pointer.ts'
import { readResource } from '../resource/read-resource.ts'
import { realmRecord, specPointer } from '../resource/realm-record.ts'
import type { ApiSpecificationSpec, RealmSpec } from '../resource/resource.ts'
import { dependsOnNoVariable } from '../resource/stand-in-variables.ts'

export interface Judgement {
  /** Pointers lead into the object: `/spec/document/host`. */
  readonly faults: readonly Located[]
  readonly warnings: readonly Located[]
}

/** A Problem or a Warning of the language. */
export interface Located {
  readonly code: string
  readonly path: string
  readonly message: string
}

const NOTHING: Judgement = { faults: [], warnings: [] }

/** Compiles a document of a namespace. Rejects where it can't be told in time what becomes of it. */
export type CompileForReview = (
  task: CompileTask & { readonly document: ValueMap },
  namespace: string,
) => DocumentOutcome | Promise<DocumentOutcome>

export const compileHere: CompileForReview = (task) =>
  compileDocument(task, { maxRoutes: MAX_ROUTES })

/** Undefined: it is none of ours, or of a version we do not know. */
export const judgeResource = async (
  object: ValueMap,
  namespace = '',
  compile: CompileForReview = compileHere,
): Promise<Judgement | undefined> => {
  const known = { uid: '', resourceVersion: '', generation: 1, createdAt: 0 }
  // Names and labels are the API server's to judge.
  const read = readResource({ ...object, metadata: { name: 'judged' } }, known)
  if (read.result !== 'resource') return undefined
  const { resource } = read
  if (resource.kind !== 'ApiSpecification' && resource.kind !== 'Realm') return undefined
  if ('problems' in resource.checked) return { faults: resource.checked.problems, warnings: [] }
  return resource.kind === 'Realm'
    ? judgeRealm(resource.checked.spec)
    : judgeSpecification(resource.checked.spec, (task) => compile(task, namespace))
}

/** Allows whatever a document may ask of a realm. */
const ANY_REALM: RealmFacts = { authmethods: ['oidcrp', 'cookie'], oidcProviders: [] }

const PLACE = '/spec/document'

const judgeSpecification = async (
  spec: ApiSpecificationSpec,
  compile: (task: Parameters<CompileForReview>[0]) => ReturnType<CompileForReview>,
): Promise<Judgement> => {
  const { document } = spec
  if (document === undefined) return NOTHING
  const secrets = standInVariables(spec)
  const compilation = await compile({
    document,
    realm: ANY_REALM,
    ...(secrets !== undefined && { variables: secrets }),
  })
  const isCertain = secrets === undefined ? () => true : dependsOnNoVariable(document)
  if ('problems' in compilation) {
    const certain = compilation.problems.filter(isCertain)
    const warnings = certain.length < compilation.problems.length ? [notYet(spec)] : []
    return { faults: certain.map(relocate), warnings }
  }
  // Of a realm that is not known, nobody can say what it lacks.
  const warnings = compilation.warnings.filter(
    (warning) => warning.code !== 'UnsatisfiedSecurity' && isCertain(warning),
  )
  return { faults: [], warnings: warnings.map(relocate) }
}

const relocate = ({ code, path, message }: Located): Located => ({
  code,
  path: `${PLACE}${path}`,
  message,
})

/** Empty texts for what Secrets will bring, as far as it has names; undefined: nothing comes from Secrets. */
const standInVariables = ({ variablesFrom = [] }: ApiSpecificationSpec): ValueMap | undefined =>
  variablesFrom.length === 0
    ? undefined
    : Object.fromEntries(
        variablesFrom.flatMap(({ name }) => (name === undefined ? [] : [[name, '']])),
      )

const notYet = ({ variablesFrom = [] }: ApiSpecificationSpec): Located => {
  const names = [...new Set(variablesFrom.map(({ secretRef }) => secretRef.name))]
  const message = `some expressions are judged once the Secret is read: ${names.join(', ')}`
  return { code: 'UnresolvedVariables', path: '/spec/variablesFrom', message }
}

/** By the schema that the data plane judges with. */
const judgeRealm = (spec: RealmSpec): Judgement => {
  const validation = validateRealm(realmRecord(spec, () => ''))
  if (validation.ok) return NOTHING
  const located = validation.problems.map((problem) => ({
    ...problem,
    path: specPointer(problem.path),
  }))
  return { faults: located.filter(({ path }) => !isSecret(spec, path)), warnings: [] }
}

/** Whether a pointer leads to, or into, a reference to a Secret. */
const isSecret = (spec: RealmSpec, pointer: string): boolean => {
  const { node } = followPointer({ spec }, pointer)
  return isMap(node) && Object.hasOwn(node, 'secretRef')
}
