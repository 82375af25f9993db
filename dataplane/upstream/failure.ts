// Classifies errors of the HTTP client, the socket or the parser into the few failures that callers distinguish.

import type { UpstreamFailure } from './upstream.ts'
import { DestinationError } from '../destination-error.ts'
import { PeerError } from './peer-error.ts'

/**
 * @param wasSent whether sending of the request to the upstream had begun
 */
export const classifyFailure = (error: unknown, wasSent: boolean): UpstreamFailure => {
  if (!wasSent) return isDenied(error) ? 'denied' : 'refused'
  return isMalformed(error) ? 'malformed' : 'reset'
}

const isDenied = (error: unknown): boolean =>
  error instanceof DestinationError ||
  // With several addresses tried in parallel the cause is one of many.
  (error instanceof AggregateError && error.errors.some(isDenied))

const isMalformed = (error: unknown): boolean => {
  if (error instanceof PeerError) return error.code === 'malformed'
  if (!(error instanceof Error)) return false
  if ('code' in error && error.code === 'UND_ERR_HEADERS_OVERFLOW') return true
  // An end in the middle of a chunked body is a parser error too, but means that the peer aborted.
  if (error.name === 'HTTPParserError') return !error.message.includes('Invalid EOF state')
  // A `101` that was not requested, or a response without a request.
  return error.message === 'bad response' || error.message === 'bad upgrade'
}
