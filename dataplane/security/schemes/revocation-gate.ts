// Checks a genuine credential against the deny-list, at every use of a ticket or token, without waiting.

import type { SharedState } from '../../shared/shared-state.ts'
import type { IdentityValidity } from './authenticator.ts'

/** What to do with credentials that may have been revoked while the shared state is away (`--redis-away`). */
export type RedisAway = 'refuse' | 'accept'

/** `unknown`: revocations may have been missed. */
export type RevocationState = 'good' | 'revoked' | 'unknown'

export type RevocationGate = (verified: Pick<IdentityValidity, 'revocationKeys'>) => RevocationState

/** A credential that cannot be revoked, such as the token of another issuer, is always good. */
export const createRevocationGate =
  (shared: Pick<SharedState, 'isRevoked' | 'health'>, redisAway: RedisAway): RevocationGate =>
  ({ revocationKeys }) => {
    if (revocationKeys.length === 0) return 'good'
    for (const key of revocationKeys) if (shared.isRevoked(key)) return 'revoked'
    return shared.health === 'away' && redisAway === 'refuse' ? 'unknown' : 'good'
  }
