// Compares lists, sets and maps by their entries. Pure.

export const isSameList = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((each, index) => each === right[index])

export const isSameSet = (left: ReadonlySet<unknown>, right: ReadonlySet<unknown>): boolean =>
  left === right || (left.size === right.size && [...left].every((each) => right.has(each)))

/** @example isSameMap(before, after) // as many entries, and each the same object */
export const isSameMap = <T>(
  left: ReadonlyMap<string, T>,
  right: ReadonlyMap<string, T>,
  isSame: (left: T, right: T) => boolean = Object.is,
): boolean => {
  if (left === right) return true
  if (left.size !== right.size) return false
  for (const [key, value] of right)
    if (!left.has(key) || !isSame(left.get(key) as T, value)) return false
  return true
}
