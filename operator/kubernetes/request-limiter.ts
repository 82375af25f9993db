// Turns for requests: so many a second and so many at once, in the order they were asked for. A token bucket:
// it never lets a burst of ours become the API server's trouble.

import type { Clock } from '../clock.ts'

export interface LimiterOptions {
  readonly perSecond: number
  readonly burst: number
  readonly clock: Clock
}

export interface Limiter {
  /** @throws the reason of `signal` */
  turn(signal: AbortSignal): Promise<void>
}

/**
 * @example
 * const limiter = createLimiter({ perSecond: 50, burst: 100, clock: SYSTEM_CLOCK })
 * await limiter.turn(signal)
 */
export const createLimiter = ({ perSecond, burst, clock }: LimiterOptions): Limiter => {
  let tokens = burst
  let filledAtMs = clock.now()
  const waiting = new Set<() => void>()
  let isTimed = false

  const fill = (): void => {
    const now = clock.now()
    tokens = Math.min(burst, tokens + (Math.max(0, now - filledAtMs) / 1000) * perSecond)
    filledAtMs = now
  }

  const serve = (): void => {
    fill()
    for (const go of waiting) {
      if (tokens < 1) break
      tokens -= 1
      go()
    }
    if (waiting.size === 0 || isTimed) return
    isTimed = true
    clock.after(Math.ceil(((1 - tokens) / perSecond) * 1000), () => {
      isTimed = false
      serve()
    })
  }

  return {
    turn: async (signal) => {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => {
        const go = (): void => {
          waiting.delete(go)
          signal.removeEventListener('abort', go)
          resolve()
        }
        signal.addEventListener('abort', go)
        waiting.add(go)
        serve()
      })
      signal.throwIfAborted()
    },
  }
}
