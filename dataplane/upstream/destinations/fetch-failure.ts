// Tells why a fetch of a provider or an authorization server got no response, from the errors behind that of the fetch, or
// of the library that called it.

import { DestinationError } from '../../destination-error.ts'
import { causeOf } from '../failure-cause.ts'

/** There was no response, or not in time. */
export type FetchCause = 'refused' | 'dns' | 'tls' | 'denied' | 'reset'

const MOST_CAUSES = 8

/** An error, and those that it names as its cause, one behind the other. */
export const causesIn = (error: unknown): readonly unknown[] => {
  const chain: unknown[] = []
  let at = error
  while (at !== undefined && chain.length < MOST_CAUSES) {
    chain.push(at)
    at = at instanceof Error ? at.cause : undefined
  }
  return chain
}

/** `''` if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Whether it is that of a guarded fetch without a response. */
export const isUnreachable = (error: unknown): boolean => codeOf(error) === 'unreachable'

/** @param chain as `causesIn` gives it */
export const connectionCause = (chain: readonly unknown[]): FetchCause => {
  const errors = chain.flatMap((each): readonly unknown[] =>
    each instanceof AggregateError ? each.errors : [each],
  )
  if (errors.some((each) => each instanceof DestinationError)) return 'denied'
  const cause = causeOf('refused', new AggregateError(errors))
  if (cause === 'dns' || cause === 'tls') return cause
  return errors.some(isReset) ? 'reset' : 'refused'
}

/** Errors of a connection that was open. */
const RESETS: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

const isReset = (error: unknown): boolean =>
  RESETS.has(codeOf(error)) || (error instanceof Error && error.name === 'HTTPParserError')
