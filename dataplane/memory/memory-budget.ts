// Keeps what a process holds for its clients and peers within the memory that the process has: it counts the bytes
// held, rejects new buffering when memory is short, and closes the largest consumers before memory runs out.

/** The owner of memory, which is closed when it holds too much: mostly the socket of a client. */
export interface MemoryOwner {
  destroy(): unknown
}

/** What one body may decode to, however few its bytes are. */
export const MAX_BODY_VALUES = 1_000_000

export interface MemoryBudgetOptions {
  /** Bytes; see process-memory.ts. */
  readonly size: number
  /** Bytes of the heap in use at the start. */
  readonly heapUse?: number
  /** The most values that a body may decode to: numbers, strings, keys of maps, lists, maps …; a million if left out. */
  readonly maxBodyValues?: number
  /** Called when new buffering was rejected. */
  readonly onRefused?: () => void
  /** Called when owners were closed, with the number of bytes that this freed. */
  readonly onClosed?: (owners: number, bytes: number) => void
}

/**
 * Shares of the budget. Above `TIGHT` no owner may begin to hold much; above `CRITICAL` the largest owners are
 * closed.
 */
const TIGHT = 0.8
const CRITICAL = 0.95
/** Caches grow up to here. The heap is known after a collection only, and may double until the next one. */
const CACHES = 0.4
/** Owners are closed until no more than this share is in use. */
const RELIEVED = 0.9

/**
 * One holding may have this many bytes even when memory is short, so that small requests are served under attack too.
 */
const ALWAYS_BYTES = 16 * 1024

/**
 * @example
 * const budget = new MemoryBudget({ size: 256 << 20 })
 * const holding = budget.open(request.socket)
 * if (!holding.reserve(chunk.length)) throw noMemory()
 * holding.release()
 */
export class MemoryBudget {
  readonly size: number
  readonly maxBodyValues: number
  readonly #options: MemoryBudgetOptions
  readonly #loadedContent = new Set<Holding>()
  readonly #tightListeners: ((isTight: boolean) => void)[] = []
  /** Bytes of the heap that were in use after the last major collection and that no holding counts. */
  #uncounted: number
  /** Held outside of the heap. */
  #buffers = 0
  /** Held in the heap: decoded values. */
  #values = 0
  #wasTight = false
  #isClosing = false

  constructor(options: MemoryBudgetOptions) {
    this.size = options.size
    this.maxBodyValues = options.maxBodyValues ?? MAX_BODY_VALUES
    this.#options = options
    this.#uncounted = options.heapUse ?? 0
  }

  /** The bytes held, and the rest of the heap in use. */
  get inUse(): number {
    return this.#uncounted + this.#buffers + this.#values
  }

  /** Bytes that are held for clients and peers. */
  get held(): number {
    return this.#buffers + this.#values
  }

  get isTight(): boolean {
    return this.inUse > TIGHT * this.size
  }

