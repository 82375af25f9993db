// Limits how many requests are sent per second and at once, in the order in which they came (a token bucket), so that our
// bursts never overload the API server, nor those of one namespace delay another.

import type { Clock } from '../../../base/clock.ts'
import { FairQueue } from '../../../base/fair-queue.ts'

export interface RateLimiterOptions {
  readonly perSecond: number
  readonly burst: number
  readonly clock: Clock
}

export interface RateLimiter {
  /**
   * Resolves when one more request may be sent.
   * @param group for which owner the request is: groups are served in rotation, so that one with thousands delays no other by more
   * than one. Absent: the operator's own, which gets every other permit.
   * @throws the reason of `signal`
   */
  admit(signal: AbortSignal, group?: string): Promise<void>
}

/**
 * @example
 * const limiter = createRateLimiter({ perSecond: 200, burst: 300, clock: SYSTEM_CLOCK })
 * await limiter.admit(signal)
 */
export const createRateLimiter = ({ perSecond, burst, clock }: RateLimiterOptions): RateLimiter => {
  let tokens = burst
  let filledAtMs = clock.now()
  const waiting = new FairQueue<Waiting>()
  let wasOwn = false
  let isTimed = false

  const fill = (): void => {
    const now = clock.now()
    tokens = Math.min(burst, tokens + (Math.max(0, now - filledAtMs) / 1000) * perSecond)
    filledAtMs = now
  }

  const serve = (): void => {
    fill()
    while (tokens >= 1) {
      const next = waiting.shift((group) => (group === OWN) !== wasOwn)
      if (next === undefined) return
      wasOwn = next.group === OWN
      tokens -= 1
      next.proceed()
    }
    if (waiting.size === 0 || isTimed) return
    isTimed = true
    clock.after(Math.ceil(((1 - tokens) / perSecond) * 1000), () => {
      isTimed = false
      serve()
    })
  }

  return {
    admit: async (signal, group = OWN) => {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => {
        const proceed = (): void => {
          waiting.remove(group, entry)
          signal.removeEventListener('abort', proceed)
          resolve()
        }
        const entry = { group, proceed }
        signal.addEventListener('abort', proceed)
        waiting.push(group, entry)
        serve()
      })
      signal.throwIfAborted()
    },
  }
}

interface Waiting {
  readonly group: string
  readonly proceed: () => void
}

/** No namespace is called so. */
const OWN = ''
