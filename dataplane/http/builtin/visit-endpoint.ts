// A request whose path leads to an endpoint of the gateway's own in, handed to the shell that answers it.

import { GatewayError } from '../../gateway-error.ts'
import type { ServedEndpoint } from '../../served.ts'
import type { Arrival, DispatchOptions } from '../arrival.ts'
import { endpointHeaders } from './endpoint-headers.ts'
import { KEYS_METHODS, KEYS_PATH, KEYS_VERSION } from './keys-path.ts'
import type { Found } from '../response/path-headers.ts'
import { refuseUnmatched } from '../report.ts'
import { allowOf } from '../select-route.ts'

export const visitEndpoint = (
  dispatch: DispatchOptions,
  { arrival, match }: Found,
  { version, template, route }: ServedEndpoint,
): void => {
  if (dispatch.endpoints === undefined)
    throw new GatewayError('svc.error.not_found', 'Nothing is served at this host and path')
  dispatch.endpoints({
    dispatch,
    arrival,
    version,
    template,
    route,
    bound: route.path.includes('/:') ? match.captures.at(-1) : undefined,
    allow: allowOf(match, arrival.scheme),
  })
}

/** Whatever the host: keys are those of all realms. */
export const visitKeys = (dispatch: DispatchOptions, arrival: Arrival): void => {
  const { method = '', headers } = arrival.request
  const allow = KEYS_METHODS.join(', ')
  if (!KEYS_METHODS.includes(method)) {
    const error = new GatewayError(
      'svc.error.method_not_allowed',
      'This path does not serve that method',
      { description: `It serves ${allow}.`, headers: { allow } },
    )
    refuseUnmatched(dispatch, arrival, error, endpointHeaders(headers))
    return
  }
  dispatch.endpoints?.({
    dispatch,
    arrival,
    version: KEYS_VERSION,
    template: KEYS_PATH,
    route: undefined,
    bound: undefined,
    allow,
  })
}
