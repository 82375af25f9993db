// Compares two readings of the wall clock: whether something happened within a time before now.

/**
 * False too for times in the future, so that a clock that was set back does not cause a wait until it has caught up.
 * @example isWithin(10_000, { now: 1_009_999, since: 1_000_000 }) // true
 */
export const isWithin = (
  spanMs: number,
  { now, since }: { readonly now: number; readonly since: number },
): boolean => since <= now && now - since < spanMs
