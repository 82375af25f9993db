// Defines time, timers and randomness as one interface, so that tests can pass in their own.

export interface Clock {
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** Calls back after `ms`; the result cancels. */
  readonly after: (ms: number, callback: () => void) => () => void
  /** In [0, 1). */
  readonly random: () => number
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => {
      clearTimeout(timer)
    }
  },
  random: () => Math.random(),
}
