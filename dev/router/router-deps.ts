// Defines what the router needs of time and randomness, and the real implementation.

import { randomBytes } from 'node:crypto'

export interface RouterDeps {
  readonly now: () => Date
  /** Unpredictable bytes: challenges are made of them. */
  readonly randomBytes: (count: number) => Buffer
  /** Runs once after so many milliseconds, unless the function that it returns is called before. */
  readonly schedule: (delayMs: number, run: () => void) => () => void
}

export const createRouterDeps = (): RouterDeps => ({
  now: () => new Date(),
  randomBytes,
  schedule: (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    return () => {
      clearTimeout(timer)
    }
  },
})
