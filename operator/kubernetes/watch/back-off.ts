// How often something has failed in a row in, how long to wait before the next try out. Pure.

export interface BackOffOptions {
  readonly firstMs: number
  readonly capMs: number
}

/** As client-go's reflectors wait. */
export const BACK_OFF: BackOffOptions = { firstMs: 800, capMs: 30_000 }

/**
 * `firstMs` × 2^(failures − 1), at most `capMs`, of which between a half and the whole is waited; never less than
 * what the API server asked for, if that is within the cap.
 * @param failures in a row, 1 at least
 * @example waitAfter(1, { random: () => 1 }) // 800
 */
export const waitAfter = (
  failures: number,
  how: {
    readonly random: () => number
    readonly askedMs?: number | undefined
  } & Partial<BackOffOptions>,
): number => {
  const { random, askedMs = 0, firstMs = BACK_OFF.firstMs, capMs = BACK_OFF.capMs } = how
  const full = Math.min(capMs, firstMs * 2 ** Math.min(Math.max(failures - 1, 0), 20))
  return Math.round(Math.max(full * (0.5 + random() / 2), Math.min(askedMs, capMs)))
}
