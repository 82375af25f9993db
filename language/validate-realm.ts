// Validates the structure of realm records and lists every problem. A record carries security, so unknown properties
// are rejected; no message ever shows a value of it.

import { childPointer } from '../base/json-pointer.ts'
import { isMap } from './expression/value.ts'
import type { Problem } from './problem.ts'
import { credentialProblems } from './realm/credentials.ts'
import type { RealmRecord } from './realm/record.ts'
import { signatureProblems } from './realm/signatures.ts'
import { ANNOTATIONS } from './schema/realm-notation.ts'
import { REALM_SCHEMA } from './schema/realm-schema.ts'
import { createSchemaValidator } from './validate.ts'
import { boundProblems } from './validate/bound-problems.ts'
import { unknownMembers } from './wire/members.ts'

export type RealmValidation =
  | { readonly ok: true; readonly realm: RealmRecord }
  | { readonly ok: false; readonly problems: readonly Problem[] }

const validator = createSchemaValidator(REALM_SCHEMA, ANNOTATIONS)

/**
 * Validates a realm record (behaviour §6–7). Rejects unknown properties, but for those within `info` beside its providers,
 * and the `meta` of users. Reports every problem at once, at most 1000, fairly between its members.
 * @example validateRealm({ uri: 'com.acme' }) // { ok: true, realm: { uri: 'com.acme' } }
 */
export const validateRealm = (record: unknown): RealmValidation => {
  const problems = validator.whole(record, { pointer: '', values: 'hidden' })
  if (problems.length > 0) return { ok: false, problems }
  // The schema says that it has this shape.
  const realm = record as RealmRecord
  const beyondSchema = boundProblems(problemsBeyondSchema(realm), ({ path }) => path)
  return beyondSchema.length === 0 ? { ok: true, realm } : { ok: false, problems: beyondSchema }
}

const problemsBeyondSchema = (realm: RealmRecord): readonly Problem[] => [
  ...credentialProblems(realm),
  ...signatureProblems(realm),
]

/**
 * Every problem of a record that has the types of one, whatever its values: those of credentials and signatures too where the schema finds
 * others. At most 1000, fairly between its members.
 * @param isUnknown whether a pointer leads to a secret for which `UNKNOWN_SECRET` stands; left out: there are none
 */
export const realmProblems = (
  record: RealmRecord,
  isUnknown?: (pointer: string) => boolean,
): readonly Problem[] => {
  const bySchema = validator.whole(record, {
    pointer: '',
    values: 'hidden',
    ...(isUnknown !== undefined && { standIn: UNKNOWN_SECRET }),
  })
  const paths = new Set(bySchema.map(({ path }) => path))
  const beyondSchema = problemsBeyondSchema(record).filter(
    ({ path }) => !paths.has(path) && isUnknown?.(path) !== true,
  )
  return boundProblems([...bySchema, ...beyondSchema], ({ path }) => path)
}

/** Stands in a record for a secret that is not known: nothing that somebody writes. */
export const UNKNOWN_SECRET = 'a secret that is not known: b7d0c1f4-6a52-4c1e-9d0e-2f8a5a1c7e93'

/**
 * Validates the record of an operator that may be newer: members of the record, of its router and of its identity
 * providers that this version does not know are ignored. The record keeps them, for the version that this gateway is updated to.
 * @example validateNewerRealm({ uri: 'com.acme', region: 'eu' }) // { ok: true, realm: { uri: 'com.acme', region: 'eu' } }
 */
export const validateNewerRealm = (record: unknown): RealmValidation => {
  const unknown = unknownMembers('realm', { realm: record })
  if (unknown.length === 0) return validateRealm(record)
  const validation = validateRealm(withoutMembers(record, unknown))
  return validation.ok ? { ok: true, realm: record as RealmRecord } : validation
}

/** @param unknown JSON pointers below `/realm`, no longer than those to members of providers */
const withoutMembers = (record: unknown, unknown: readonly string[]): unknown => {
  const left = new Set(unknown)
  const known = (value: unknown, pointer: string, depth: number): unknown =>
    depth === 0 || !isMap(value)
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .map(([name, member]) => [name, member, childPointer(pointer, name)] as const)
            .filter(([, , place]) => !left.has(place))
            .map(([name, member, place]) => [name, known(member, place, depth - 1)]),
        )
  return known(record, '/realm', DEPTH_OF_PROVIDER_MEMBERS)
}

const DEPTH_OF_PROVIDER_MEMBERS = 4
