// Validates a submitted realm record, including the secrets in it. The operator validates the structure only, as it
// may not have the secrets.

import {
  type RealmValidation,
  validateNewerRealm,
  validateRealm,
} from '../../../language/validate-realm.ts'
import { validateCredentials } from '../../security/passwords/validate-credentials.ts'

/** @example validateRealmResource({ uri: 'com.acme', signing_keys: ['x'] }) // { ok: false, problems: [{ path: '/signing_keys/0', … }] } */
export const validateRealmRecord = (record: unknown): RealmValidation =>
  withSecrets(validateRealm(record))

/** For an operator that may be newer: unknown members are ignored. */
export const validateNewerRealmRecord = (record: unknown): RealmValidation =>
  withSecrets(validateNewerRealm(record))

const withSecrets = (validated: RealmValidation): RealmValidation => {
  if (!validated.ok) return validated
  const problems = validateCredentials(validated.realm)
  return problems.length === 0 ? validated : { ok: false, problems }
}
