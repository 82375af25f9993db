// The refusal of a ticket or token that is genuine and does not count: what the deny-list says in, an outcome out.

import type { SchemeName } from '../../../language/compile/security.ts'
import { notAccepted, type Refusal } from './attempt.ts'
import { uncheckable } from './challenge.ts'
import type { Standing } from './revocation-gate.ts'

/** undefined where it is good. */
export const standingRefusal = (
  scheme: SchemeName,
  realmUri: string,
  standing: Standing,
  authid: string,
): Refusal | undefined => {
  if (standing === 'good') return undefined
  if (standing === 'revoked') return notAccepted(scheme, realmUri, 'revoked', authid)
  return {
    kind: 'refused',
    error: uncheckable('Whether these credentials were revoked can not be known now', 5),
    reason: 'revocations_unknown',
    authid,
  }
}
