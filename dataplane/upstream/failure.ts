// What undici, the socket or the parser complain of becomes one of the few failures that callers
// distinguish. Pure.

import type { UpstreamFailure } from './upstream.ts'
import { DestinationError } from '../destination-error.ts'

/**
 * @param wasSent whether the request had begun to leave for the upstream
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
  if (!(error instanceof Error)) return false
  if ('code' in error && error.code === 'UND_ERR_HEADERS_OVERFLOW') return true
  // An end in the middle of a chunked body is a parser error too, but means that the peer broke off.
  if (error.name === 'HTTPParserError') return !error.message.includes('Invalid EOF state')
  // A `101` that nobody asked for, or an answer without a question.
  return error.message === 'bad response' || error.message === 'bad upgrade'
}
