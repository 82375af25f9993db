// A clock that stands until it is moved, with real certificates' times in mind: it begins at a fixed day.

import type { Clock } from '../../../operator/clock.ts'

export interface ManualClock extends Clock {
  /** Moves on, and calls back whatever is due on the way, in order. */
  advance(ms: number): void
  readonly pending: number
}

export const createManualClock = (startMs = Date.UTC(2026, 0, 1)): ManualClock => {
  const timers = new Map<symbol, { readonly atMs: number; readonly callback: () => void }>()
  let nowMs = startMs
  return {
    now: () => nowMs,
    random: () => 0.5,
    after: (ms, callback) => {
      const timer = Symbol('timer')
      timers.set(timer, { atMs: nowMs + ms, callback })
      return () => void timers.delete(timer)
    },
    advance: (ms) => {
      nowMs += ms
      const due = [...timers].filter(([, { atMs }]) => atMs <= nowMs)
      for (const [timer, { callback }] of due.sort(([, a], [, b]) => a.atMs - b.atMs)) {
        timers.delete(timer)
        callback()
      }
    },
    get pending() {
      return timers.size
    },
  }
}
