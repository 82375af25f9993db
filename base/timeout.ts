// Waits for work for a bounded time.

import { type Clock, SYSTEM_CLOCK } from './clock.ts'

export interface Timeout<T> {
  readonly ms: number
  /** The system's, if left out. */
  readonly clock?: Pick<Clock, 'after'> | undefined
  /** Its value replaces that of the work when time is up; what it throws is what the promise rejects with. */
  readonly onTimeout: () => T
}

/**
 * Does not end the work: what it gives after the time, also a rejection, is dropped.
 *
 * @throws what the work rejects with in time, and what `onTimeout` throws
 * @example await withTimeout(response, { ms: 1000, onTimeout: () => undefined })
 */
export const withTimeout = async <T, L = T>(
  work: Promise<T>,
  { ms, clock = SYSTEM_CLOCK, onTimeout }: Timeout<L>,
): Promise<T | L> => {
  const expired = Promise.withResolvers<typeof EXPIRED>()
  const cancel = clock.after(ms, () => {
    expired.resolve(EXPIRED)
  })
  try {
    const first = await Promise.race([work, expired.promise])
    return first === EXPIRED ? onTimeout() : first
  } finally {
    cancel()
  }
}

const EXPIRED = Symbol('late')
