// What undici, the socket or the parser complain of becomes one of the few failures that callers
// distinguish. Pure.

import type { UpstreamFailure } from './upstream.ts'
import { DestinationDenied } from './connector.ts'

/**
 * @param wasSent whether the request had begun to leave for the upstream
 */
export const classifyFailure = (error: unknown, wasSent: boolean): UpstreamFailure => {
  if (!wasSent) return isDenied(error) ? 'denied' : 'refused'
  const code = codeOf(error)
  // An end in the middle of a chunked body is a parser error too, but means that the peer broke off.
  if (code === 'HPE_INVALID_EOF_STATE') return 'reset'
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') return 'malformed'
  return isUnsolicited(error) ? 'malformed' : 'reset'
}

const isDenied = (error: unknown): boolean =>
  error instanceof DestinationDenied ||
  // With several addresses tried in parallel the cause is one of many.
  (error instanceof AggregateError && error.errors.some(isDenied))

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : ''

/** A `101` that nobody asked for, or an answer without a question. */
const isUnsolicited = (error: unknown): boolean =>
  error instanceof Error && (error.message === 'bad response' || error.message === 'bad upgrade')
