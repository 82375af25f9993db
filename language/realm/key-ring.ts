// Parses a file with a ring of secret keys, newest first (behaviour §6). Plain data, so that the primary process can
// send a ring to its workers. No message ever shows a key.

/** `k`: 32 bytes in base64url. The first is used for new values, all are accepted. */
import { parseJson } from '../../base/parse-json.ts'
export interface KeyRing {
  readonly keys: readonly { readonly kid: string; readonly k: string }[]
}

export interface StateKey {
  readonly kid: string
  /** 32 bytes. */
  readonly key: Buffer
}

/** Keys of one purpose: the newest is used, all are found by their id. */
export interface StateKeys {
  readonly current: StateKey
  readonly byKid: (kid: string) => StateKey | undefined
}

const KEY_BYTES = 32
const MAX_KEYS = 64
const MAX_KID = 128

/** One fresh key. @param random as `randomBytes` of node:crypto */
export const createKeyRing = (random: (size: number) => Buffer): KeyRing => ({
  keys: [{ kid: random(12).toString('base64url'), k: random(KEY_BYTES).toString('base64url') }],
})

/**
 * @param ring checked by `parseKeyRing`, or made by `createKeyRing`
 * @example createStateKeys(ring).byKid('2026-11')?.key // <Buffer …>
 */
export const createStateKeys = (ring: KeyRing): StateKeys => {
  const keys = ring.keys.map(({ kid, k }) => ({ kid, key: Buffer.from(k, 'base64url') }))
  const [current] = keys
  if (current === undefined) throw new Error('A ring of keys is empty')
  const byKid = new Map(keys.map((key) => [key.kid, key]))
  return { current, byKid: (kid) => byKid.get(kid) }
}

/**
 * Reads `{"keys": [{"kid", "k"}]}`.
 * @throws Error that says what is wrong and never what stood there
 */
export const parseKeyRing = (text: string): KeyRing => {
  const { keys } = asMap(parseQuietly(text), 'the file')
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS)
    throw new Error(`"keys" must be a list of 1 to ${MAX_KEYS} keys`)
  const parsed = keys.map((each, index) => toEntry(each, index))
  if (new Set(parsed.map(({ kid }) => kid)).size !== parsed.length)
    throw new Error('two keys have the same "kid"')
  return { keys: parsed }
}

const toEntry = (value: unknown, index: number): KeyRing['keys'][number] => {
  const { kid, k } = asMap(value, `key ${index + 1}`)
  if (typeof kid !== 'string' || !/^[\x21-\x7e]+$/.test(kid) || kid.length > MAX_KID)
    throw new Error(`"kid" of key ${index + 1} must be 1 to ${MAX_KID} printable characters`)
  if (typeof k !== 'string' || !isKey(k))
    throw new Error(`"k" of key ${index + 1} must be ${KEY_BYTES} bytes in base64url`)
  return { kid, k }
}

const isKey = (text: string): boolean => {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === KEY_BYTES && bytes.toString('base64url') === text.replace(/=+$/, '')
}

// The parser's own message quotes the text around the error, which may be a key.
const parseQuietly = (text: string): unknown => {
  try {
    return parseJson(text)
  } catch {
    throw new Error('it is not JSON')
  }
}

const asMap = (value: unknown, name: string): Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${name} must be a JSON object`)
  return Object.assign(Object.create(null), value) as Readonly<Record<string, unknown>>
}
