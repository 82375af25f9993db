// Makes an immutable map from another one and a few edits, at the cost of the edits, and finds the keys at which two of
// them differ, at the cost of the edits between them. For many entries of which few change at a time.

/** Undefined: the key is removed; so no value of a map is undefined. */
export type Edits<T> = ReadonlyMap<string, T | undefined>

/**
 * The very same map where the edits change nothing. Of 10,000 entries an edit costs 5 µs so, and a copy 500 µs.
 * @param before never changed from now on
 * @example edited(new Map([['a', one]]), new Map([['a', undefined], ['b', two]])) // b → two
 */
export const edited = <T>(
  before: ReadonlyMap<string, T>,
  edits: Edits<T>,
): ReadonlyMap<string, T> => {
  const changes = [...edits].filter(([key, value]) => before.get(key) !== value)
  if (changes.length === 0) return before
  const base: Base<T> = isEdited(before) ? before.base : baseOf(before)
  const together = new Map(isEdited(before) ? before.edits : [])
  for (const [key, value] of changes) {
    if (value === undefined && !base.entries.has(key)) together.delete(key)
    else together.set(key, value)
  }
  const most = Math.max(LEAST_EDITS, Math.sqrt(base.entries.size))
  return together.size <= most ? new EditedMap(base, together) : joined(base, together)
}

/**
 * Keys whose entry is another object, or that only one of them has. Compares every entry where neither map was made of
 * the other, or that was long ago. The same for the same two maps is looked for once: a hundred data planes go from the
 * one to the other.
 */
export const changedKeys = <T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
): ReadonlySet<string> => {
  if (before === after) return NO_KEYS
  const last = lastChanges.get(after)
  if (last?.before.deref() === before) return last.keys
  const keys = findChangedKeys(before, after)
  if (isEdited(before) && isEdited(after))
    lastChanges.set(after, { before: new WeakRef(before), keys })
  return keys
}

const NO_KEYS: ReadonlySet<string> = new Set()

/** Only maps that never change. */
const lastChanges = new WeakMap<
  ReadonlyMap<string, unknown>,
  { readonly before: WeakRef<ReadonlyMap<string, unknown>>; readonly keys: ReadonlySet<string> }
>()

const findChangedKeys = <T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
): ReadonlySet<string> => {
  const keys = new Set<string>()
  const suspects = between(before, after)
  if (suspects === undefined) return changedOfAll(before, after)
  for (const each of suspects)
    for (const key of each.keys()) if (before.get(key) !== after.get(key)) keys.add(key)
  return keys
}

const changedOfAll = <T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
): ReadonlySet<string> => {
  const keys = new Set<string>()
  let common = 0
  for (const [key, entry] of before) {
    const other = after.get(key)
    if (other !== undefined) common += 1
    if (other !== entry) keys.add(key)
  }
  if (common === after.size) return keys
  for (const key of after.keys()) if (!before.has(key)) keys.add(key)
  return keys
}

/**
 * This many edits, or as many as the square root of the entries, are kept beside a map before both are copied into one.
 */
const LEAST_EDITS = 32

/** Shared by several maps. */
interface Base<T> {
  readonly entries: ReadonlyMap<string, T>
  readonly id: symbol
  /** The base it was copied from, and where it differs. By id, so that the old one can be released. */
  readonly from?: { readonly id: symbol; readonly edits: Keys }
}

type Keys = Pick<ReadonlySet<string>, 'keys'>

class EditedMap<T> implements ReadonlyMap<string, T> {
  readonly size: number
  readonly base: Base<T>
  readonly edits: Edits<T>

  constructor(base: Base<T>, edits: Edits<T>) {
    this.base = base
    this.edits = edits
    let { size } = base.entries
    for (const [key, value] of edits) {
      if (value === undefined) size -= 1
      else if (!base.entries.has(key)) size += 1
    }
    this.size = size
  }

  get(key: string): T | undefined {
    return this.edits.get(key) ?? (this.edits.has(key) ? undefined : this.base.entries.get(key))
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  *entries(): MapIterator<[string, T]> {
    for (const [key, value] of this.base.entries) {
      const edit = this.edits.get(key)
      if (edit !== undefined) yield [key, edit]
      else if (!this.edits.has(key)) yield [key, value]
    }
    for (const [key, edit] of this.edits)
      if (edit !== undefined && !this.base.entries.has(key)) yield [key, edit]
  }

  *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key
  }

  *values(): MapIterator<T> {
    for (const [, value] of this.entries()) yield value
  }

  [Symbol.iterator](): MapIterator<[string, T]> {
    return this.entries()
  }

  forEach(callback: (value: T, key: string, map: ReadonlyMap<string, T>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this)
  }
}

const joined = <T>(base: Base<T>, edits: Edits<T>): EditedMap<T> => {
  const entries = new Map(base.entries)
  for (const [key, value] of edits) {
    if (value === undefined) entries.delete(key)
    else entries.set(key, value)
  }
  const from = { id: base.id, edits }
  return new EditedMap<T>({ ...baseOf(entries), from }, new Map<string, T>())
}

const baseOf = <T>(entries: ReadonlyMap<string, T>): Base<T> => ({
  entries,
  id: Symbol('base'),
})

/** The keys at which they may differ; undefined: not known. */
const between = (
  left: ReadonlyMap<string, unknown>,
  right: ReadonlyMap<string, unknown>,
): readonly Keys[] | undefined => {
  const [from, to] = [partsOf(left), partsOf(right)]
  if (from.base.entries === to.base.entries) return [from.edits, to.edits]
  if (to.base.from?.id === from.base.id) return [from.edits, to.base.from.edits, to.edits]
  if (from.base.from?.id === to.base.id) return [to.edits, from.base.from.edits, from.edits]
  return undefined
}

const partsOf = (
  map: ReadonlyMap<string, unknown>,
): { readonly base: Base<unknown>; readonly edits: Edits<unknown> } =>
  isEdited(map) ? map : { base: baseOf(map), edits: new Map() }

const isEdited = <T>(map: ReadonlyMap<string, T>): map is EditedMap<T> => map instanceof EditedMap
