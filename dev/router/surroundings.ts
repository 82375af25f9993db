// Time and chance as the router takes them from outside, and where they come from in a running one.

import { randomBytes } from 'node:crypto'

export interface Surroundings {
  readonly now: () => Date
  /** Unpredictable ones: challenges are made of them. */
  readonly randomBytes: (count: number) => Buffer
  /** Runs once after so many milliseconds, unless what it gives is called before. */
  readonly schedule: (delayMs: number, run: () => void) => () => void
}

export const realSurroundings = (): Surroundings => ({
  now: () => new Date(),
  randomBytes,
  schedule: (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    return () => {
      clearTimeout(timer)
    }
  },
})
