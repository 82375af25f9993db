// Makes a value once and keeps it: at the first use, or for each object as long as the object lives.

/**
 * Makes the value at the first call, and gives the same one ever after.
 *
 * @param make called again only after it has thrown
 * @example const secureContext = once(() => tls.createSecureContext({ ca }))
 */
export const once = <V extends object | string | number>(make: () => V): (() => V) => {
  let made: V | undefined
  return () => (made ??= make())
}

/**
 * For records and versions, which are replaced as a whole and never changed.
 *
 * @param make called again for the same object only after it has thrown
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
