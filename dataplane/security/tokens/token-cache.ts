// Caches verified tokens by their digest, as long as the realm's record is the same and they have neither expired nor
// been revoked. It contains no tokens and no rejected callers.

import { hash } from 'node:crypto'
import { BoundedMap } from '../../../base/bounded-map.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { IdentityValidity } from '../schemes/authenticator.ts'
import { MAX_TOKEN_LENGTH } from './token-refusal.ts'

export interface Verified<T> extends IdentityValidity {
  readonly value: T
}

export interface TokenCache<T> {
  find(record: RealmRecord, token: string): Verified<T> | undefined
  keep(record: RealmRecord, token: string, verified: Verified<T>): void
}

const MAX_ENTRIES = 10_000

interface Entry<T> {
  /** Represents the record that it was verified against; a reference to the record itself would retain it. */
  readonly era: object
  readonly verified: Verified<T>
}

/** @param now Unix time in milliseconds */
export const createTokenCache = <T>(
  now: () => number,
  maxEntries: number = MAX_ENTRIES,
): TokenCache<T> => {
  const entries = new BoundedMap<string, Entry<T>>(maxEntries)
  const eras = new WeakMap<RealmRecord, object>()

  const eraOf = (record: RealmRecord): object => {
    let era = eras.get(record)
    if (era === undefined) {
      era = {}
      eras.set(record, era)
    }
    return era
  }

  return {
    find(record, token) {
      if (token.length > MAX_TOKEN_LENGTH) return undefined
      const key = keyOf(record, token)
      const entry = entries.use(key)
      if (entry?.era === eraOf(record) && entry.verified.until > now()) return entry.verified
      entries.delete(key)
      return undefined
    },
    keep(record, token, verified) {
      entries.set(keyOf(record, token), { era: eraOf(record), verified })
    },
  }
}

/** An ES256 signature has several spellings: each spelling is a separate entry. */
const keyOf = ({ uri }: RealmRecord, token: string): string =>
  `${hash('sha256', token, 'base64url')} ${uri}`
