// Decides whether there is room for one more connection, by where it comes from, and which idle connection makes room
// for it. It closes nothing itself.

/** Where a connection comes from. */
export interface Place {
  /** Connections of the same place have the same text. */
  readonly key: string
  /** False: many clients share the place, such as a proxy, and it may have all connections. */
  readonly isLimited: boolean
}

export interface ConnectionTableOptions<C> {
  readonly max: number
  /** Whether nothing is in progress on it. */
  readonly isIdle: (connection: C) => boolean
}

export type Entrance<C> =
  /** `closes` has left the table to make room; the caller must close it. */
  | { readonly kind: 'entered'; readonly closes: C | undefined }
  /** `full`: all are in use, and none can be closed for it. `share`: its place would have more than its share. */
  | { readonly kind: 'refused'; readonly reason: 'full' | 'share' }

interface Holder<C> {
  readonly key: string
  readonly connections: Set<C>
}

/** From this use of the table on a place may not have more than its share. */
const CROWDED = 0.8
const SHARE = 0.25

/** Bounds of the search for an idle connection: connections per place, and places. */
const MAX_LOOKS = 256
const MAX_PLACES = 8

/** @example table.enter(connection, { key: '192.0.2.1', isLimited: true }) */
export class ConnectionTable<C> {
  readonly #options: ConnectionTableOptions<C>
  readonly #share: number
  readonly #holders = new Map<string, Holder<C>>()
  readonly #holderOf = new Map<C, Holder<C>>()
  /** Holders by how many connections they have: the largest are found without a search. */
  readonly #bySize: (Set<Holder<C>> | undefined)[] = []
  #largest = 0

  constructor(options: ConnectionTableOptions<C>) {
    this.#options = options
    this.#share = Math.max(1, Math.floor(options.max * SHARE))
  }

  get size(): number {
    return this.#holderOf.size
  }

  enter(connection: C, place: Place): Entrance<C> {
    const { max } = this.#options
    if (this.#hasItsShare(place)) return { kind: 'refused', reason: 'share' }
    const isFull = this.size >= max
    const closes = isFull ? this.#findIdle(this.#countOf(place.key)) : undefined
    if (isFull && closes === undefined) return { kind: 'refused', reason: 'full' }
    if (closes !== undefined) this.leave(closes)
    this.add(connection, place)
    return { kind: 'entered', closes }
  }

  /** Adds a connection regardless of the bounds; one that is there already stays in its place. */
  add(connection: C, { key }: Place): void {
    if (this.#holderOf.has(connection)) return
    let holder = this.#holders.get(key)
    if (holder === undefined) {
      holder = { key, connections: new Set() }
      this.#holders.set(key, holder)
    }
    holder.connections.add(connection)
    this.#holderOf.set(connection, holder)
    this.#resized(holder, holder.connections.size - 1)
  }

  /**
   * Moves a connection that turns out to come from elsewhere. False: that place has its share already, and the
   * connection was removed.
   */
  move(connection: C, place: Place): boolean {
    this.leave(connection)
    if (this.#hasItsShare(place)) return false
    this.add(connection, place)
    return true
  }

  /** Does nothing for a connection that is not there. */
  leave(connection: C): void {
    const holder = this.#holderOf.get(connection)
    if (holder === undefined) return
    this.#holderOf.delete(connection)
    holder.connections.delete(connection)
    this.#resized(holder, holder.connections.size + 1)
    if (holder.connections.size === 0) this.#holders.delete(holder.key)
  }

  #countOf(key: string): number {
    return this.#holders.get(key)?.connections.size ?? 0
  }

  #hasItsShare({ key, isLimited }: Place): boolean {
    return isLimited && this.size > this.#options.max * CROWDED && this.#countOf(key) >= this.#share
  }

  #resized(holder: Holder<C>, before: number): void {
    const same = this.#bySize[before]
    same?.delete(holder)
    if (same?.size === 0) this.#bySize[before] = undefined
    const { size } = holder.connections
    if (size > 0) (this.#bySize[size] ??= new Set()).add(holder)
    if (size > this.#largest) this.#largest = size
    while (this.#largest > 0 && this.#bySize[this.#largest] === undefined) this.#largest--
  }

  /** Finds an idle connection of the place that has most connections; only of places with more than `count`. */
  #findIdle(count: number): C | undefined {
    let places = 0
    for (let size = this.#largest; size > count; size--) {
      for (const holder of this.#bySize[size] ?? []) {
        if (++places > MAX_PLACES) return undefined
        const idle = this.#findIdleOf(holder)
        if (idle !== undefined) return idle
      }
    }
    return undefined
  }

  #findIdleOf({ connections }: Holder<C>): C | undefined {
    let looks = Math.min(MAX_LOOKS, connections.size)
    for (const connection of connections) {
      if (looks-- === 0) return undefined
      if (this.#options.isIdle(connection)) return connection
      // So that the next search begins with others.
      connections.delete(connection)
      connections.add(connection)
    }
    return undefined
  }
}
