// Whether the address that a request went to is to blame for its failure: a failure in, a fault out or nothing. What the
// client, the document or this gateway brought about is nobody's fault. Pure.

import { type RealmFault, SHARED_FAULTS, type SharedFault } from './origin-health.ts'
import type { UpstreamFailure, UpstreamRequest } from '../upstream.ts'

export interface FailedRequest {
  readonly failure: UpstreamFailure
  readonly cause: Error | undefined
  readonly request: Pick<UpstreamRequest, 'timeoutMs' | 'connectTimeoutMs'>
  readonly connection: { readonly hasAttempted: boolean }
}

/** A shorter time says more of the document than of the upstream. */
const TELLING_MS = 1000

/** A failed attempt to connect (`refused`) has been counted when it failed. */
export const faultOf = (failed: FailedRequest): SharedFault | RealmFault | undefined =>
  FAULTS[failed.failure](failed)

const FAULTS = {
  overloaded: () => undefined,
  refused: () => undefined,
  denied: () => undefined,
  // Where nothing was tried, the lookup was slow.
  connect_timeout: ({ request, connection }) =>
    connection.hasAttempted && request.connectTimeoutMs >= TELLING_MS
      ? 'connect_timeout'
      : undefined,
  timeout: ({ request }) => (request.timeoutMs >= TELLING_MS ? 'timeout' : undefined),
  reset: ({ cause }) => (isOfPeer(cause) ? 'reset' : undefined),
  malformed: () => 'malformed',
  aborted: () => undefined,
} as const satisfies Record<
  UpstreamFailure,
  (failed: FailedRequest) => SharedFault | RealmFault | undefined
>

/**
 * Of whom a failed request tells that the upstream can't be reached. Unlike an address, an origin is to blame where it has
 * none that may be used.
 * @param fault of the address, as `faultOf` gives it
 */
export const blameOf = (
  failure: UpstreamFailure,
  fault: SharedFault | RealmFault | undefined,
): 'shared' | 'realm' | 'none' => {
  if (failure === 'refused' || failure === 'denied') return 'shared'
  if (fault === undefined) return 'none'
  return SHARED_FAULTS[fault] ? 'shared' : 'realm'
}

/** Of the socket or the parser; the body of a client that breaks off ends a request, too, and so do we. */
const isOfPeer = (cause: Error | undefined): boolean =>
  cause !== undefined &&
  (cause.name === 'HTTPParserError' ||
    ('code' in cause && cause.code === 'UND_ERR_SOCKET') ||
    // Of the system's call: Node's own `ECONNRESET`, for a client that goes, names none.
    ('syscall' in cause && SOCKET_CALLS.has(cause.syscall)))

const SOCKET_CALLS: ReadonlySet<unknown> = new Set(['read', 'write', 'writev'])
