// Merges values of Vary (RFC 9110 §12.5.5): a cache that misses one of them would give a client what another one asked for.

/**
 * Each name once, as it was written first; `*` alone where a value has it.
 * @example mergeVary(['Origin', 'accept-encoding, origin']) // 'Origin, accept-encoding'
 */
export const mergeVary = (values: readonly string[]): string => {
  const names = new Map<string, string>()
  for (const value of values)
    for (const part of value.split(',')) {
      const name = part.trim()
      const key = name.toLowerCase()
      if (name !== '' && !names.has(key)) names.set(key, name)
    }
  return names.has('*') ? '*' : [...names.values()].join(', ')
}
