// Stores values of the shared state in memory with a quota for each kind, so that what anybody may cause to be
// written (states of logins) takes no room from what logged-in users depend on (refresh tokens).

export interface HeldValue {
  readonly value: string
  /** Unix seconds. */
  readonly until: number
}

/** Quotas by the part of a key before its first colon. */
const QUOTAS: ReadonlyMap<string, number> = new Map([
  // 300 logins a second for the lifetime of a state; about 40 MB.
  ['oidc-state', 200_000],
  ['oidc-jti', 50_000],
  ['refresh', 500_000],
])
/** The kind of all others together. */
const OTHERS = ''
const QUOTA_OF_OTHERS = 50_000
/** Looking through all values takes some milliseconds. */
const SWEEP_NOT_WITHIN_SECONDS = 1

interface Shelf {
  readonly quota: number
  readonly values: Map<string, HeldValue>
  sweptAt: number
}

export class ValuesByKind {
  readonly #shelves = new Map<string, Shelf>()

  get(key: string): HeldValue | undefined {
    return this.#shelfOf(key).values.get(key)
  }

  set(key: string, held: HeldValue): void {
    this.#shelfOf(key).values.set(key, held)
  }

  delete(key: string): void {
    this.#shelfOf(key).values.delete(key)
  }

  /**
   * Whether the key is there, or its kind has room. Expired values make room; they are looked for at most once a
   * second.
   */
  hasRoomFor(key: string, nowSeconds: number): boolean {
    const shelf = this.#shelfOf(key)
    const isFull = (): boolean => shelf.values.size >= shelf.quota
    if (!isFull() || shelf.values.has(key)) return true
    if (Math.abs(nowSeconds - shelf.sweptAt) < SWEEP_NOT_WITHIN_SECONDS) return false
    sweep(shelf, nowSeconds)
    return !isFull()
  }

  sweep(nowSeconds: number): void {
    for (const shelf of this.#shelves.values()) sweep(shelf, nowSeconds)
  }

  #shelfOf(key: string): Shelf {
    const colon = key.indexOf(':')
    const named = colon < 0 ? OTHERS : key.slice(0, colon)
    const quota = QUOTAS.get(named)
    const kind = quota === undefined ? OTHERS : named
    const known = this.#shelves.get(kind)
    if (known !== undefined) return known
    const shelf = { quota: quota ?? QUOTA_OF_OTHERS, values: new Map(), sweptAt: -Infinity }
    this.#shelves.set(kind, shelf)
    return shelf
  }
}

const sweep = (shelf: Shelf, nowSeconds: number): void => {
  shelf.sweptAt = nowSeconds
  for (const [key, { until }] of shelf.values) if (until <= nowSeconds) shelf.values.delete(key)
}
