// `/.well-known/jwks.json`: every realm's public keys, on every host and before any document (behaviour §2).

import { STATUS_CODES } from '../../../language/status-codes.ts'
import type { ServedVersion } from '../../served.ts'

export const KEYS_PATH = '/.well-known/jwks.json'

export const KEYS_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/** The gateway itself: no document has it. */
export const KEYS_VERSION: ServedVersion = {
  apiId: '',
  name: '',
  realmUri: '',
  deprecation: undefined,
  poolSize: 1,
  languages: [],
  statusCodes: STATUS_CODES,
}

/**
 * Segments are compared decoded, as the router compares them, so that no spelling leads past it. One look at
 * one character for all other paths.
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
