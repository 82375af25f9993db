// Implements a map from strings to values that is never changed once it is shared: a change returns a new map that
// shares what it did not touch. One batch of changes may modify in place what it created itself (its `owner`).

import { hashText } from '../../base/hash-text.ts'

/** The identity of a batch of changes: nodes that carry it are not shared yet. */
export type Owner = symbol

export interface PersistentMap<V> {
  get(key: string): V | undefined
  /** As `get(text.slice(from, to))`. */
  find(text: string, from: number, to: number): V | undefined
  /** Any value: a map is never empty. */
  first(): V | undefined
  put(key: string, value: V, owner: Owner): PersistentMap<V>
  /** Undefined when nothing is left. */
  remove(key: string, owner: Owner): PersistentMap<V> | undefined
}

/**
 * Returns `map` with `key` set. There are three layouts, so that one entry is small and ten thousand are not copied.
 */
export function put<V>(
  map: PersistentMap<V> | undefined,
  key: string,
  value: V,
  owner: Owner,
): PersistentMap<V> {
  if (map === undefined) return new Edge(key, value, undefined)
  return split(map.put(key, value, owner), 0, owner)
}

const MAX_EDGES = 4
/** A bucket is copied whole by the first change of a batch: 32 entries take about 1 µs. */
const MAX_BUCKET = 32
const BITS = 5
const FAN_OUT = 1 << BITS
/** Beyond it hashes have no more bits: a bucket of colliding keys just grows. */
const MAX_SHIFT = 25

/** Few entries: a list, compared in place. 48 bytes an entry where a `Map` of one takes 190. */
class Edge<V> implements PersistentMap<V> {
  readonly key: string
  readonly value: V
  readonly next: Edge<V> | undefined

  constructor(key: string, value: V, next: Edge<V> | undefined) {
    this.key = key
    this.value = value
    this.next = next
  }

  get(key: string): V | undefined {
    return findEdge(this, key, 0, key.length)
  }

  find(text: string, from: number, to: number): V | undefined {
    return findEdge(this, text, from, to)
  }

  first(): V {
    return this.value
  }

  put(key: string, value: V): PersistentMap<V> {
    const others = this.remove(key)
    const grown = new Edge(key, value, others)
    let count = 0
    for (let edge: Edge<V> | undefined = grown; edge !== undefined; edge = edge.next) count++
    return count <= MAX_EDGES ? grown : bucketOf(grown)
  }

  remove(key: string): Edge<V> | undefined {
    if (this.key === key) return this.next
    const rest = this.next?.remove(key)
    return rest === this.next ? this : new Edge(this.key, this.value, rest)
  }
}

function findEdge<V>(
  first: Edge<V> | undefined,
  text: string,
  from: number,
  to: number,
): V | undefined {
  for (let edge = first; edge !== undefined; edge = edge.next) {
    if (edge.key.length === to - from && text.startsWith(edge.key, from)) return edge.value
  }
  return undefined
}

/**
 * Some entries: lists beside each other, of which only the hashes are compared. A `Map` would create a string of each
 * segment, and V8 look it up among all strings first: ten reads that miss the processor's cache. Each change copies the
 * lists: one that grew would keep room for 17.
 */
class Bucket<V> implements PersistentMap<V> {
  readonly hashes: readonly number[]
  readonly keys: readonly string[]
  readonly values: readonly V[]

  constructor(hashes: readonly number[], keys: readonly string[], values: readonly V[]) {
    this.hashes = hashes
    this.keys = keys
    this.values = values
  }

  get size(): number {
    return this.keys.length
  }

  get(key: string): V | undefined {
    return this.find(key, 0, key.length)
  }

  find(text: string, from: number, to: number): V | undefined {
    return this.findHashed(hashText(text, from, to), text, from, to)
  }

  findHashed(hash: number, text: string, from: number, to: number): V | undefined {
    const index = this.#indexOf(hash, text, from, to)
    return index < 0 ? undefined : this.values[index]
  }

