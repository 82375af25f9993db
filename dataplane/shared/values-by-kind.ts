// Stores values of the shared state in memory with a quota for each kind, so that what anybody may cause to be
// written (states of logins) takes no room from what logged-in users depend on (refresh tokens); and of a kind that its
// owners fill by themselves, for each owner.

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
  // Deliveries that were taken; 40 MB.
  ['signed', 200_000],
])
/** Quotas of one owner, whom the second part of a key names. */
const QUOTA_OF_OWNER: ReadonlyMap<string, number> = new Map([['signed', 50_000]])
/** An owner may always have so many, whatever others have. */
const RESERVED = 1000
/** The kind of all others together. */
const OTHERS = ''
const QUOTA_OF_OTHERS = 50_000
/** Looking through all values takes some milliseconds. */
const SWEEP_NOT_WITHIN_SECONDS = 1

/** The values of a kind, or of one owner of a kind. */
interface KindValues {
  readonly name: string
  readonly quota: number
  readonly kind: { readonly quota: number; size: number }
  readonly values: Map<string, StoredValue>
  sweptAt: number
}

export class ValuesByKind {
  readonly #valuesByKind = new Map<string, KindValues>()
  readonly #kinds = new Map<string, KindValues['kind']>()

  get(key: string): StoredValue | undefined {
    return this.#valuesOf(key).values.get(key)
  }

  set(key: string, stored: StoredValue): void {
    const { values, kind } = this.#valuesOf(key)
    if (!values.has(key)) kind.size++
    values.set(key, stored)
  }

  delete(key: string): void {
    const { values, kind } = this.#valuesOf(key)
    if (values.delete(key)) kind.size--
  }

  /**
   * Whether the key is there, or its kind has room. Expired values make room; they are looked for at most once a
   * second.
   */
  hasRoomFor(key: string, nowSeconds: number): boolean {
    const kindValues = this.#valuesOf(key)
    const isFull = (): boolean => {
      const { values, quota, kind } = kindValues
      return values.size >= quota || (kind.size >= kind.quota && values.size >= RESERVED)
    }
    if (!isFull() || kindValues.values.has(key)) return true
    if (Math.abs(nowSeconds - kindValues.sweptAt) < SWEEP_NOT_WITHIN_SECONDS) return false
    sweep(kindValues, nowSeconds)
    return !isFull()
  }

  sweep(nowSeconds: number): void {
    for (const kindValues of this.#valuesByKind.values()) {
      sweep(kindValues, nowSeconds)
      if (kindValues.values.size === 0) this.#valuesByKind.delete(kindValues.name)
    }
  }

  #valuesOf(key: string): KindValues {
    const [first = '', second = ''] = key.split(':', 2)
    const kindName = key.includes(':') && QUOTAS.has(first) ? first : OTHERS
    const ofOwner = QUOTA_OF_OWNER.get(kindName)
    const name = ofOwner === undefined ? kindName : `${kindName}:${second}`
    const known = this.#valuesByKind.get(name)
    if (known !== undefined) return known
    const kind = this.#kindOf(kindName)
    const quota = ofOwner ?? kind.quota
    const kindValues = { name, quota, kind, values: new Map(), sweptAt: -Infinity }
    this.#valuesByKind.set(name, kindValues)
    return kindValues
  }

  #kindOf(name: string): KindValues['kind'] {
    const known = this.#kinds.get(name)
    if (known !== undefined) return known
    const kind = { quota: QUOTAS.get(name) ?? QUOTA_OF_OTHERS, size: 0 }
    this.#kinds.set(name, kind)
    return kind
  }
}

const sweep = (kindValues: KindValues, nowSeconds: number): void => {
  kindValues.sweptAt = nowSeconds
  for (const [key, { until }] of kindValues.values)
    if (until <= nowSeconds && kindValues.values.delete(key)) kindValues.kind.size--
}
