// Classifies errors of the HTTP client, the socket or the parser into the few failures that callers distinguish.

import type { UpstreamFailure } from './upstream.ts'
import { DestinationError } from '../destination-error.ts'
import { PeerError } from './peer-error.ts'

/**
 * @param wasSent whether sending of the request to the upstream had begun
 */
export const classifyFailure = (error: unknown, wasSent: boolean): UpstreamFailure => {
  if (!wasSent) return isDenied(error) ? 'denied' : 'refused'
  return error instanceof PeerError && error.code === 'malformed' ? 'malformed' : 'reset'
}

const isDenied = (error: unknown): boolean =>
  error instanceof DestinationError ||
  // With several addresses tried in parallel the cause is one of many.
  (error instanceof AggregateError && error.errors.some(isDenied))
