// Key sets of issuers that realms trust (RFC 7517): an address in, keys out. Fetched when first needed and kept;
// an issuer that is away does not end what it has signed, and nobody's tokens make us ask it often.

import type { JWTVerifyGetKey } from 'jose'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { singleFlight } from '../../../base/single-flight.ts'
import type { GuardedFetch } from '../../upstream/destinations/guarded-fetch.ts'
import { isWithin } from '../is-within.ts'

export interface KeySet {
  /** Finds the key of a token; rejects with JWKSNoMatchingKey. */
  readonly keyOf: JWTVerifyGetKey
}

export interface IssuerKeys {
  /** Those at hand, fetched if need be; undefined while there are none. Never rejects. */
  find(uri: string): Promise<KeySet | undefined>
  /** A token names a key that `stale` lacks: a newer set, or undefined. Never rejects. */
  findNewer(uri: string, stale: KeySet): Promise<KeySet | undefined>
}

export interface IssuerKeysOptions {
  readonly fetch: GuardedFetch
  /** Unix time in milliseconds. */
  readonly now: () => number
}

const FRESH_MS = 600_000
/** An issuer that is away this long is not trusted on what it said before. */
const USABLE_MS = 24 * 3_600_000
const NOT_WITHIN_MS = 10_000
const AFTER_FAILURE_MS = 5000
const LIMITS = { timeoutMs: 5000, maxBytes: 1024 * 1024 }
const MAX_KEYS = 200
/** Addresses at once; those not asked for longest are forgotten. */
const MAX_SETS = 500

interface Source {
  set: KeySet | undefined
  fetchedAt: number
  /** Of the last question, and how long none follows it. */
  askedAt: number
  pauseMs: number
  /** The last question had no answer. */
  isFailing: boolean
  /** Never rejects. */
  readonly refresh: () => Promise<void>
}

export const createIssuerKeys = ({ fetch, now }: IssuerKeysOptions): IssuerKeys => {
  const sources = new BoundedMap<string, Source>(MAX_SETS)

  const sourceOf = (uri: string): Source => {
    const source = sources.get(uri) ?? createSource(uri)
    sources.set(uri, source)
    return source
  }

  const createSource = (uri: string): Source => {
    const refresh = singleFlight(() => refreshSource(uri, source))
    const source: Source = {
      set: undefined,
      fetchedAt: 0,
      askedAt: 0,
      pauseMs: 0,
      isFailing: false,
      refresh,
    }
    return source
  }

  const refreshSource = async (uri: string, source: Source): Promise<void> => {
    if (isWithin(source.pauseMs, { now: now(), since: source.askedAt })) return
    const set = await fetchKeySet(fetch, uri)
    source.isFailing = set === undefined
    source.askedAt = now()
    source.pauseMs = set === undefined ? AFTER_FAILURE_MS : NOT_WITHIN_MS
    if (set === undefined) return
    source.set = set
    source.fetchedAt = now()
  }

  const usable = (source: Source): KeySet | undefined =>
    now() - source.fetchedAt < USABLE_MS ? source.set : undefined

  return {
    find: async (uri) => {
      const source = sourceOf(uri)
      const isFresh = isWithin(FRESH_MS, { now: now(), since: source.fetchedAt })
      if (usable(source) !== undefined && isFresh) return source.set
      const refreshed = source.refresh()
      // Whoever has keys does not wait again for an issuer that has just failed to answer.
      if (!source.isFailing || usable(source) === undefined) await refreshed
      return usable(source)
    },
    findNewer: async (uri, stale) => {
      const source = sourceOf(uri)
      if (source.set === stale) await source.refresh()
      const set = usable(source)
      return set === stale ? undefined : set
    },
  }
}

/** undefined for anything but 200 with a key set. */
const fetchKeySet = async (fetch: GuardedFetch, uri: string): Promise<KeySet | undefined> => {
  try {
    const answer = await fetch(uri, { headers: { accept: 'application/json' } }, LIMITS)
    if (answer.status !== 200) return undefined
    const body = (await answer.json()) as { readonly keys?: unknown } | null
    const keys = body?.keys
    if (!Array.isArray(keys) || keys.length > MAX_KEYS) return undefined
    const { createLocalJWKSet } = await import('jose')
    return { keyOf: createLocalJWKSet({ keys: keys.filter(isPublicKey) }) }
  } catch {
    return undefined
  }
}

/** A shared secret in a published set is a mistake that must not become a key. */
const isPublicKey = (value: unknown): value is { readonly kty: string } =>
  typeof value === 'object' &&
  value !== null &&
  'kty' in value &&
  typeof value.kty === 'string' &&
  value.kty !== 'oct'
