// Implements a map from strings to values that is never changed once it is shared: a change returns a new map that
// shares what it did not touch. One batch of changes may modify in place what it created itself (its `owner`).

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
const MAX_SHIFT = 30

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

  put(key: string, value: V, owner: Owner): PersistentMap<V> {
    const others = this.remove(key)
    const entries = new Map([[key, value]])
    for (let edge = others; edge !== undefined; edge = edge.next) entries.set(edge.key, edge.value)
    return entries.size > MAX_EDGES ? new Bucket(entries, owner) : new Edge(key, value, others)
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

class Bucket<V> implements PersistentMap<V> {
  readonly entries: Map<string, V>
  readonly owner: Owner

  constructor(entries: Map<string, V>, owner: Owner) {
    this.entries = entries
    this.owner = owner
  }

  get(key: string): V | undefined {
    return this.entries.get(key)
  }

  find(text: string, from: number, to: number): V | undefined {
    return this.entries.get(text.slice(from, to))
  }

  first(): V | undefined {
    return this.entries.values().next().value
  }

  put(key: string, value: V, owner: Owner): Bucket<V> {
    const own = this.#ownedBy(owner)
    own.entries.set(key, value)
    return own
  }

  remove(key: string, owner: Owner): Bucket<V> | undefined {
    const own = this.#ownedBy(owner)
    own.entries.delete(key)
    return own.entries.size === 0 ? undefined : own
  }

  #ownedBy(owner: Owner): Bucket<V> {
    return this.owner === owner ? this : new Bucket(new Map(this.entries), owner)
  }
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
    const hash = hashOf(text, from, to)
    let slot = this.slots[slotOf(hash, this.shift)]
    while (slot instanceof Branch) slot = slot.slots[slotOf(hash, slot.shift)]
    return slot?.find(text, from, to)
  }

  first(): V | undefined {
    return this.slots.find((slot) => slot !== undefined)?.first()
  }

  put(key: string, value: V, owner: Owner): Branch<V> {
    const own = this.#ownedBy(owner)
    const index = slotOf(hashOf(key, 0, key.length), this.shift)
    const slot = own.slots[index] ?? new Bucket<V>(new Map(), owner)
    own.slots[index] = split(slot.put(key, value, owner), this.shift + BITS, owner)
    return own
  }

  remove(key: string, owner: Owner): Branch<V> | undefined {
    const own = this.#ownedBy(owner)
    const index = slotOf(hashOf(key, 0, key.length), this.shift)
    own.slots[index] = own.slots[index]?.remove(key, owner)
    return own.slots.every((slot) => slot === undefined) ? undefined : own
  }

  #ownedBy(owner: Owner): Branch<V> {
    return this.owner === owner ? this : new Branch(this.shift, [...this.slots], owner)
  }
}

function split<V, M extends PersistentMap<V>>(map: M, shift: number, owner: Owner): M | Branch<V> {
  if (!(map instanceof Bucket) || map.entries.size <= MAX_BUCKET || shift > MAX_SHIFT) return map
  const slots = Array.from<Bucket<V> | undefined>({ length: FAN_OUT }).fill(undefined)
  const branch = new Branch<V>(shift, slots, owner)
  for (const [key, value] of map.entries as Map<string, V>) branch.put(key, value, owner)
  return branch
}

const slotOf = (hash: number, shift: number): number => (hash >>> shift) & (FAN_OUT - 1)

/** FNV-1a over UTF-16 units, mixed once more: the low bits alone decide the first slot. */
function hashOf(text: string, from: number, to: number): number {
  let hash = 0x811c9dc5
  for (let at = from; at < to; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash ^ (hash >>> 15)
}
