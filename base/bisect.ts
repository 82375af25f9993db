// Finds places in sorted lists by bisection: a list of n items costs log2(n) comparisons.

/**
 * How many items come first: the place of an item that is inserted after all those for which `isBefore` holds.
 * @param isBefore holds of the first items of the list and of none behind them
 * @param from how many are known to come first
 * @example countFirst([1, 3, 5], (item) => item < 4) // 2
 */
export const countFirst = <T>(
  list: readonly T[],
  isBefore: (item: T) => boolean,
  from = 0,
): number => {
  let [low, high] = [from, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = list[middle]
    if (item !== undefined && isBefore(item)) low = middle + 1
    else high = middle
  }
  return low
}
