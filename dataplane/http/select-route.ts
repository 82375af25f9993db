// Selects which operation or endpoint of a matched path serves a request (behaviour §3), and rejects a request that
// none serves.

import type { Method, Scheme } from '../../language/document.ts'
import type { Candidate, Match } from '../../language/router/route.ts'
import { allowOf, schemesOf, selectRoute } from '../../language/router/select-route.ts'
import { GatewayError } from '../gateway-error.ts'
import type { OperationSlot, ServedEndpoint, ServedPath, ServedTarget } from '../served.ts'

export interface Selected<P> {
  readonly kind: 'operation'
  readonly candidate: Candidate<ServedPath<P>>
  readonly slot: OperationSlot<P>
}

export interface SelectedEndpoint {
  readonly kind: 'endpoint'
  readonly endpoint: ServedEndpoint
}

/**
 * `undefined`: an OPTIONS that no document declares; the gateway responds with `allow`.
 * @throws GatewayError
 */
export const selectTarget = <P>(
  match: Match<ServedTarget<P>>,
  scheme: Scheme,
  method: Method | undefined,
): Selected<P> | SelectedEndpoint | undefined => {
  const selection = selectRoute<OperationSlot<P>, ServedPath<P>, ServedEndpoint>(
    match,
    scheme,
    method,
  )
  switch (selection.kind) {
    case 'operation':
    case 'endpoint':
      return selection
    case 'options':
      return undefined
    case 'wrong scheme':
      throw new GatewayError('svc.error.not_found', 'Nothing is served here over this scheme', {
        description: `This path is served over ${schemesOf(match)}.`,
      })
    case 'wrong method':
      throw new GatewayError(
        'svc.error.method_not_allowed',
        'This path does not serve that method',
        {
          description: `It serves ${allowOf(match, scheme)}.`,
          headers: { allow: allowOf(match, scheme) },
        },
      )
  }
}
