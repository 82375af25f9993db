// Recognises the path of the gateway's public keys, which is served on every host and before any document
// (behaviour §2).

export const KEYS_PATH = '/.well-known/jwks.json'

export const KEYS_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/**
 * Compares decoded segments, as the router does, so that no spelling bypasses it. All other paths cost one look at
 * one character.
 */
export const isKeysPath = (path: string): boolean => {
  const first = path.charCodeAt(1)
  if (first !== DOT && first !== PERCENT) return false
  const segments = path.slice(1).split('/')
  if (segments.at(-1) === '') segments.pop()
  if (segments.length !== KEYS_SEGMENTS.length) return false
  return KEYS_SEGMENTS.every((expected, at) => decoded(segments[at] ?? '') === expected)
}

const DOT = 0x2e
const PERCENT = 0x25
const KEYS_SEGMENTS = KEYS_PATH.slice(1).split('/')

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
