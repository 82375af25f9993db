// Makes a bounded copy of any value that is safe to log: secrets are masked by the name they stand under, errors become
// plain data. Never throws, never calls a getter's side effects twice, never follows a cycle for ever.

import { isSecretName, maskCredentials } from '../base/secret-name.ts'

const MASK = '[redacted]'
const MAX_DEPTH = 8
const MAX_ENTRIES = 100
const MAX_TEXT = 4096
const MAX_STACK = 2048

/**
 * A copy of `fields` with every secret masked, at any depth up to 8, 100 entries a container and 4 KiB a text.
 * Names are compared without case, `-` and `_`: `clientSecret` is `client_secret`.
 * @example redactFields({ user: { password: 'x' } }, false) // { user: { password: '[redacted]' } }
 */
export const redactFields = (
  fields: Readonly<Record<string, unknown>>,
  withStacks: boolean,
): Record<string, unknown> => redactMap(fields, withStacks, 0)

/** The private members of a JWK (RFC 7518 §6), hidden in any map that has a `kty`. */
const PRIVATE_JWK_MEMBERS: ReadonlySet<string> = new Set([
  'd',
  'p',
  'q',
  'dp',
  'dq',
  'qi',
  'k',
  'oth',
])

const redactMap = (
  map: Readonly<Record<string, unknown>>,
  withStacks: boolean,
  depth: number,
): Record<string, unknown> => {
  const copy: Record<string, unknown> = {}
  const isJwk = Object.hasOwn(map, 'kty')
  const keys = Object.keys(map)
  for (const key of keys.slice(0, MAX_ENTRIES)) {
    const value = readProperty(map, key)
    const hidden =
      (isSecretName(key) || (isJwk && PRIVATE_JWK_MEMBERS.has(key))) && isRevealing(value)
    // defineProperty: an own `__proto__` of a parsed document must stay a plain key.
    Object.defineProperty(copy, key, {
      value: hidden ? MASK : redactValue(value, withStacks, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  if (keys.length > MAX_ENTRIES) copy['…'] = `${keys.length - MAX_ENTRIES} more`
  return copy
}

/** A flag or an absent value reveals nothing. */
const isRevealing = (value: unknown): boolean =>
  value !== null && value !== undefined && typeof value !== 'boolean'

const readProperty = (map: Readonly<Record<string, unknown>>, key: string): unknown => {
  try {
    return map[key]
  } catch {
    return '[unreadable]'
  }
}

const redactValue = (value: unknown, withStacks: boolean, depth: number): unknown => {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return '[deeper]'
  return redactObject(value, withStacks, depth)
}

const redactObject = (value: object, withStacks: boolean, depth: number): unknown => {
  if (isError(value)) return redactError(value, withStacks, depth)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof URL) return redactText(value.origin + value.pathname)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (value instanceof Map || value instanceof Set) return `[${value.size} entries]`
  if (!Array.isArray(value)) return redactMap(value as Record<string, unknown>, withStacks, depth)
  return value
    .slice(0, MAX_ENTRIES)
    .map((element: unknown) => redactValue(element, withStacks, depth + 1))
}

/** Also one of another realm (`vm`), which is no `instanceof` our own. */
const isError = (value: object): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'

/** Own members of an error are left out but for its code: libraries hang requests and keys on them. */
const redactError = (error: Error, withStacks: boolean, depth: number): Record<string, unknown> => {
  const code = readProperty(error as unknown as Record<string, unknown>, 'code')
  return {
    type: error.name,
    message: redactText(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(withStacks && error.stack !== undefined
      ? { stack: redactText(error.stack).slice(0, MAX_STACK) }
      : {}),
    ...(error.cause === undefined
      ? {}
      : { cause: redactValue(error.cause, withStacks, depth + 1) }),
  }
}

/** Userinfo of URLs and credentials of an Authorization header inside a sentence. */
const redactText = (text: string): string => {
  const bounded = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  return maskCredentials(bounded, MASK)
}
