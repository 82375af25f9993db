// Shares one object among all users of an equal one, as long as it is referenced.

/**
 * @returns a function that returns the object of a key, or makes it if the last one was garbage collected
 * @example
 * const share = createWeakShare<readonly string[]>()
 * share('a,b', () => ['a', 'b']) === share('a,b', () => ['a', 'b']) // true
 */
export const createWeakShare = <V extends object>(): ((key: string, make: () => V) => V) => {
  const known = new Map<string, WeakRef<V>>()
  const freed = new FinalizationRegistry<string>((key) => {
    // Another object of this key may have been made since.
    if (known.get(key)?.deref() === undefined) known.delete(key)
  })
  return (key, make) => {
    const before = known.get(key)?.deref()
    if (before !== undefined) return before
    const made = make()
    known.set(key, new WeakRef(made))
    freed.register(made, key)
    return made
  }
}

/** Longer data is rarely the same as another's. */
const LONGEST = 1024

/**
 * For data that is never changed, and is what JSON makes of it.
 * @returns a function that gives an equal value: the first one, as long as it is referenced
 */
export const createEqualShare = (): (<V extends object>(value: V) => V) => {
  const share = createWeakShare<object>()
  return <V extends object>(value: V): V => {
    const key = JSON.stringify(value)
    // What has the same key is equal, so of the same type.
    return key.length > LONGEST ? value : (share(key, () => value) as V)
  }
}
