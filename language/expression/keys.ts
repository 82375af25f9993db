// Lists the keys of maps. Those of a large map are listed once: that takes 0.2 µs for each, as V8 sorts them.

import type { Host } from './functions/apply.ts'
import { hasManyKeys, spendWork, unitsOfCopy, unitsOfKeys } from './functions/spend.ts'
import { setOwn, type Value, type ValueMap } from './value.ts'

/** The keys of maps with many, which are never changed once they are known here. The count where the order is not known. */
const known = new WeakMap<ValueMap, readonly string[] | number>()

/**
 * As `Object.keys`. What takes long is charged before it is done, as far as the count is known.
 * @throws ExpressionError for too much work
 */
export const keysOf = (map: ValueMap, host: Host): readonly string[] => {
  const before = known.get(map)
  if (typeof before === 'object') return before
  if (before !== undefined) spendWork(host, unitsOfKeys(before))
  const keys = Object.keys(map)
  if (before === undefined) spendWork(host, unitsOfKeys(keys.length))
  if (hasManyKeys(keys.length)) known.set(map, keys)
  return keys
}

/**
 * Charges what it is to read all keys of a map into another one.
 * @throws ExpressionError for too much work
 */
export const chargeCopy = (map: ValueMap, host: Host): void => {
  spendWork(host, unitsOfCopy(keysOf(map, host).length))
}

/** Fills a map whose keys are known afterwards, so that they need not be listed. */
export class MapBuilder {
  readonly #map: Record<string, Value>
  readonly #keys: string[]
  /** V8 lists keys that are numbers first, in their order. */
  #hasNumbers: boolean

  /** @param keys those that the map has */
  constructor(map: Record<string, Value> = {}, keys: readonly string[] = []) {
    this.#map = map
    this.#keys = [...keys]
    this.#hasNumbers = keys.some(mayBeNumber)
  }

  get size(): number {
    return this.#keys.length
  }

  set(key: string, value: Value): void {
    if (!Object.hasOwn(this.#map, key)) {
      this.#keys.push(key)
      this.#hasNumbers ||= mayBeNumber(key)
    }
    setOwn(this.#map, key, value)
  }

  /** Do not change the map, or call `set`, afterwards. */
  done(): ValueMap {
    if (hasManyKeys(this.#keys.length))
      known.set(this.#map, this.#hasNumbers ? this.#keys.length : this.#keys)
    return this.#map
  }
}

const mayBeNumber = (key: string): boolean => {
  const first = key.charCodeAt(0)
  return first >= 0x30 && first <= 0x39
}
