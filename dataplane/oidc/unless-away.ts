// Something that asks the shared state in, its answer out; while that is away, what the gateway was told to do
// then (`--redis-away`): refuse, or go on.

import { SharedStateAway } from '../shared/shared-state.ts'
import { OidcRefusal } from './refusal.ts'
import type { OidcRoom } from './room.ts'

/**
 * @param otherwise the answer that lets the request go on
 * @throws OidcRefusal `provider_unavailable`, 503: the same request may succeed soon
 */
export const unlessAway = async <Answer>(
  room: Pick<OidcRoom, 'whenSharedAway' | 'log'>,
  otherwise: Answer,
  ask: () => Promise<Answer>,
): Promise<Answer> => {
  try {
    return await ask()
  } catch (cause) {
    if (!(cause instanceof SharedStateAway)) throw cause
    if (room.whenSharedAway === 'allow') return otherwise
    throw new OidcRefusal('provider_unavailable', 'the shared state is away', { cause })
  }
}
