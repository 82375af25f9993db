// Limits requests to so many a second and so many at once, in the order in which they were asked for. A token bucket,
// so that our bursts never overload the API server, nor those of one namespace delay another.

import type { Clock } from '../../../base/clock.ts'

export interface LimiterOptions {
  readonly perSecond: number
  readonly burst: number
  readonly clock: Clock
}

export interface Limiter {
  /**
   * @param group what its owner has us ask: groups take turns, so that one with thousands holds up no other by more than
   * one. Absent: the operator's own, which has every other turn.
   * @throws the reason of `signal`
   */
  turn(signal: AbortSignal, group?: string): Promise<void>
}

/**
 * @example
 * const limiter = createLimiter({ perSecond: 50, burst: 100, clock: SYSTEM_CLOCK })
 * await limiter.turn(signal)
 */
export const createLimiter = ({ perSecond, burst, clock }: LimiterOptions): Limiter => {
  let tokens = burst
  let filledAtMs = clock.now()
  const waiting = new Queue()
  let isTimed = false

  const fill = (): void => {
    const now = clock.now()
    tokens = Math.min(burst, tokens + (Math.max(0, now - filledAtMs) / 1000) * perSecond)
    filledAtMs = now
  }

  const serve = (): void => {
    fill()
    while (tokens >= 1) {
      const go = waiting.shift()
      if (go === undefined) return
      tokens -= 1
      go()
    }
    if (waiting.isEmpty || isTimed) return
    isTimed = true
    clock.after(Math.ceil(((1 - tokens) / perSecond) * 1000), () => {
      isTimed = false
      serve()
    })
  }

  return {
    turn: async (signal, group = OWN) => {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => {
        const go = (): void => {
          waiting.delete(group, go)
          signal.removeEventListener('abort', go)
          resolve()
        }
        signal.addEventListener('abort', go)
        waiting.add(group, go)
        serve()
      })
      signal.throwIfAborted()
    },
  }
}

/** No namespace is called so. */
const OWN = ''

type Go = () => void

/** Removes at any place at once: whoever stops gives up thousands. */
class Queue {
  /** Never an empty set. The group whose turn it is comes first. */
  readonly #groups = new Map<string, Set<Go>>()
  #wasOwn = false

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  add(group: string, go: Go): void {
    const waiting = this.#groups.get(group)
    if (waiting === undefined) this.#groups.set(group, new Set([go]))
    else waiting.add(go)
  }

  delete(group: string, go: Go): void {
    const waiting = this.#groups.get(group)
    waiting?.delete(go)
    if (waiting?.size === 0) this.#groups.delete(group)
  }

  shift(): Go | undefined {
    const group = this.#next()
    const waiting = group === undefined ? undefined : this.#groups.get(group)
    const [go] = waiting ?? []
    if (group === undefined || waiting === undefined || go === undefined) return undefined
    this.#wasOwn = group === OWN
    this.delete(group, go)
    if (waiting.size > 0) {
      this.#groups.delete(group)
      this.#groups.set(group, waiting)
    }
    return go
  }

  #next(): string | undefined {
    if (!this.#wasOwn && this.#groups.has(OWN)) return OWN
    for (const group of this.#groups.keys()) if (group !== OWN) return group
    return this.#groups.has(OWN) ? OWN : undefined
  }
}
