// Computes a value of an object once and keeps it as long as the object lives: for records and versions, which are
// replaced as a whole and never changed.

/**
 * @param make never gives undefined; an error that it throws is not kept
 * @example const scopeOf = oncePer((version: ServedVersion) => createPoolScope(version.poolSize))
 */
export const oncePer = <K extends object, V extends object>(
  make: (key: K) => V,
): ((key: K) => V) => {
  const made = new WeakMap<K, V>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}
