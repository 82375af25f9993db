// A submitted realm record in; the record, or every fault of its structure and of the secrets in it, out. The
// operator judges structure only: it may not hold the secrets.

import {
  type RealmValidation,
  validateNewerRealm,
  validateRealm,
} from '../../language/realm/validate.ts'
import { judgeCredentials } from '../security/passwords/judge-credentials.ts'

/** @example judgeRealm({ uri: 'com.acme', signing_keys: ['x'] }) // { ok: false, problems: [{ path: '/signing_keys/0', … }] } */
export const judgeRealm = (record: unknown): RealmValidation => withSecrets(validateRealm(record))

/** Of an operator that may be newer: members that are not known are passed over. */
export const judgeNewerRealm = (record: unknown): RealmValidation =>
  withSecrets(validateNewerRealm(record))

const withSecrets = (validated: RealmValidation): RealmValidation => {
  if (!validated.ok) return validated
  const problems = judgeCredentials(validated.realm)
  return problems.length === 0 ? validated : { ok: false, problems }
}
