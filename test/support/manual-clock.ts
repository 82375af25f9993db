// Creates a clock that stands still until a test moves it.

import type { Clock } from '../../base/clock.ts'
import { settled } from './settled.ts'

export interface ManualClock extends Clock {
  /** Moves on, and calls back what falls due on the way, in order: also what those callbacks ask for. */
  advance(ms: number): void
  /** As `advance`, and lets promises settle before each callback and at the end. */
  run(ms: number): Promise<void>
  /** Milliseconds until the next callback; undefined where nothing waits. */
  readonly nextInMs: number | undefined
  /** How many callbacks are waiting. */
  readonly pending: number
}

export interface ManualClockOptions {
  /** Unix time, milliseconds. */
  readonly startMs?: number
  /** 0.5 where absent: no jitter to speak of. `seededRandom` for a sequence. */
  readonly random?: () => number
}

interface Timer {
  readonly atMs: number
  readonly callback: () => void
}

/**
 * @example
 * const clock = createManualClock()
 * clock.after(1000, () => calls.push(clock.now()))
 * clock.advance(1000)
 */
export const createManualClock = ({
  startMs = Date.UTC(2026, 0, 1),
  random = () => 0.5,
}: ManualClockOptions = {}): ManualClock => {
  // In the order they were asked for; a sort keeps it among those of one time.
  const timers = new Set<Timer>()
  let nowMs = startMs
  const next = (): Timer | undefined => [...timers].sort((a, b) => a.atMs - b.atMs)[0]
  /** Calls back the first that is due; false where none is. A callback may itself take time. */
  const callNext = (untilMs: number): boolean => {
    const timer = next()
    if (timer === undefined || timer.atMs > untilMs) return false
    timers.delete(timer)
    nowMs = Math.max(nowMs, timer.atMs)
    timer.callback()
    return true
  }
  return {
    now: () => nowMs,
    random,
    after: (ms, callback) => {
      const timer = { atMs: nowMs + ms, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance: (ms) => {
      const untilMs = nowMs + ms
      while (callNext(untilMs));
      nowMs = Math.max(nowMs, untilMs)
    },
    run: async (ms) => {
      const untilMs = nowMs + ms
      do await settled()
      while (callNext(untilMs))
      nowMs = Math.max(nowMs, untilMs)
    },
    get nextInMs() {
      const timer = next()
      return timer && timer.atMs - nowMs
    },
    get pending() {
      return timers.size
    },
  }
}
