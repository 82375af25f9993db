// Computes how long to wait before the next attempt at something that failed. Pure.

export interface BackOff {
  /** The longest wait after the first failure. */
  readonly firstMs: number
  /** The longest wait there is. */
  readonly capMs: number
}

/**
 * Exponential: `firstMs` × 2^(failures − 1), at most `capMs`, of which between a half and the whole is waited, so that
 * many who lost one server do not come back at one moment.
 *
 * @param failures in a row, 1 at least
 * @param random 0 ≤ random < 1
 * @example backOffMs(2, { firstMs: 100, capMs: 1000 }, 0.5) // 150
 */
export const backOffMs = (
  failures: number,
  { firstMs, capMs }: BackOff,
  random: number,
): number => {
  const doublings = Math.min(Math.max(failures - 1, 0), 30)
  const longest = Math.min(capMs, firstMs * 2 ** doublings)
  return Math.round(longest * (0.5 + random / 2))
}

/** For a peer that is expected back within seconds. */
export const DEFAULT_BACK_OFF: BackOff = { firstMs: 200, capMs: 30_000 }
