// Validates a submitted realm record, including the secrets in it. The operator validates the structure only, as it
// may not have the secrets.

import {
  type RealmValidation,
  validateNewerRealm,
  validateRealm,
} from '../../language/realm/validate.ts'
import { judgeCredentials } from '../security/passwords/judge-credentials.ts'

/** @example judgeRealm({ uri: 'com.acme', signing_keys: ['x'] }) // { ok: false, problems: [{ path: '/signing_keys/0', … }] } */
export const judgeRealm = (record: unknown): RealmValidation => withSecrets(validateRealm(record))

/** For an operator that may be newer: unknown members are ignored. */
export const judgeNewerRealm = (record: unknown): RealmValidation =>
  withSecrets(validateNewerRealm(record))

const withSecrets = (validated: RealmValidation): RealmValidation => {
  if (!validated.ok) return validated
  const problems = judgeCredentials(validated.realm)
  return problems.length === 0 ? validated : { ok: false, problems }
}
