// Holds the shared state of one process, or of the primary for its workers: maps in memory, and a journal on disk
// where there is a state directory, so that what is revoked or used stays so over a restart.

import { BoundedMap } from '../../base/bounded-map.ts'
import { Revocations } from './revocations.ts'
import { messageOf } from '../../base/thrown.ts'
import { SharedStateError, type SharedHealth, type SharedState } from './shared-state.ts'
import { type StoredValue, ValuesByKind } from './values-by-kind.ts'

/** One entry that must outlive the process. Times are Unix seconds. */
export type JournalEntry =
  | { readonly kind: 'value'; readonly key: string; readonly value: string; readonly until: number }
  | { readonly kind: 'revoked'; readonly key: string; readonly until: number }

export interface Journal {
  /** Resolves when the entry would survive a crash. */
  append(entry: JournalEntry): Promise<void>
  close(): Promise<void>
}

export interface MemoryStateOptions {
  /** Unix time, milliseconds. */
  readonly now: () => number
  readonly journal?: Journal
  /** The entries of the journal at the start. */
  readonly restored?: readonly JournalEntry[]
}

/** Most counts of failures at once; those whose last failure is oldest are dropped. */
const MAX_COUNTS = 100_000
const SWEEP_EVERY_MS = 60_000

export class MemoryState implements SharedState {
  readonly health: SharedHealth = 'ok'
  readonly #options: MemoryStateOptions
  readonly #values = new ValuesByKind()
  readonly #counts = new BoundedMap<string, { count: number; readonly until: number }>(MAX_COUNTS)
  readonly #revocations: Revocations
  /** Revocations that are not in the journal yet: written when they are requested again, and tried each minute. */
  readonly #unwritten = new Map<string, number>()
  readonly #timer: NodeJS.Timeout

  constructor(options: MemoryStateOptions) {
    this.#options = options
    this.#revocations = new Revocations(() => this.#nowSeconds())
    for (const entry of options.restored ?? []) this.#restore(entry)
    this.#timer = setInterval(() => {
      this.#sweep()
    }, SWEEP_EVERY_MS)
    this.#timer.unref()
  }

  async takeOnce(key: string, ttlSeconds: number): Promise<boolean> {
    return this.replace(key, undefined, '1', ttlSeconds)
  }

  read(key: string): Promise<string | undefined> {
    return Promise.resolve(this.#live(key)?.value)
  }

  /** Decides before it awaits anything, so that of two callers in one tick only one wins. */
  async replace(
    key: string,
    expected: string | undefined,
    next: string,
    ttlSeconds: number,
  ): Promise<boolean> {
    if (this.#live(key)?.value !== expected) return false
    if (!this.#values.hasRoomFor(key, this.#nowSeconds()))
      throw new SharedStateError('full', 'Too many values of that kind are stored')
    const before = this.#values.get(key)
    const stored: StoredValue = { value: next, until: this.#nowSeconds() + ttlSeconds }
    this.#values.set(key, stored)
    try {
      await this.#keep({ kind: 'value', key, ...stored })
    } catch (error) {
      // It was not stored: another attempt must not look like a second use.
      if (this.#values.get(key) === stored) this.#putBack(key, before)
      throw error
    }
    return true
  }

  #putBack(key: string, before: StoredValue | undefined): void {
    if (before === undefined) this.#values.delete(key)
    else this.#values.set(key, before)
  }

  cache(key: string, value: string, ttlSeconds: number): Promise<boolean> {
    const now = this.#nowSeconds()
    const hasRoom = this.#values.hasRoomFor(key, now)
    if (hasRoom) this.#values.set(key, { value, until: now + ttlSeconds })
    return Promise.resolve(hasRoom)
  }

  increment(key: string, windowSeconds: number): Promise<number> {
    const now = this.#nowSeconds()
    const known = this.#counts.use(key)
    if (known !== undefined && known.until > now) return Promise.resolve(++known.count)
    this.#counts.set(key, { count: 1, until: now + windowSeconds })
    return Promise.resolve(1)
  }

  async revoke(key: string, untilUnixSeconds: number): Promise<void> {
    if (!this.#add(key, untilUnixSeconds) && !this.#unwritten.has(key)) return
    await this.#write(key, untilUnixSeconds)
  }

  isRevoked(key: string): boolean {
    return this.#revocations.has(key)
  }

  /** All revocations, for a process that starts. */
  revoked(): readonly (readonly [key: string, untilUnixSeconds: number])[] {
    this.#revocations.sweep()
    return [...this.#revocations.entries()]
  }

  onHealth(): void {
    // Memory is always available.
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#options.journal?.close()
  }

  async #write(key: string, until: number): Promise<void> {
    this.#unwritten.set(key, until)
    await this.#keep({ kind: 'revoked', key, until })
    this.#unwritten.delete(key)
  }

  async #keep(entry: JournalEntry): Promise<void> {
    try {
      await this.#options.journal?.append(entry)
    } catch (cause) {
      throw new SharedStateError(
        'not_written',
        `The journal can not be written: ${messageOf(cause)}`,
        {
          cause,
        },
      )
    }
  }

  #add(key: string, until: number): boolean {
    try {
      return this.#revocations.add(key, until)
    } catch (cause) {
      throw new SharedStateError('full', 'Too many revocations are stored', { cause })
    }
  }

  #restore(entry: JournalEntry): void {
    if (entry.until <= this.#nowSeconds()) return
    if (entry.kind === 'revoked') this.#add(entry.key, entry.until)
    else this.#values.set(entry.key, { value: entry.value, until: entry.until })
  }

  #live(key: string): StoredValue | undefined {
    const stored = this.#values.get(key)
    return stored !== undefined && stored.until > this.#nowSeconds() ? stored : undefined
  }

  #sweep(): void {
    const now = this.#nowSeconds()
    this.#values.sweep(now)
    for (const [key, { until }] of this.#counts) if (until <= now) this.#counts.delete(key)
    this.#revocations.sweep()
    for (const [key, until] of this.#unwritten) {
      if (!this.#revocations.has(key)) this.#unwritten.delete(key)
      else this.#write(key, until).catch(() => undefined)
    }
  }

  #nowSeconds(): number {
    return this.#options.now() / 1000
  }
}
