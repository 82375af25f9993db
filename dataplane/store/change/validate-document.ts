// Validates and compiles a submitted document: the result has all its problems, or everything that is stored and
// served of it. It loads nothing.

import type { BoundedCompiler } from '../../../compiler/bounded-compiler.ts'
import { type CompileWork, environmentOf, taskOf } from '../../../compiler/task.ts'
import {
  type CallerRequirement,
  callerRequirementsOf,
} from '../../../language/caller-requirements.ts'
import { compile } from '../../../language/compile.ts'
import { claimsOf } from '../../../language/compile/conflicts.ts'
import { canonicalJson, documentDigest } from '../../../language/wire/digest.ts'
import type { Environment } from '../../../language/realm/environment.ts'
import { ownValue } from '../../../language/expression/lookup.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { type Problem, type Warning, withoutOffset } from '../../../language/problem.ts'
import { MAX_ROUTES } from '../../../language/routes/route-limit.ts'
import { namedOrigins } from './named-origins.ts'
import { packDocument } from '../packed/pack.ts'
import type { PackedDocument } from '../packed/packed-document.ts'

/** Routes that a document claims (behaviour §2). */
export type Claims = ReturnType<typeof claimsOf>

/** The realm and origins that a document names, as far as it states them itself. */
export interface Forwards {
  readonly realmUri: string
  readonly origins: readonly string[]
}

interface Place {
  /** Unix time, milliseconds. */
  readonly since: number
  /** 0 managed, 1 loaded by hand. */
  readonly rank: number
  readonly resource?: string | undefined
  readonly confinedTo?: string | undefined
  readonly credentials?: readonly string[] | undefined
}

interface Refusal {
  readonly ok: false
  readonly id: string
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

interface Compiled {
  readonly ok: true
  readonly id: string
  readonly claims: Claims
  readonly forwards: Forwards
  /** That the users of the realm alone may meet. */
  readonly requirements: readonly CallerRequirement[]
  readonly warnings: readonly Warning[]
  /** Without its age. */
  readonly packed: PackedDocument
}

/** Plain data: it may come from another thread. */
export type CompileResult = Compiled | Refusal

export type DocumentValidation =
  | Refusal
  | (Omit<Compiled, 'packed'> & {
      /** Creates the canonical JSON (RFC 8785) of the document, which a restored one has already. */
      readonly source: () => string
      readonly pack: (place: Place) => PackedDocument
    })

/** Large documents are compiled in another thread. */
export type ValidateDocument = (
  document: unknown,
  environment: Environment,
) => DocumentValidation | Promise<DocumentValidation>

const MAX_ID_LENGTH = 512

/** Most documents have none. */
const NO_WARNINGS: readonly Warning[] = Object.freeze([])

/** A placeholder: the age is added where it is known. */
const AGELESS: Place = { since: 0, rank: 0 }

export const compileDocument: CompileWork<CompileResult> = (task, bounds) => {
  const { document } = task
  const compilation = compile(document, environmentOf(task), bounds)
  const id = idOf(document)
  const problems = 'problems' in compilation ? compilation.problems.map(withoutOffset) : unfitId(id)
  const warnings =
    compilation.warnings.length === 0 ? NO_WARNINGS : compilation.warnings.map(withoutOffset)
  if ('problems' in compilation || problems.length > 0) return { ok: false, id, problems, warnings }
  const { compiled } = compilation
  const packed = packDocument(compiled, AGELESS)
  const { id: compiledId, realmUri } = compiled
  return {
    ok: true,
    id: compiledId,
    claims: claimsOf(compiled),
    warnings,
    packed,
    forwards: { realmUri, origins: namedOrigins(compiled) },
    requirements: callerRequirementsOf(compiled),
  }
}

export const refuseDocument = (problem: Problem, document: unknown): CompileResult => ({
  ok: false,
  id: idOf(document),
  problems: [problem],
  warnings: [],
})

/**
 * Compiles synchronously, however long it takes.
 * @example validateInProcess()({ id: 'orders', … }, { realm: () => undefined }) // { ok: false, … no_such_realm }
 */
export const validateInProcess =
  (
    maxRoutes: number = MAX_ROUTES,
  ): ((...args: Parameters<ValidateDocument>) => DocumentValidation) =>
  (document, environment) =>
    toDocumentValidation(document, compileDocument(taskOf(document, environment), { maxRoutes }))

export const validateWith =
  (compiler: Pick<BoundedCompiler<CompileResult>, 'compile'>): ValidateDocument =>
  (document, environment) => {
    const compilation = compiler.compile({
      ...taskOf(document, environment),
      // A gateway performs one change at a time.
      namespace: '',
      purpose: 'edit',
      digest: () => contentDigest(document, environment.variables),
    })
    return compilation instanceof Promise
      ? compilation.then((each) => toDocumentValidation(document, each))
      : toDocumentValidation(document, compilation)
  }

/** What of a gateway's own settings its documents are warned of. */
export interface GatewayFacts {
  /** It shares its state with replicas (`--redis`): tickets and tokens must be valid at all of them. */
  readonly hasReplicas: boolean
  readonly hasConnectionsAlone: boolean
}

export const atGateway =
  <R>(
    validate: (document: unknown, environment: Environment) => R,
    { hasReplicas, hasConnectionsAlone }: GatewayFacts,
  ): typeof validate =>
  (document, environment) =>
    validate(document, {
      ...environment,
      realm: (uri) => {
        const facts = environment.realm(uri)
        const isSignedApart = hasReplicas && facts?.hasSigningKeys !== true
        return facts && { ...facts, isSignedApart, hasConnectionsAlone, countsAlone: !hasReplicas }
      },
    })

const toDocumentValidation = (
  document: unknown,
  compilation: CompileResult,
): DocumentValidation => {
  if (!compilation.ok) return compilation
  const { packed, ...rest } = compilation
  return {
    ...rest,
    // `compile` has found it to be JSON.
    source: () => canonicalJson(document as Value),
    pack: ({ resource, confinedTo, credentials, ...age }) => ({
      ...packed,
      ...age,
      ...(resource !== undefined && { resource }),
      ...(confinedTo !== undefined && { confinedTo }),
      ...(credentials !== undefined && { credentials }),
    }),
  }
}

/** Never shown, so it may depend on values from Secrets. */
const contentDigest = (document: unknown, variables: ValueMap = {}): string =>
  documentDigest({ spec: [document as Value, variables] })

const idOf = (document: unknown): string => {
  const id = ownValue(document, 'id')
  return typeof id === 'string' ? id.slice(0, MAX_ID_LENGTH) : ''
}

/** Ids are used in lines of the root digest and in URLs: no control characters, no leading `_`. */
const unfitId = (id: string): readonly Problem[] => {
  const invalid = (message: string): readonly Problem[] => [
    { code: 'invalid_value', path: '/id', message },
  ]
  if (id === '') return invalid('an id must not be empty')
  if (id.length >= MAX_ID_LENGTH)
    return invalid(`an id must have fewer than ${MAX_ID_LENGTH} characters`)
  if (id.startsWith('_')) return invalid('an id must not begin with _')
  if (/\p{Cc}/u.test(id)) return invalid('an id must not contain control characters')
  const isNameable = id !== '.' && id !== '..' && id.isWellFormed()
  return isNameable
    ? []
    : invalid('an id must be usable in a URL: well-formed text, and neither . nor ..')
}
