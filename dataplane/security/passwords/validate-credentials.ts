// Validates the secrets of a realm record whose structure is valid: signing keys that could not sign, and password
// hashes that no password could match. Problems never contain a value.

import type { Problem } from '../../../language/problem.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { validateSigningKeys } from '../tokens/key-signing.ts'
import { validatePasswordHashes } from './password-hash.ts'

/**
 * Call it when a record is loaded, after `validateRealm`.
 * @example validateCredentials({ uri: 'a.b', signing_keys: ['x'] })[0]?.path // '/signing_keys/0'
 */
export const validateCredentials = (record: RealmRecord): readonly Problem[] => [
  ...validateSigningKeys(record),
  ...validatePasswordHashes(record),
]
