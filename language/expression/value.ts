// Defines the values that documents, requests and results are made of: JSON, and bytes where msgpack or an upstream
// brings them. Never a class instance, a function or undefined.

export type Value = null | boolean | number | string | Uint8Array | readonly Value[] | ValueMap

/** Keys are read with `Object.hasOwn` only: a document must never see a prototype member. */
export interface ValueMap {
  readonly [key: string]: Value
}

export const isMap = (value: unknown): value is ValueMap =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Uint8Array)

export const isList = (value: unknown): value is readonly Value[] => Array.isArray(value)

/** Sets an own key, also `__proto__`, which plain assignment would lose. */
export const setOwn = <T>(map: Record<string, T>, key: string, value: T): void => {
  if (key === '__proto__') {
    Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true })
  } else map[key] = value
}

/** An index that is too large for a list. */
const BEYOND_LISTS = '4294967294'

/**
 * An empty map that many keys will be set in. V8 stores keys that are numbers as it does a list once they are dense, and
 * takes 50 ms at a time for 100,000 up to a million, but never where there was a key as large as this.
 */
export const createTable = <T>(): Record<string, T> => {
  const map: Record<string, T | undefined> = { [BEYOND_LISTS]: undefined }
  Reflect.deleteProperty(map, BEYOND_LISTS)
  return map as Record<string, T>
}
