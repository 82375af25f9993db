// Defines the state that all processes, and with Redis all replicas, share: what is revoked, what was used, which
// refresh token of a family is the current one, how many logins failed. Every entry expires.

import { CodedError } from '../../base/coded-error.ts'

/**
 * Keys and values are text of at most 2 KiB, what is cached of at most 16 KiB; values never hold a token or a password,
 * only digests, or what their owner has encrypted. The part of a key before its first colon is its kind: in memory each
 * kind of value has a quota of its own.
 */
export interface SharedState {
  /** True for the first caller that takes the key, false for all others until it expires. Atomic across processes. */
  takeOnce(key: string, ttlSeconds: number): Promise<boolean>
  read(key: string): Promise<string | undefined>
  /** Sets `next` if the value is `expected` (undefined: if there is none), else returns false. Atomic. */
  replace(
    key: string,
    expected: string | undefined,
    next: string,
    ttlSeconds: number,
  ): Promise<boolean>
  /** Sets the value, whatever it was. It is never written to disk. False: there is no room. */
  cache(key: string, value: string, ttlSeconds: number): Promise<boolean>
  /** Adds one and returns the count within the window, which starts with the first. */
  increment(key: string, windowSeconds: number): Promise<number>
  /** Resolves when every process of this gateway knows the revocation; other replicas know it moments later. */
  revoke(key: string, untilUnixSeconds: number): Promise<void>
  /** Reads the copy of this process, without waiting. Expired entries are dropped. */
  isRevoked(key: string): boolean
  readonly health: SharedHealth
  /** Calls the listener when `health` has changed. */
  onHealth(listener: () => void): void
  close(): Promise<void>
}

/**
 * `away`: the state can't be reached. Operations reject with a SharedStateError, and the copy of revocations may be out
 * of date: what depends on it is rejected, unless a setting says otherwise (`--redis-away`).
 */
export type SharedHealth = 'ok' | 'away'

export type SharedStateErrorCode =
  | 'unavailable' // Redis, or the primary process, cannot be reached or cannot do it
  | 'full' // of such values, or of revocations
  | 'not_written' // the journal
  | 'unexpected_reply'

export class SharedStateError extends CodedError<SharedStateErrorCode> {}
