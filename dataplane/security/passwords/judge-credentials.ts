// A realm record of right structure in, the faults of the secrets in it out: keys that could not sign and hashes
// that nobody could log in with. Never a value of it.

import type { Problem } from '../../../language/problem.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { judgeSigningKeys } from '../tokens/key-signing.ts'
import { judgePasswordHashes } from './password-hash.ts'

/**
 * For whoever loads a record, after `validateRealm`.
 * @example judgeCredentials({ uri: 'a.b', signing_keys: ['x'] })[0]?.path // '/signing_keys/0'
 */
export const judgeCredentials = (record: RealmRecord): readonly Problem[] => [
  ...judgeSigningKeys(record),
  ...judgePasswordHashes(record),
]
