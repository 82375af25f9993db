// Owns the memory that a socket reads into. All plain sockets of a process share one buffer, and what is passed on is
// copied out of it; while much arrives, connections read into large buffers of their own, which are passed on as they are
// and used again once none of their bytes are referenced any more.

import type { Holding, MemoryBudget } from '../../memory/memory-budget.ts'

/** Node reads this much at a time from sockets without such a buffer, too. */
export const READ_BYTES = 64 * 1024
/**
 * The fewer system calls, the less a large body costs: measured for 1 MiB, reads of 64 KiB take 1.7 × the system time of
 * reads of 256 KiB.
 */
const LARGE_BYTES = 256 * 1024
/** Most large buffers of a process, 16 MiB; connections that get none read 64 KiB at a time. */
const MAX_LARGE = 64
/** Bytes of each size that are kept for later. New ones cost more: for every some dozens V8 marks the whole heap. */
const MOST_FREE_BYTES = 4 * 1024 * 1024

/** The buffers of a process that connections have for themselves, charged to its memory. */
export class OwnBuffers {
  readonly #holding: Holding
  readonly #large: Buffer[] = []
  readonly #small: Buffer[] = []
  #usedLarge = 0

  constructor(memory: MemoryBudget) {
    // Without an owner: where there is no room, less is read at a time and no connection is closed.
    this.#holding = memory.open()
  }

  /** Bytes in use or kept for later. */
  get bytes(): number {
    return this.#holding.bytes
  }

  /** Counts bytes that a connection has as long as it is open. */
  add(bytes: number): void {
    this.#holding.add(bytes)
  }

  subtract(bytes: number): void {
    this.#holding.subtract(bytes)
  }

  /** A large one if there are any left. undefined: memory is short. */
  acquire(): Buffer | undefined {
    if (this.#usedLarge === MAX_LARGE) return this.acquireSmall()
    const buffer = this.#large.pop() ?? this.#allocate(LARGE_BYTES)
    if (buffer !== undefined) this.#usedLarge++
    return buffer
  }

  /** One of `READ_BYTES`. undefined: memory is short. */
  acquireSmall(): Buffer | undefined {
    return this.#small.pop() ?? this.#allocate(READ_BYTES)
  }

  /** Takes a buffer back of which no byte is referenced. */
  release(buffer: Buffer): void {
    const { length } = buffer
    const free = length === LARGE_BYTES ? this.#large : this.#small
    if (free.length * length >= MOST_FREE_BYTES || this.#holding.isTight) {
      this.abandon(buffer)
      return
    }
    if (length === LARGE_BYTES) this.#usedLarge--
    free.push(buffer)
  }

  /** Gives one up of which somebody may hold bytes. */
  abandon({ length }: Buffer): void {
    if (length === LARGE_BYTES) this.#usedLarge--
    this.#holding.subtract(length)
  }

  #allocate(bytes: number): Buffer | undefined {
    if (this.#holding.isTight || !this.#holding.reserve(bytes)) return undefined
    return Buffer.allocUnsafeSlow(bytes)
  }
}

/** Whether bytes of a buffer were passed on. `lent`: the receiver says when it has released them; `given`: it does not. */
type Use = 'unused' | 'lent' | 'given'

export class ReadBuffer {
  readonly #shared: Buffer
  readonly #buffers: OwnBuffers
  /** The one that the socket reads into. */
  #current: Buffer
  #use: Use = 'unused'
  /** The previous buffer, if that is lent. Receivers of still earlier ones keep those, and account for them. */
  #lent: Buffer | undefined

  /** @param shared nothing else is read into it while bytes that were read are looked at */
  constructor(shared: Buffer, buffers: OwnBuffers) {
    this.#shared = shared
    this.#current = shared
    this.#buffers = buffers
  }

  /** What was read last. */
  get current(): Buffer {
    return this.#current
  }

  /**
   * Call it when the socket is about to read, and at no other time: it would go on reading into the buffer before.
   * @param isMuchExpected the next read probably fills the shared buffer
   */
  next(isMuchExpected: boolean): Buffer {
    if (!isMuchExpected) this.#change(this.#shared)
    else if (this.#use !== 'unused' || this.#isShared)
      this.#change(this.#buffers.acquire() ?? this.#shared)
    return this.#current
  }

  /**
   * Bytes of `current` that the caller may keep until it calls `recycle`, or for ever. A few are copied: who keeps them
   * accounts for these bytes, and must not hold many times as much.
   */
  take(from: number, to: number): Buffer {
    const bytes = this.#current.subarray(from, to)
    if (bytes.length < this.#current.length / 2) return Buffer.from(bytes)
    if (this.#isShared) return this.#copyShared(bytes)
    if (this.#use === 'unused') this.#use = 'lent'
    return bytes
  }

  /** Call it when none of the bytes that were taken since the last `forget` are referenced any more. */
  recycle(): void {
    if (this.#use === 'lent') this.#use = 'unused'
    if (this.#lent !== undefined) this.#buffers.release(this.#lent)
    this.#lent = undefined
  }

  /** What was taken may be held for ever: a later `recycle` is about what is taken from now on. */
  forget(): void {
    if (this.#use === 'lent') this.#use = 'given'
    this.#abandonLent()
  }

  /** Call it when the socket does not read any more. */
  release(): void {
    this.forget()
    this.#change(this.#shared)
  }

  get #isShared(): boolean {
    return this.#current === this.#shared
  }

  /** The first read of a large body. */
  #copyShared(bytes: Buffer): Buffer {
    const isSuited = bytes.length >= READ_BYTES / 2 && bytes.length <= READ_BYTES
    const own = isSuited ? this.#buffers.acquireSmall() : undefined
    if (own === undefined) return Buffer.from(bytes)
    bytes.copy(own)
    this.#abandonLent()
    this.#lent = own
    return own.subarray(0, bytes.length)
  }

  #abandonLent(): void {
    if (this.#lent !== undefined) this.#buffers.abandon(this.#lent)
    this.#lent = undefined
  }

  #change(next: Buffer): void {
    if (!this.#isShared) {
      if (this.#use === 'lent') {
        this.#abandonLent()
        this.#lent = this.#current
      } else if (this.#use === 'given') this.#buffers.abandon(this.#current)
      else this.#buffers.release(this.#current)
    }
    this.#current = next
    this.#use = 'unused'
  }
}
