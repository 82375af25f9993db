// Keeps the latest decisions of a process within bounds of bytes and time. When it is full, the oldest decision of
// the largest share goes, so that no document and no cause displaces all others.

import type { GatewayErrorCode } from '../gateway-error.ts'

/** What a decision counts as where they share their room: a closed set, so that a document has few of them. */
export type DecisionCause = GatewayErrorCode | 'success' | 'client' | '4xx' | '5xx'

export interface StoredDecision {
  readonly id: string
  /** The document's id; `''` where none served the request. */
  readonly document: string
  readonly cause: DecisionCause
  /** Unix time, milliseconds. */
  readonly endedMs: number
  /** A `Decision` as JSON. */
  readonly text: string
}

/** Which of the failures are wanted. */
export interface FailureQuery {
  /** Text that they have somewhere, whatever its case; empty: all. */
  readonly match: string
  /** Only those that ended before this time, Unix milliseconds; undefined: the latest. */
  readonly beforeMs: number | undefined
  readonly limit: number
}

export interface KeptFailure {
  readonly endedMs: number
  /** A `Decision` as JSON. */
  readonly text: string
}

export interface DecisionRingOptions {
  readonly maxBytes: number
  readonly maxAgeMs: number
  /** Monotonic, milliseconds. */
  readonly now: () => number
}

/** Most decisions with one id that are returned. @internal exported for tests */
export const MOST_FOUND = 16

/** Most failures of a page, however many ended in one millisecond. */
const MOST_OF_PAGE = 400

/** What V8 takes for an entry beside its texts, and for the share of a document with its causes. */
const ENTRY_BYTES = 160
const SHARE_BYTES = 1024

interface Entry {
  readonly stored: StoredDecision
  readonly addedMs: number
  readonly bytes: number
  readonly share: Share
  older: Entry | undefined
  newer: Entry | undefined
  /** The next one of the same share and cause. */
  newerOfCause: Entry | undefined
}

/** The decisions of one cause, the oldest first. */
interface CauseQueue {
  bytes: number
  oldest: Entry
  newest: Entry
}

/** What one document has. */
interface Share {
  readonly document: string
  bytes: number
  readonly causes: Map<DecisionCause, CauseQueue>
}

/**
 * Adding costs O(1), whatever is kept; finding looks at all, as it is rare and an index would cost memory.
 * @example new DecisionRing({ maxBytes: 4 * 1024 * 1024, maxAgeMs: 900_000, now: () => performance.now() })
 */
export class DecisionRing {
  readonly #options: DecisionRingOptions
  readonly #shares = new Map<string, Share>()
  /** Shares by the number of binary digits of their size: the largest is found without a search, within a factor of two. */
  readonly #bySize: (Set<Share> | undefined)[] = []
  #oldest: Entry | undefined
  #newest: Entry | undefined
  #bytes = 0
  #size = 0

  constructor(options: DecisionRingOptions) {
    this.#options = options
  }

  /** As counted against the bound. */
  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#size
  }

  add(stored: StoredDecision): void {
    this.#expire()
    const bytes = sizeOf(stored)
    if (bytes + SHARE_BYTES > this.#options.maxBytes) return
    const share = this.#shareOf(stored.document)
    const entry: Entry = {
      stored,
      addedMs: this.#options.now(),
      bytes,
      share,
      older: this.#newest,
      newer: undefined,
      newerOfCause: undefined,
    }
    if (this.#newest === undefined) this.#oldest = entry
    else this.#newest.newer = entry
    this.#newest = entry
    this.#size++
    appendToCause(share, entry)
    this.#resize(share, bytes)
    while (this.#bytes > this.#options.maxBytes) this.#remove(this.#oldestOfLargest())
  }

  /** The texts of those with this id, the newest first, `MOST_FOUND` at most: proxies may send one id several times. */
  find(id: string): readonly string[] {
    this.#expire()
    const found: string[] = []
    for (let entry = this.#newest; entry !== undefined; entry = entry.older) {
      if (entry.stored.id !== id) continue
      found.push(entry.stored.text)
      if (found.length === MOST_FOUND) break
    }
    return found
  }

  /**
   * Failures, the newest first: at most `limit`, and as many more of the same millisecond as the last one, so that the
   * next page may begin before it.
   */
  failures({ match, beforeMs = Infinity, limit }: FailureQuery): readonly KeptFailure[] {
    this.#expire()
    const wanted = match.toLowerCase()
    const found: KeptFailure[] = []
    for (let entry = this.#newest; entry !== undefined; entry = entry.older) {
      const { cause, endedMs, text } = entry.stored
      if (cause === 'success' || endedMs >= beforeMs) continue
      const last = found.at(-1)
      if (last !== undefined && found.length >= limit && endedMs < last.endedMs) break
      if (found.length === MOST_OF_PAGE) break
      if (wanted === '' || text.toLowerCase().includes(wanted)) found.push({ endedMs, text })
    }
    return found
  }

  /** Those that are too old are the first of their causes too, as every list is in order of time. */
  #expire(): void {
    const { now, maxAgeMs } = this.#options
    const since = now() - maxAgeMs
    while (this.#oldest !== undefined && this.#oldest.addedMs < since) this.#remove(this.#oldest)
  }

  #shareOf(document: string): Share {
    const known = this.#shares.get(document)
    if (known !== undefined) return known
    const share: Share = { document, bytes: 0, causes: new Map() }
    this.#shares.set(document, share)
    this.#resize(share, SHARE_BYTES)
    return share
  }

  #oldestOfLargest(): Entry {
    const share = this.#bySize.findLast((shares) => shares !== undefined && shares.size > 0)
    const [largest] = share ?? []
    let queue: CauseQueue | undefined
    for (const each of largest?.causes.values() ?? [])
      if (queue === undefined || each.bytes > queue.bytes) queue = each
    if (queue === undefined) throw new TypeError('a ring that is full has a largest share')
    return queue.oldest
  }

  /** @param entry the oldest of its share and cause */
  #remove(entry: Entry): void {
    const { older, newer, share, bytes } = entry
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    this.#size--
    removeFromCause(share, entry)
    if (share.causes.size > 0) {
      this.#resize(share, -bytes)
      return
    }
    this.#resize(share, -share.bytes)
    this.#shares.delete(share.document)
  }

  #resize(share: Share, by: number): void {
    const before = digitsOf(share.bytes)
    share.bytes += by
    this.#bytes += by
    const after = digitsOf(share.bytes)
    if (before === after) return
    this.#bySize[before]?.delete(share)
    if (share.bytes > 0) (this.#bySize[after] ??= new Set()).add(share)
  }
}

const digitsOf = (bytes: number): number => 32 - Math.clz32(bytes)

const appendToCause = (share: Share, entry: Entry): void => {
  const { cause } = entry.stored
  const queue = share.causes.get(cause)
  if (queue === undefined) {
    share.causes.set(cause, { bytes: entry.bytes, oldest: entry, newest: entry })
    return
  }
  queue.newest.newerOfCause = entry
  queue.newest = entry
  queue.bytes += entry.bytes
}

const removeFromCause = (share: Share, { stored: { cause }, newerOfCause, bytes }: Entry): void => {
  const queue = share.causes.get(cause)
  if (queue === undefined) return
  queue.bytes -= bytes
  if (newerOfCause === undefined) share.causes.delete(cause)
  else queue.oldest = newerOfCause
}

/** Two bytes for each character, which is what V8 takes for a text with any character beyond Latin-1. */
const sizeOf = ({ id, text }: StoredDecision): number => ENTRY_BYTES + 2 * (id.length + text.length)
