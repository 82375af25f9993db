// Takes a bounded number of items from a list, so that those of one kind never crowd out those of the others.

/**
 * At most so many items, in the order of the list: kinds with few keep all of them, the others get equally many.
 * @example selectFairly(['a1', 'a2', 'a3', 'b1'], 3, (item) => item.charAt(0)) // ['a1', 'a2', 'b1']
 */
export const selectFairly = <T>(
  items: readonly T[],
  maxItems: number,
  kindOf: (item: T) => string,
): readonly T[] => {
  if (items.length <= maxItems) return items
  const limits = limitsOf(countKinds(items, kindOf), maxItems)
  const selected = new Map<string, number>()
  return items.filter((item) => {
    const kind = kindOf(item)
    const count = selected.get(kind) ?? 0
    if (count >= (limits.get(kind) ?? 0)) return false
    selected.set(kind, count + 1)
    return true
  })
}

const countKinds = <T>(
  items: readonly T[],
  kindOf: (item: T) => string,
): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const item of items) {
    const kind = kindOf(item)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}

/** What a small kind leaves of its share goes to the larger ones. */
const limitsOf = (
  counts: ReadonlyMap<string, number>,
  maxItems: number,
): ReadonlyMap<string, number> => {
  const ascending = [...counts].sort(([, left], [, right]) => left - right)
  let left = maxItems
  return new Map(
    ascending.map(([kind, count], index) => {
      const limit = Math.min(count, Math.floor(left / (ascending.length - index)))
      left -= limit
      return [kind, limit]
    }),
  )
}
