// Keeps what one data plane has loaded, or was sent, as a map that it shares with all data planes of which the same is
// true: 10,000 documents on 100 data planes take one map then, and an edit makes one map for all of them.

import { edited, type Edits } from '../../edited-map.ts'

/** Entries of its own, beside the map that others have too, which are no waste yet. */
const MANY = 100

/**
 * Of the map that something was made of last, the one that was made and how: data planes that take the same steps come
 * to the same map. One that is left behind keeps no later one, and the edits go with the map that they led to.
 */
export class SharedSteps<T extends object> {
  readonly #next = new WeakMap<ReadonlyMap<string, T>, WeakRef<ReadonlyMap<string, T>>>()
  /** Of maps in `#next`. */
  readonly #edits = new WeakMap<ReadonlyMap<string, T>, Edits<T>>()

  /** @param edits not changed from now on */
  edited(before: ReadonlyMap<string, T>, edits: Edits<T>): ReadonlyMap<string, T> {
    if (edits.size === 0) return before
    const known = this.#next.get(before)?.deref()
    if (known !== undefined && sameEdits(this.#edits.get(known), edits)) return known
    const map = edited(before, edits)
    if (map !== before) {
      this.#next.set(before, new WeakRef(map))
      this.#edits.set(map, edits)
    }
    return map
  }
}

const sameEdits = <T>(left: Edits<T> | undefined, right: Edits<T>): boolean => {
  if (left?.size !== right.size) return false
  for (const [key, value] of right) if (left.get(key) !== value || !left.has(key)) return false
  return true
}

export class SharedMap<T extends object> {
  readonly #steps: SharedSteps<T>
  #map: ReadonlyMap<string, T>
  /** What `#map` does not have yet. */
  #edits = new Map<string, T | undefined>()

  constructor(map: ReadonlyMap<string, T>, steps = new SharedSteps<T>()) {
    this.#map = map
    this.#steps = steps
  }

  get(key: string): T | undefined {
    return this.#edits.get(key) ?? (this.#edits.has(key) ? undefined : this.#map.get(key))
  }

  /** Nothing was ever put. */
  get isEmpty(): boolean {
    return this.#map.size + this.#edits.size === 0
  }

  keys(): Iterable<string> {
    return this.handOut().keys()
  }

  put(key: string, value: T | undefined): void {
    this.#edits.set(key, value)
  }

  /** As it is now; the result never changes. */
  handOut(): ReadonlyMap<string, T> {
    if (this.#edits.size > 0) {
      this.#map = this.#steps.edited(this.#map, this.#edits)
      this.#edits = new Map()
    }
    return this.#map
  }

  /**
   * Goes on from a map that others have too.
   * @param differing all keys at which that one may say something else
   */
  shareWith(common: ReadonlyMap<string, T>, differing: readonly Iterable<string>[]): void {
    if (this.#map === common && this.#edits.size === 0) return
    const own = new Map<string, T | undefined>()
    for (const keys of differing) {
      for (const key of keys) {
        own.set(key, this.get(key))
        if (own.size > MANY) return
      }
    }
    this.#map = this.#steps.edited(common, own)
    this.#edits = new Map()
  }
}
