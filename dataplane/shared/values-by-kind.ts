// Values of the shared state in memory are kept here, so many of each kind: what anybody may cause to be written (states
// of logins) takes no room from what those who are logged in depend on (refresh tokens).

export interface HeldValue {
  readonly value: string
  /** Unix seconds. */
  readonly until: number
}

/** What stands before the first colon of a key. */
const QUOTAS: ReadonlyMap<string, number> = new Map([
  // 300 logins a second for as long as a state lasts; some 40 MB.
  ['oidc-state', 200_000],
  ['oidc-jti', 50_000],
  ['refresh', 500_000],
])
/** Of all other kinds together. */
const OTHERS = ''
const QUOTA_OF_OTHERS = 50_000
/** A look through all that is held takes some milliseconds. */
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

  /** Whether the key is held, or its kind has room: what has expired makes room, looked for once a second. */
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
