// Builds `action.error`, which `on_error` reads, for a forward that failed (behaviour §4). It never contains internal
// addresses.

import { ownValue } from '../../language/expression/lookup.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import type { UpstreamFailure } from '../upstream/upstream.ts'
import type { ActionError } from './performer.ts'

export type ForwardErrorUri = 'svc.error.bad_gateway' | 'svc.error.timeout' | 'svc.error.overloaded'

/** Specification §7.3, behaviour §3: the statuses unless a document's own map sets others. */
const STATUSES = {
  'svc.error.bad_gateway': 504,
  'svc.error.timeout': 504,
  'svc.error.overloaded': 503,
  'svc.error.invalid_result': 502,
} as const satisfies Record<ForwardErrorUri | 'svc.error.invalid_result', number>

const URIS = {
  overloaded: 'svc.error.overloaded',
  refused: 'svc.error.bad_gateway',
  denied: 'svc.error.bad_gateway',
  connect_timeout: 'svc.error.bad_gateway',
  timeout: 'svc.error.timeout',
  reset: 'svc.error.bad_gateway',
  malformed: 'svc.error.bad_gateway',
  aborted: 'svc.error.bad_gateway',
} as const satisfies Record<UpstreamFailure, ForwardErrorUri>

/** For a request without a usable response.
 *
 * @param statusCodes the operation's merged map
 */
export const failureError = (
  failure: UpstreamFailure,
  message: string,
  statusCodes: ValueMap,
): ActionError => gatewayError(URIS[failure], message, statusCodes)

export const gatewayError = (
  uri: keyof typeof STATUSES,
  message: string,
  statusCodes: ValueMap,
): ActionError => ({
  error_uri: uri,
  args: [],
  kwargs: {},
  details: {},
  status_code: mappedStatus(statusCodes, uri) ?? STATUSES[uri],
  headers: {},
  body: '',
  message,
})

/** The `error_uri` of a response with a status of 400 or more. */
export const upstreamUri = (status: number): string => `svc.error.upstream.${status}`

/** For a response with a status of 400 or more. */
export const statusError = (status: number, headers: ValueMap, body: Value): ActionError => ({
  error_uri: upstreamUri(status),
  args: [],
  kwargs: {},
  details: {},
  status_code: status,
  headers,
  body,
  message: `The upstream answered with status ${status}.`,
})

const mappedStatus = (statusCodes: ValueMap, uri: string): number | undefined => {
  const status = ownValue(statusCodes, uri)
  return typeof status === 'number' ? status : undefined
}