  first(): V | undefined {
    return this.values[0]
  }

  put(key: string, value: V): Bucket<V> {
    const hash = hashText(key, 0, key.length)
    const index = this.#indexOf(hash, key, 0, key.length)
    if (index >= 0) return new Bucket(this.hashes, this.keys, this.values.with(index, value))
    return new Bucket(
      this.hashes.concat([hash]),
      this.keys.concat([key]),
      this.values.concat([value]),
    )
  }

  remove(key: string): Bucket<V> | undefined {
    const index = this.#indexOf(hashText(key, 0, key.length), key, 0, key.length)
    if (index < 0) return this
    if (this.size === 1) return undefined
    return new Bucket(
      this.hashes.toSpliced(index, 1),
      this.keys.toSpliced(index, 1),
      this.values.toSpliced(index, 1),
    )
  }

  #indexOf(hash: number, text: string, from: number, to: number): number {
    const { hashes, keys } = this
    for (let index = 0; index < hashes.length; index++) {
      if (hashes[index] !== hash) continue
      const key = keys[index]
      if (key?.length === to - from && text.startsWith(key, from)) return index
    }
    return -1
  }
}

const bucketOf = <V>(first: Edge<V>): Bucket<V> => {
  let bucket = new Bucket<V>([], [], [])
  for (let edge: Edge<V> | undefined = first; edge !== undefined; edge = edge.next)
    bucket = bucket.put(edge.key, edge.value)
  return bucket
}

/** Many entries: 32 slots by five bits of the key's hash, each a bucket or a further branch. */
class Branch<V> implements PersistentMap<V> {
  readonly shift: number
  readonly slots: (Branch<V> | Bucket<V> | undefined)[]
  readonly owner: Owner

  constructor(shift: number, slots: (Branch<V> | Bucket<V> | undefined)[], owner: Owner) {
    this.shift = shift
    this.slots = slots
    this.owner = owner
  }

  get(key: string): V | undefined {
    return this.find(key, 0, key.length)
  }

  find(text: string, from: number, to: number): V | undefined {
    const hash = hashText(text, from, to)
    let slot = this.slots[slotOf(hash, this.shift)]
    while (slot instanceof Branch) slot = slot.slots[slotOf(hash, slot.shift)]
    return slot?.findHashed(hash, text, from, to)
  }

  first(): V | undefined {
    return this.slots.find((slot) => slot !== undefined)?.first()
  }

  put(key: string, value: V, owner: Owner): Branch<V> {
    const own = this.#ownedBy(owner)
    const index = slotOf(hashText(key, 0, key.length), this.shift)
    const slot = own.slots[index] ?? new Bucket<V>([], [], [])
    own.slots[index] = split(slot.put(key, value, owner), this.shift + BITS, owner)
    return own
  }

  remove(key: string, owner: Owner): Branch<V> | undefined {
    const own = this.#ownedBy(owner)
    const index = slotOf(hashText(key, 0, key.length), this.shift)
    own.slots[index] = own.slots[index]?.remove(key, owner)
    return own.slots.every((slot) => slot === undefined) ? undefined : own
  }

  #ownedBy(owner: Owner): Branch<V> {
    return this.owner === owner ? this : new Branch(this.shift, [...this.slots], owner)
  }
}

function split<V, M extends PersistentMap<V>>(map: M, shift: number, owner: Owner): M | Branch<V> {
  if (!(map instanceof Bucket) || map.size <= MAX_BUCKET || shift > MAX_SHIFT) return map
  const slots = Array.from<Bucket<V> | undefined>({ length: FAN_OUT }).fill(undefined)
  const branch = new Branch<V>(shift, slots, owner)
  const { keys, values } = map as Bucket<V>
  for (const [index, key] of keys.entries()) branch.put(key, values[index] as V, owner)
  return branch
}

const slotOf = (hash: number, shift: number): number => (hash >>> shift) & (FAN_OUT - 1)
