// Caches the key sets of issuers that realms trust (RFC 7517), fetched when they are first needed. While an issuer is
// unreachable its last keys stay valid for a time, and tokens cannot make the gateway fetch often.

import type { JWTVerifyGetKey } from 'jose'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { GuardedFetch } from '../upstream/guarded-fetch.ts'
import { isWithin } from './is-within.ts'

export interface KeySet {
  /** Finds the key of a token; rejects with JWKSNoMatchingKey. */
  readonly keyOf: JWTVerifyGetKey
}

export interface IssuerKeys {
  /** The available keys, fetched if necessary; undefined while there are none. Never rejects. */
  find(uri: string): Promise<KeySet | undefined>
  /** For a token that names a key which `stale` lacks: a newer set, or undefined. Never rejects. */
  findNewer(uri: string, stale: KeySet): Promise<KeySet | undefined>
}

export interface IssuerKeysOptions {
  readonly fetch: GuardedFetch
  /** Unix time in milliseconds. */
  readonly now: () => number
}

const FRESH_MS = 600_000
/** After this time without a response of the issuer its last keys are no longer used. */
const USABLE_MS = 24 * 3_600_000
const NOT_WITHIN_MS = 10_000
const AFTER_FAILURE_MS = 5000
const LIMITS = { timeoutMs: 5000, maxBytes: 1024 * 1024 }
const MAX_KEYS = 200
/** Most addresses at once; the least recently used are dropped. */
const MAX_SETS = 500

interface Source {
  set: KeySet | undefined
  fetchedAt: number
  /** When the last fetch was, and how long no other one follows it. */
  askedAt: number
  pauseMs: number
  /** Whether the last fetch failed. */
  isFailing: boolean
  running: Promise<void> | undefined
}

export const createIssuerKeys = ({ fetch, now }: IssuerKeysOptions): IssuerKeys => {
  const sources = new BoundedMap<string, Source>(MAX_SETS)

  const sourceOf = (uri: string): Source => {
    const source = sources.get(uri) ?? {
      set: undefined,
      fetchedAt: 0,
      askedAt: 0,
      pauseMs: 0,
      isFailing: false,
      running: undefined,
    }
    sources.set(uri, source)
    return source
  }

  const refresh = (uri: string, source: Source): Promise<void> => {
    if (source.running !== undefined) return source.running
    if (isWithin(source.pauseMs, { now: now(), since: source.askedAt })) return Promise.resolve()
    source.running = fetchKeySet(fetch, uri).then((set) => {
      source.running = undefined
      source.isFailing = set === undefined
      source.askedAt = now()
      source.pauseMs = set === undefined ? AFTER_FAILURE_MS : NOT_WITHIN_MS
      if (set === undefined) return
      source.set = set
      source.fetchedAt = now()
    })
    return source.running
  }

  const usable = (source: Source): KeySet | undefined =>
    now() - source.fetchedAt < USABLE_MS ? source.set : undefined

  return {
    find: async (uri) => {
      const source = sourceOf(uri)
      const isFresh = isWithin(FRESH_MS, { now: now(), since: source.fetchedAt })
      if (usable(source) !== undefined && isFresh) return source.set
      const refreshed = refresh(uri, source)
      // With keys available there is no need to wait for an issuer that has just failed to respond.
      if (!source.isFailing || usable(source) === undefined) await refreshed
      return usable(source)
    },
    findNewer: async (uri, stale) => {
      const source = sourceOf(uri)
      if (source.set === stale) await refresh(uri, source)
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

/** A shared secret in a published set is a mistake, and must not be used as a key. */
const isPublicKey = (value: unknown): value is { readonly kty: string } =>
  typeof value === 'object' &&
  value !== null &&
  'kty' in value &&
  typeof value.kty === 'string' &&
  value.kty !== 'oct'