  /** More than half of the memory that code and documents leave is held. */
  get isScarce(): boolean {
    return this.held > (this.size - this.#uncounted) / 2
  }

  /** Whether caches of what can be built again may grow. */
  get hasRoomForCaches(): boolean {
    return this.inUse < CACHES * this.size
  }

  /** Counts nothing until it grows. A holding without an owner is never closed; what it has no room for is rejected. */
  open(owner?: MemoryOwner): Holding {
    return new Holding(this, owner)
  }

  /** Calls `listener` whenever memory becomes short, or no longer is. */
  onTight(listener: (isTight: boolean) => void): void {
    this.#tightListeners.push(listener)
  }

  /** Call it after each major collection with the number of bytes of the heap in use. */
  collected(heapUse: number): void {
    this.#uncounted = Math.max(0, heapUse - this.#values)
    this.#validate()
  }

  /** @internal for `Holding` */
  hasRoomFor(holding: Holding, bytes: number): boolean {
    const total = holding.bytes + bytes
    if (total <= ALWAYS_BYTES) return true
    // A holding that is large already may grow: otherwise no upload would end while memory is short.
    const isUnderWay = holding.owner !== undefined && holding.bytes > ALWAYS_BYTES
    return isUnderWay || this.#isWithin(TIGHT, bytes)
  }

  /** @internal for `Holding` */
  hasRoomForValues(holding: Holding, bytes: number): boolean {
    return holding.bytes + bytes <= ALWAYS_BYTES || this.#isWithin(CRITICAL, bytes)
  }

  /** @internal for `Holding`, whose own counts are as they are afterwards. */
  count(holding: Holding, buffers: number, values: number): void {
    this.#buffers += buffers
    this.#values += values
    if (holding.bytes > 0) this.#loadedContent.add(holding)
    else this.#loadedContent.delete(holding)
    if (this.#wasTight || this.isTight) this.#validate()
  }

  #isWithin(part: number, bytes: number): boolean {
    if (this.inUse + bytes <= part * this.size) return true
    this.#options.onRefused?.()
    return false
  }

  #validate(): void {
    if (this.#isClosing) return
    if (this.inUse > CRITICAL * this.size) this.#closeLargest()
    const { isTight } = this
    if (isTight === this.#wasTight) return
    this.#wasTight = isTight
    for (const listener of this.#tightListeners) listener(isTight)
  }

  #closeLargest(): void {
    const owners = this.#largestOwners()
    if (owners.size === 0) return
    const before = this.held
    this.#isClosing = true
    for (const holding of this.#loadedContent)
      if (holding.owner !== undefined && owners.has(holding.owner)) holding.close()
    for (const owner of owners) owner.destroy()
    this.#isClosing = false
    this.#options.onClosed?.(owners.size, before - this.held)
  }

  /**
   * As few as are enough. One owner may have several holdings. Owners that hold little are kept: closing them would
   * free nothing.
   */
  #largestOwners(): ReadonlySet<MemoryOwner> {
    const sums = new Map<MemoryOwner, number>()
    for (const { owner, bytes } of this.#loadedContent)
      if (owner !== undefined) sums.set(owner, (sums.get(owner) ?? 0) + bytes)
    const largest = [...sums]
      .filter(([, bytes]) => bytes > ALWAYS_BYTES)
      .sort(([, one], [, other]) => other - one)
    const owners = new Set<MemoryOwner>()
    let left = this.inUse
    for (const [owner, bytes] of largest) {
      if (left <= RELIEVED * this.size) break
      left -= bytes
      owners.add(owner)
    }
    return owners
  }
}

/** What one request, or one stream, holds. */
export class Holding {
  readonly owner: MemoryOwner | undefined
  readonly #budget: MemoryBudget
  #buffers = 0
  #values = 0
  #isClosed = false

  /** @internal by `MemoryBudget.open` */
  constructor(budget: MemoryBudget, owner: MemoryOwner | undefined) {
    this.#budget = budget
    this.owner = owner
  }

  get bytes(): number {
    return this.#buffers + this.#values
  }

  get maxBodyValues(): number {
    return this.#budget.maxBodyValues
  }

  /** Whether the whole budget is tight. */
  get isTight(): boolean {
    return this.#budget.isTight
  }

  /** Whether `reserve` would succeed; nothing is counted. */
  hasRoomFor(bytes: number): boolean {
    return !this.#isClosed && this.#budget.hasRoomFor(this, bytes)
  }

  /**
   * Counts bytes that will be held in buffers. False: there is no room for them, or the owner was closed because it
   * held the most.
   */
  reserve(bytes: number): boolean {
    if (!this.hasRoomFor(bytes)) return false
    this.add(bytes)
    return !this.#isClosed
  }

  /**
   * Counts bytes that decoded values will take, before they are decoded. False: there is no room. It closes no owner.
   */
  reserveValues(bytes: number): boolean {
    if (this.#isClosed || !this.#budget.hasRoomForValues(this, bytes)) return false
    this.#values += bytes
    this.#budget.count(this, 0, bytes)
    return true
  }

  /** Counts bytes that are held in buffers already, room or not. */
  add(bytes: number): void {
    if (this.#isClosed) return
    this.#buffers += bytes
    this.#budget.count(this, bytes, 0)
  }

  /** Stops counting bytes of buffers that are no longer held. */
  subtract(bytes: number): void {
    if (this.#isClosed) return
    this.#buffers -= bytes
    this.#budget.count(this, -bytes, 0)
  }

  /** Stops counting everything. The holding may grow again. */
  release(): void {
    if (this.bytes === 0) return
    const buffers = this.#buffers
    const values = this.#values
    this.#buffers = 0
    this.#values = 0
    this.#budget.count(this, -buffers, -values)
  }

  /** Stops counting everything for good: whatever would be added later is rejected. */
  close(): void {
    this.release()
    this.#isClosed = true
  }
}

/** For uses whose sum need not be bounded. */
export const createUnboundedMemory = (): MemoryBudget => new MemoryBudget({ size: Infinity })
