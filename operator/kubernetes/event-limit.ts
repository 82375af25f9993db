// How often an object is told of in; whether it may be told of now out. Forgets objects that nothing happens to, so
// that it stays small. Time comes in.

interface Bucket {
  tokens: number
  atMs: number
}

const BURST = 5
const REFILL_MS = 5 * 60_000
const MAX_OBJECTS = 4096

/** Five at once for each object, then one in five minutes. */
export class EventLimit {
  readonly #buckets = new Map<string, Bucket>()

  take(object: string, nowMs: number): boolean {
    const bucket = this.#refilled(object, nowMs)
    // Last used, last forgotten.
    this.#buckets.delete(object)
    this.#buckets.set(object, bucket)
    this.#forgetOldest()
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }

  #refilled(object: string, nowMs: number): Bucket {
    const { tokens, atMs } = this.#buckets.get(object) ?? { tokens: BURST, atMs: nowMs }
    const gained = Math.max(0, nowMs - atMs) / REFILL_MS
    return { tokens: Math.min(BURST, tokens + gained), atMs: nowMs }
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > MAX_OBJECTS && oldest !== undefined) this.#buckets.delete(oldest)
  }
}
