// Decides whether the address that a request went to is to blame for its failure. Failures caused by the client, the
// document or this gateway are blamed on no address.

import { type RealmFailure, SHARED_FAILURES, type SharedFailure } from './origin-health.ts'
import { PeerError } from '../peer-error.ts'
import type { UpstreamFailure, UpstreamRequest } from '../upstream.ts'

export interface FailedRequest {
  readonly failure: UpstreamFailure
  readonly cause: Error | undefined
  readonly request: Pick<UpstreamRequest, 'timeoutMs' | 'connectTimeoutMs'>
  readonly connection: { readonly hasAttempted: boolean }
}

/** A failure with a shorter time-out says more about the document than about the upstream. */
const CONCLUSIVE_MS = 1000

/** A failed attempt to connect (`refused`) has been counted when it failed. */
export const failureOf = (failed: FailedRequest): SharedFailure | RealmFailure | undefined =>
  BLAME[failed.failure](failed)

const BLAME = {
  overloaded: () => undefined,
  refused: () => undefined,
  denied: () => undefined,
  // If no connection was attempted, the lookup was slow.
  connect_timeout: ({ request, connection }) =>
    connection.hasAttempted && request.connectTimeoutMs >= CONCLUSIVE_MS
      ? 'connect_timeout'
      : undefined,
  timeout: ({ request }) => (request.timeoutMs >= CONCLUSIVE_MS ? 'timeout' : undefined),
  reset: ({ cause }) => (isOfPeer(cause) ? 'reset' : undefined),
  malformed: () => 'malformed',
  aborted: () => undefined,
} as const satisfies Record<
  UpstreamFailure,
  (failed: FailedRequest) => SharedFailure | RealmFailure | undefined
>

/**
 * For whom a failed request means that the upstream cannot be reached. Unlike an address, an origin is to blame if it
 * has no usable address.
 * @param fault of the address, as `failureOf` returns it
 */
export const blameOf = (
  failure: UpstreamFailure,
  fault: SharedFailure | RealmFailure | undefined,
): 'shared' | 'realm' | 'none' => {
  if (failure === 'refused' || failure === 'denied') return 'shared'
  if (fault === undefined) return 'none'
  return SHARED_FAILURES[fault] ? 'shared' : 'realm'
}

/**
 * Whether it is an error of the socket or of what came from it; an aborted client body ends a request, too, and so does the
 * gateway.
 */
const isOfPeer = (cause: Error | undefined): boolean =>
  cause !== undefined &&
  (cause instanceof PeerError ||
    // The name of the system call: Node's own `ECONNRESET`, for a client that disconnects, has none.
    ('syscall' in cause && SOCKET_CALLS.has(cause.syscall)))

const SOCKET_CALLS: ReadonlySet<unknown> = new Set(['read', 'write', 'writev'])
