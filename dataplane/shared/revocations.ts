// Keeps in one process which tickets and tokens are revoked: entries are looked up without waiting, and removed when
// what they revoke has expired anyway.

/** More entries than this are rejected: 100 bytes each. */
const MAX_REVOCATIONS = 1_000_000

export class Revocations {
  /** Key → Unix seconds, in the order of arrival. */
  readonly #until = new Map<string, number>()
  /** Unix seconds. */
  readonly #now: () => number

  constructor(nowSeconds: () => number) {
    this.#now = nowSeconds
  }

  /** False: the entry is there already, or has expired. @throws RangeError when there are too many */
  add(key: string, untilUnixSeconds: number): boolean {
    if (untilUnixSeconds <= this.#now() || (this.#until.get(key) ?? 0) >= untilUnixSeconds)
      return false
    if (this.#until.size >= MAX_REVOCATIONS) this.sweep()
    if (this.#until.size >= MAX_REVOCATIONS) throw new RangeError('too many revocations are held')
    this.#until.set(key, untilUnixSeconds)
    return true
  }

  has(key: string): boolean {
    const until = this.#until.get(key)
    return until !== undefined && until > this.#now()
  }

  entries(): IterableIterator<[key: string, untilUnixSeconds: number]> {
    return this.#until.entries()
  }

  sweep(): void {
    const now = this.#now()
    for (const [key, until] of this.#until) if (until <= now) this.#until.delete(key)
  }
}
