// Keeps what lists and watches report of objects, in one immutable map after another, each made of the one before at the
// cost of what has changed. It keeps the result of `read`, and of the object itself only uid and version.

import { edited } from '../../edited-map.ts'
import { mapAt, textAt } from '../../../language/expression/members.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

export interface ListIntake {
  take(objects: readonly ValueMap[]): void
  /** Objects that were there before and are not in the list are removed. */
  finish(): void
}

export interface ItemsOptions<T> {
  /** @param before the value that is kept under that name */
  readonly read: (object: ValueMap, before: T | undefined) => T | undefined
  /** `read` threw: the object of this key is left out. */
  readonly onUnread: (key: string, error: unknown) => void
  /** Whether a change is of interest; absent: every change is. */
  readonly hasChanged?: (before: T, now: T) => boolean
  /** It replaces one of the same content: there is nothing to publish for it. */
  readonly onRenewed?: (now: T) => void
  /** It was deleted while it was watched; its last state may be of no version that was seen before. */
  readonly onDeleted?: (last: T) => void
}

interface Entry<T> {
  readonly identity: string
  readonly value: T
}

export class Items<T> {
  readonly #options: ItemsOptions<T>
  #entries = new Map<string, Entry<T>>()
  #current: ReadonlyMap<string, T> = new Map()
  /** What `#current` does not have yet. */
  #edits = new Map<string, T | undefined>()
  /** Some of the edits are changes, which become visible when they are published. */
  #isChanged = false

  constructor(options: ItemsOptions<T>) {
    this.#options = options
  }

  /** Another map after every change that was published, or that changed nothing of interest. */
  get current(): ReadonlyMap<string, T> {
    // A change that is not published yet is not visible either.
    if (!this.#isChanged) this.#takeEdits()
    return this.#current
  }

  /** ADDED and MODIFIED. */
  put(object: ValueMap): void {
    const key = keyOf(object)
    if (key === undefined) return
    const known = this.#entries.get(key)
    if (known?.identity === identityOf(object)) return
    const entry = this.#read(key, object)
    if (entry !== undefined) this.#entries.set(key, entry)
    else if (known !== undefined) this.#entries.delete(key)
    else return
    this.#edits.set(key, entry?.value)
    if (entry !== undefined && this.#isRenewal(known, entry)) this.#renewed([entry])
    else this.#isChanged = true
  }

  /** DELETED. */
  remove(object: ValueMap): void {
    const key = keyOf(object)
    if (key === undefined || !this.#entries.has(key)) return
    const { onDeleted } = this.#options
    const last = onDeleted && this.#read(key, object)
    if (last !== undefined) onDeleted?.(last.value)
    this.#entries.delete(key)
    this.#edits.set(key, undefined)
    this.#isChanged = true
  }

  /**
   * Begins a list; nothing of it is visible before `finish`.
   * @param isAnotherPast storage went back in time: the same version may mean another object
   */
  startList(isAnotherPast: boolean): ListIntake {
    const next = new Map<string, Entry<T>>()
    return {
      take: (objects) => {
        for (const object of objects) {
          const key = keyOf(object)
          if (key === undefined) continue
          const known = this.#entries.get(key)
          const isSame = !isAnotherPast && known?.identity === identityOf(object)
          const entry = isSame ? known : this.#read(key, object)
          if (entry !== undefined) next.set(key, entry)
        }
      },
      finish: () => {
        this.#takeList(next)
      },
    }
  }

  /** True: `current` is another map now. */
  publish(): boolean {
    if (!this.#isChanged) return false
    this.#takeEdits()
    return true
  }

  #read(key: string, object: ValueMap): Entry<T> | undefined {
    const { read, onUnread } = this.#options
    try {
      const value = read(object, this.#entries.get(key)?.value)
      return value === undefined ? undefined : { identity: identityOf(object), value }
    } catch (error) {
      onUnread(key, error)
      return undefined
    }
  }

  #takeList(next: Map<string, Entry<T>>): void {
    const before = this.#entries
    this.#entries = next
    const renewed: Entry<T>[] = []
    for (const [key, entry] of next) {
      const known = before.get(key)
      if (known === entry) continue
      this.#edits.set(key, entry.value)
      if (this.#isRenewal(known, entry)) renewed.push(entry)
      else this.#isChanged = true
    }
    for (const key of before.keys()) {
      if (next.has(key)) continue
      this.#edits.set(key, undefined)
      this.#isChanged = true
    }
    if (renewed.length > 0) this.#renewed(renewed)
  }

  #isRenewal(known: Entry<T> | undefined, { value }: Entry<T>): boolean {
    const { hasChanged } = this.#options
    return known !== undefined && hasChanged !== undefined && !hasChanged(known.value, value)
  }

  #renewed(entries: readonly Entry<T>[]): void {
    for (const { value } of entries) this.#options.onRenewed?.(value)
  }

  #takeEdits(): void {
    if (this.#edits.size > 0) {
      this.#current = edited(this.#current, this.#edits)
      this.#edits = new Map()
    }
    this.#isChanged = false
  }
}

/** `namespace/name`; undefined for an object without a name. */
const keyOf = (object: ValueMap): string | undefined => {
  const { namespace = '', name } = mapAt(object, 'metadata')
  return typeof name === 'string' && typeof namespace === 'string'
    ? `${namespace}/${name}`
    : undefined
}

/** A name that is deleted and created again is another object. */
const identityOf = (object: ValueMap): string => {
  const uid = textAt(mapAt(object, 'metadata'), 'uid')
  return `${uid} ${versionOf(object)}`
}

export const versionOf = (object: ValueMap): string =>
  textAt(mapAt(object, 'metadata'), 'resourceVersion')
