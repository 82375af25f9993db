// Time and chance as the operator uses them, so that tests bring their own.

export interface Clock {
  /** Unix time, milliseconds. */
  now(): number
  /** Calls back after `ms`; the result cancels. */
  after(ms: number, callback: () => void): () => void
  /** In [0, 1). */
  random(): number
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

const FIRST_MS = 200
const CAP_MS = 30_000

/**
 * 200 ms × 2^n, at most 30 s, of which between a half and the whole is waited.
 * @example backOffMs(0, () => 0.5) // 150
 */
export const backOffMs = (failures: number, random: () => number): number => {
  const full = Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(failures, 20))
  return Math.round(full * (0.5 + random() / 2))
}
