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
