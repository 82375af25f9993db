// The door to what all processes, and with Redis all replicas, know together: what is revoked, what was used,
// which refresh token of a family is the current one, how often somebody failed. Every entry has an end.

/**
 * Keys and values are text of at most 2 KiB; values never hold a token or a password, only digests. What stands before the
 * first colon of a key is its kind: in memory each kind of value has room of its own.
 */
export interface SharedState {
  /** True for the first to take the key, false for everyone else until it expires. Atomic everywhere. */
  takeOnce(key: string, ttlSeconds: number): Promise<boolean>
  read(key: string): Promise<string | undefined>
  /** Sets `next` where `expected` stands (undefined: where nothing stands); false if something else does. Atomic. */
  replace(
    key: string,
    expected: string | undefined,
    next: string,
    ttlSeconds: number,
  ): Promise<boolean>
  /** Adds one; how many there are now within the window, which starts with the first. */
  increment(key: string, windowSeconds: number): Promise<number>
  /** Every process of this gateway knows it once this resolves; other replicas within moments. */
  revoke(key: string, untilUnixSeconds: number): Promise<void>
  /** This process' own copy: no waiting. Expired ones are forgotten. */
  isRevoked(key: string): boolean
  readonly health: SharedHealth
  /** `health` has changed. */
  onHealth(listener: () => void): void
  close(): Promise<void>
}

/**
 * `away`: the home can't be reached. Operations reject with SharedStateAway, and the copy of revocations may be
 * old: whoever relies on it refuses, unless the gateway was told otherwise (`--redis-away`).
 */
export type SharedHealth = 'ok' | 'away'

export class SharedStateAway extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'SharedStateAway'
  }
}
