// A submitted document and its surroundings in; its faults, or everything that is held and served of it,
// out. Pure: it loads nothing.

import { compile } from '../../spec/compile.ts'
import { claimsOf } from '../../spec/conflicts.ts'
import { canonicalJson } from '../../spec/digest.ts'
import type { Environment } from '../../spec/environment.ts'
import { isMap, type Value } from '../../spec/expression/value.ts'
import type { Problem, Warning } from '../../spec/problem.ts'
import { packDocument } from './pack.ts'
import type { PackedDocument } from './packed-document.ts'

/** Routes that a document claims (behaviour §2). */
export type Claims = ReturnType<typeof claimsOf>

interface Age {
  /** Unix time, milliseconds. */
  readonly since: number
  /** 0 managed, 1 loaded by hand. */
  readonly rank: number
}

export type Judgement =
  | { readonly ok: false; readonly id: string; readonly problems: readonly Problem[] }
  | {
      readonly ok: true
      readonly id: string
      /** Makes the canonical JSON (RFC 8785) of the document, which a restored one has already. */
      readonly source: () => Buffer
      readonly claims: Claims
      readonly warnings: readonly Warning[]
      readonly pack: (age: Age) => PackedDocument
    }

export type Judge = (document: unknown, environment: Environment) => Judgement

const MAX_ID_LENGTH = 512

/** @example judge({ id: 'orders', … }, { realm: () => undefined }) // { ok: false, … no_such_realm } */
export const judge: Judge = (document, environment) => {
  const outcome = compile(document, environment)
  const id = idOf(document)
  const problems = 'problems' in outcome ? outcome.problems : unfitId(id)
  if ('problems' in outcome || problems.length > 0) return { ok: false, id, problems }
  const { compiled, warnings } = outcome
  return {
    ok: true,
    id: compiled.id,
    // `compile` has found it to be JSON.
    source: () => Buffer.from(canonicalJson(document as Value)),
    claims: claimsOf(compiled),
    warnings,
    pack: (age) => packDocument(compiled, age),
  }
}

/**
 * For a gateway that shares its state with replicas (`--redis`): tickets and tokens are to count at all of them.
 */
export const judgeAmongReplicas: Judge = (document, environment) =>
  judge(document, {
    ...environment,
    realm: (uri) => {
      const facts = environment.realm(uri)
      return facts && { ...facts, isSignedApart: facts.hasKeys !== true }
    },
  })

const idOf = (document: unknown): string => {
  const id = isMap(document) && Object.hasOwn(document, 'id') ? document['id'] : undefined
  return typeof id === 'string' ? id.slice(0, MAX_ID_LENGTH) : ''
}

/** Ids stand in lines of the root digest and in URLs: no control characters, no leading `_`. */
const unfitId = (id: string): readonly Problem[] => {
  const fault = (message: string): readonly Problem[] => [
    { code: 'invalid_value', path: '/id', message },
  ]
  if (id === '') return fault('an id is not empty')
  if (id.length >= MAX_ID_LENGTH) return fault(`an id has less than ${MAX_ID_LENGTH} characters`)
  if (id.startsWith('_')) return fault('an id does not begin with _')
  if (/\p{Cc}/u.test(id)) return fault('an id holds no control characters')
  const isNameable = id !== '.' && id !== '..' && id.isWellFormed()
  return isNameable
    ? []
    : fault('an id can stand in a URL: it is no dot segment and well-formed text')
}
