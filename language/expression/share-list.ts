// Shares equal lists of things that are shared themselves. Bounded: lists come from documents.

const LIMIT = 4096

/** @returns an equal list: the one that was given first, as far as it is known */
export const createListShare = <T extends object>(
  isShared: (item: T) => boolean,
): ((list: readonly T[]) => readonly T[]) => {
  const known = new Map<string, readonly T[]>()
  const numbers = new WeakMap<T, number>()
  let last = 0
  const numberOf = (item: T): number => {
    const number = numbers.get(item) ?? (last += 1)
    numbers.set(item, number)
    return number
  }
  return (list) => {
    if (!list.every(isShared)) return list
    const key = list.map(numberOf).join()
    const before = known.get(key)
    if (before !== undefined) return before
    if (known.size < LIMIT) known.set(key, list)
    return list
  }
}
