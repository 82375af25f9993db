// How often something failed in a row comes in, how long to wait before the next try goes out. Pure.

const FIRST_MS = 100

/**
 * Exponential from 100 ms, the second half of it random: many gateways that lost one router do not come back
 * at one moment.
 *
 * @param attempt 1 for the wait after the first failure
 * @param random 0 ≤ random < 1
 * @example
 * backOffMs(1, 0.5, 1000) // 75
 */
export const backOffMs = (attempt: number, random: number, longestMs: number): number => {
  const whole = Math.min(FIRST_MS * 2 ** (attempt - 1), longestMs)
  return Math.round(whole / 2 + (whole / 2) * random)
}
