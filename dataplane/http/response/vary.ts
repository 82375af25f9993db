// Merges values of Vary (RFC 9110 §12.5.5): a cache that misses one of them would give a client what another one asked for.

import type { HeaderList } from './headers.ts'

/** Merged, and never replaced: the upstream's coding stays, and the client's origin is echoed beside it. */
export const withOneVary = (headers: HeaderList): HeaderList => {
  const values = headers.flatMap(([name, value]) => (name === 'vary' ? [value] : []))
  return values.length < 2
    ? headers
    : [...headers.filter(([name]) => name !== 'vary'), ['vary', mergeVary(values)]]
}

/**
 * Each name once, as it was written first; `*` alone where a value has it.
 * @example mergeVary(['Origin', 'accept-encoding, origin']) // 'Origin, accept-encoding'
 * @internal exported for tests
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
