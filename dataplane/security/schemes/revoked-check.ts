// Rejects a ticket or token that is genuine, but revoked according to the deny-list, or possibly revoked.

import type { SchemeName } from '../../../language/compile/security.ts'
import { notAccepted, type Refusal } from './authenticator.ts'
import { uncheckable } from './challenge.ts'
import type { RevocationState } from './revocation-gate.ts'

/** undefined if the credential is good. */
export const revokedRefusal = (
  scheme: SchemeName,
  realmUri: string,
  standing: RevocationState,
  authid: string,
): Refusal | undefined => {
  if (standing === 'good') return undefined
  if (standing === 'revoked') return notAccepted(scheme, realmUri, { reason: 'revoked' }, authid)
  return {
    kind: 'refused',
    error: uncheckable('It cannot be checked now whether these credentials were revoked', 5),
    reason: 'revocations_unknown',
    authid,
  }
}
