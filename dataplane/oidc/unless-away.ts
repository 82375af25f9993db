// Calls the shared state and, if it is away, does what `--redis-away` says: reject the request, or continue.

import { SharedStateError } from '../shared/shared-state.ts'
import { OidcError } from './oidc-error.ts'
import type { OidcEndpointDeps } from './context.ts'

/**
 * @param otherwise the reply with which the request continues
 * @throws OidcError `provider_unavailable`, 503: the same request may succeed soon
 */
export const unlessAway = async <Result>(
  endpointDeps: Pick<OidcEndpointDeps, 'whenSharedAway' | 'log'>,
  otherwise: Result,
  ask: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await ask()
  } catch (cause) {
    if (!(cause instanceof SharedStateError)) throw cause
    if (endpointDeps.whenSharedAway === 'allow') return otherwise
    throw new OidcError('provider_unavailable', 'the shared state cannot be reached', { cause })
  }
}
