// Keeps the key sets of issuers that realms trust, by their addresses. An issuer that is away does not end what it
// has signed, and no token makes the gateway fetch them often.

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { GuardedFetch } from '../../upstream/destinations/guarded-fetch.ts'
import { KeySetCache, downloadKeySet, type KeySetLifetimes } from './key-set-cache.ts'

export interface IssuerKeys {
  at(uri: string): KeySetCache
}

export interface IssuerKeysOptions {
  readonly fetch: GuardedFetch
  /** Unix time in milliseconds. */
  readonly now: () => number
}

const LIFETIMES: KeySetLifetimes = {
  freshMs: 600_000,
  usableMs: 24 * 3_600_000,
  afterFailureMs: 5000,
}
/** Addresses at once; those not asked for longest are forgotten. */
const MAX_SETS = 500

export const createIssuerKeys = ({ fetch, now }: IssuerKeysOptions): IssuerKeys => {
  const caches = new BoundedMap<string, KeySetCache>(MAX_SETS)

  const open = (uri: string): KeySetCache =>
    new KeySetCache({
      ...LIFETIMES,
      download: () => downloadKeySet(fetch, uri, undefined),
      now,
    })

  return {
    at: (uri) => {
      const known = caches.use(uri)
      if (known !== undefined) return known
      const cache = open(uri)
      caches.set(uri, cache)
      return cache
    },
  }
}
