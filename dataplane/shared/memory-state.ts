// Shared state of one process, or of the primary for its workers: maps in memory, and a journal on disk where
// there is a state directory, so that what is revoked or used stays so over a restart.

import { Revocations } from './revocations.ts'
import { SharedStateAway, type SharedHealth, type SharedState } from './shared-state.ts'

/** One fact that must outlive the process. Times are Unix seconds. */
export type JournalEntry =
  | { readonly kind: 'value'; readonly key: string; readonly value: string; readonly until: number }
  | { readonly kind: 'revoked'; readonly key: string; readonly until: number }

export interface Journal {
  /** Resolves when it would survive a crash. */
  append(entry: JournalEntry): Promise<void>
  close(): Promise<void>
}

export interface MemoryStateOptions {
  /** Unix time, milliseconds. */
  readonly now: () => number
  readonly journal?: Journal
  /** What the journal held at the start. */
  readonly restored?: readonly JournalEntry[]
}

export interface MemoryState extends SharedState {
  /** All that are revoked, for a process that starts. */
  revoked(): readonly (readonly [key: string, untilUnixSeconds: number])[]
}

interface Held {
  readonly value: string
  /** Unix seconds. */
  readonly until: number
}

/** Values at once; whoever comes then is told that the state is away. */
const MAX_VALUES = 500_000
/** Counts of failures at once; the oldest are forgotten. */
const MAX_COUNTS = 100_000
const SWEEP_EVERY_MS = 60_000

export const createMemoryState = (options: MemoryStateOptions): MemoryState => new InMemory(options)

class InMemory implements MemoryState {
  readonly health: SharedHealth = 'ok'
  readonly #options: MemoryStateOptions
  readonly #values = new Map<string, Held>()
  readonly #counts = new Map<string, { count: number; readonly until: number }>()
  readonly #revocations: Revocations
  /** Revoked, but not yet in the journal: asked for again, it is written again. */
  readonly #unwritten = new Set<string>()
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

  /** Decided before anything is awaited: two callers in one turn can't both win. */
  async replace(
    key: string,
    expected: string | undefined,
    next: string,
    ttlSeconds: number,
  ): Promise<boolean> {
    if (this.#live(key)?.value !== expected) return false
    if (!this.#values.has(key) && this.#values.size >= MAX_VALUES) this.#makeRoom()
    const until = this.#nowSeconds() + ttlSeconds
    this.#values.set(key, { value: next, until })
    await this.#options.journal?.append({ kind: 'value', key, value: next, until })
    return true
  }

  increment(key: string, windowSeconds: number): Promise<number> {
    const now = this.#nowSeconds()
    const known = this.#counts.get(key)
    if (known !== undefined && known.until > now) return Promise.resolve(++known.count)
    this.#counts.delete(key)
    this.#counts.set(key, { count: 1, until: now + windowSeconds })
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > MAX_COUNTS && oldest !== undefined) this.#counts.delete(oldest)
    return Promise.resolve(1)
  }

  async revoke(key: string, untilUnixSeconds: number): Promise<void> {
    if (!this.#add(key, untilUnixSeconds) && !this.#unwritten.has(key)) return
    const { journal } = this.#options
    if (journal === undefined) return
    this.#unwritten.add(key)
    await journal.append({ kind: 'revoked', key, until: untilUnixSeconds })
    this.#unwritten.delete(key)
  }

  isRevoked(key: string): boolean {
    return this.#revocations.has(key)
  }

  revoked(): readonly (readonly [key: string, untilUnixSeconds: number])[] {
    this.#revocations.sweep()
    return [...this.#revocations.entries()]
  }

  onHealth(): void {
    // Memory is never away.
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#options.journal?.close()
  }

  #add(key: string, until: number): boolean {
    try {
      return this.#revocations.add(key, until)
    } catch (cause) {
      throw new SharedStateAway('Too many revocations are held', cause)
    }
  }

  #restore(entry: JournalEntry): void {
    if (entry.until <= this.#nowSeconds()) return
    if (entry.kind === 'revoked') this.#add(entry.key, entry.until)
    else this.#values.set(entry.key, { value: entry.value, until: entry.until })
  }

  #live(key: string): Held | undefined {
    const held = this.#values.get(key)
    return held !== undefined && held.until > this.#nowSeconds() ? held : undefined
  }

  #makeRoom(): void {
    this.#sweep()
    if (this.#values.size >= MAX_VALUES)
      throw new SharedStateAway('Too many logins and tokens are being remembered')
  }

  #sweep(): void {
    const now = this.#nowSeconds()
    for (const [key, { until }] of this.#values) if (until <= now) this.#values.delete(key)
    for (const [key, { until }] of this.#counts) if (until <= now) this.#counts.delete(key)
    this.#revocations.sweep()
    for (const key of this.#unwritten) if (!this.#revocations.has(key)) this.#unwritten.delete(key)
  }

  #nowSeconds(): number {
    return this.#options.now() / 1000
  }
}
