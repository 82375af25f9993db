// Whether something was just now: two readings of the wall clock and a span in, a yes or no out. Pure.

/**
 * False too for what lies ahead: a clock that was set back must not make us wait until it has caught up.
 * @example isWithin(10_000, { now: 1_009_999, since: 1_000_000 }) // true
 */
export const isWithin = (
  spanMs: number,
  { now, since }: { readonly now: number; readonly since: number },
): boolean => since <= now && now - since < spanMs
