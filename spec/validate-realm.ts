// Realm records: an unknown value in, the record or every fault of its structure out. A record carries
// security, so what is not understood is refused; no message ever shows a value of it.

import type { Problem } from './problem.ts'
import type { RealmRecord } from './realm-record.ts'
import realmSchema from './schema/realm.schema.json' with { type: 'json' }
import { createSchemaJudge } from './validate.ts'

export type RealmValidation =
  | { readonly ok: true; readonly realm: RealmRecord }
  | { readonly ok: false; readonly problems: readonly Problem[] }

const judge = createSchemaJudge(realmSchema)

/**
 * Judges a realm record (behaviour §6–7). Unknown properties are refused, but for those within `info`
 * and the `meta` of users. Reports every fault at once, at most 1000.
 * @example validateRealm({ uri: 'com.acme' }) // { ok: true, realm: { uri: 'com.acme' } }
 */
export const validateRealm = (record: unknown): RealmValidation => {
  const problems = judge.whole(record, { pointer: '', values: 'hidden' })
  return problems.length === 0
    ? { ok: true, realm: record as RealmRecord }
    : { ok: false, problems }
}
