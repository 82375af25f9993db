// Keeps what one data plane has loaded, or was sent, as a map that it shares with all data planes of which the same is
// true: 10,000 documents on 100 data planes take one map then, and an edit makes one map for all of them.

import { edited, type Edits } from '../../edited-map.ts'

/** Entries of its own, beside the map that others have too, which are no waste yet. */
const MANY = 100

/**
 * Of the map that something was made of last, the one that was made and how: data planes that take the same steps come
 * to the same map. Weak, as one that is left behind must not keep all later ones.
 */
export class SharedSteps<T extends object> {
  readonly #steps = new WeakMap<
    ReadonlyMap<string, T>,
    { readonly edits: Edits<T>; readonly map: WeakRef<ReadonlyMap<string, T>> }
  >()

  /** @param edits not changed from now on */
  edited(before: ReadonlyMap<string, T>, edits: Edits<T>): ReadonlyMap<string, T> {
    if (edits.size === 0) return before
    const step = this.#steps.get(before)
    const known = step !== undefined && sameEdits(step.edits, edits) ? step.map.deref() : undefined
    if (known !== undefined) return known
    const map = edited(before, edits)
    if (map !== before) this.#steps.set(before, { edits, map: new WeakRef(map) })
    return map
  }
}

const sameEdits = <T>(left: Edits<T>, right: Edits<T>): boolean => {
  if (left.size !== right.size) return false
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
