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
      waiting.delete(go)
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
    turn: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(reasonOf(signal))
          return
        }
        const giveUp = (): void => {
          waiting.delete(go)
          reject(reasonOf(signal))
        }
        const go = (): void => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        }
        signal.addEventListener('abort', giveUp, { once: true })
        waiting.add(go)
        serve()
      }),
  }
}

const reasonOf = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason })
