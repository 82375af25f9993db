// Stores values of the shared state in memory with a quota for each kind, so that what anybody may cause to be
// written (states of logins) takes no room from what logged-in users depend on (refresh tokens).

export interface StoredValue {
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
  // Tokens for upstreams, one of each credential; 30 MB where all are as long as they may be.
  ['upstream-token', 2000],
])
/** The kind of all others together. */
const OTHERS = ''
const QUOTA_OF_OTHERS = 50_000
/** Looking through all values takes some milliseconds. */
const SWEEP_NOT_WITHIN_SECONDS = 1

interface KindValues {
  readonly quota: number
  readonly values: Map<string, StoredValue>
  sweptAt: number
}

export class ValuesByKind {
  readonly #valuesByKind = new Map<string, KindValues>()

  get(key: string): StoredValue | undefined {
    return this.#valuesOf(key).values.get(key)
  }

  set(key: string, stored: StoredValue): void {
    this.#valuesOf(key).values.set(key, stored)
  }

  delete(key: string): void {
    this.#valuesOf(key).values.delete(key)
  }

  /**
   * Whether the key is there, or its kind has room. Expired values make room; they are looked for at most once a
   * second.
   */
  hasRoomFor(key: string, nowSeconds: number): boolean {
    const kindValues = this.#valuesOf(key)
    const isFull = (): boolean => kindValues.values.size >= kindValues.quota
    if (!isFull() || kindValues.values.has(key)) return true
    if (Math.abs(nowSeconds - kindValues.sweptAt) < SWEEP_NOT_WITHIN_SECONDS) return false
    sweep(kindValues, nowSeconds)
    return !isFull()
  }

  sweep(nowSeconds: number): void {
    for (const kindValues of this.#valuesByKind.values()) sweep(kindValues, nowSeconds)
  }

  #valuesOf(key: string): KindValues {
    const colon = key.indexOf(':')
    const named = colon < 0 ? OTHERS : key.slice(0, colon)
    const quota = QUOTAS.get(named)
    const kind = quota === undefined ? OTHERS : named
    const known = this.#valuesByKind.get(kind)
    if (known !== undefined) return known
    const kindValues = { quota: quota ?? QUOTA_OF_OTHERS, values: new Map(), sweptAt: -Infinity }
    this.#valuesByKind.set(kind, kindValues)
    return kindValues
  }
}

const sweep = (kindValues: KindValues, nowSeconds: number): void => {
  kindValues.sweptAt = nowSeconds
  for (const [key, { until }] of kindValues.values)
    if (until <= nowSeconds) kindValues.values.delete(key)
}
