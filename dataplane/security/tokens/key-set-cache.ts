// Caches the public keys that somebody publishes at an address (RFC 7517). They are downloaded once for all who
// need them, again when a key is unknown, and not more often than a publisher can bear. jose's createRemoteJWKSet
// would do some of it: it has no clock of ours, forgets its keys while the publisher is away, asks one that fails
// at every token, takes any number of keys, and does not say what the publisher answered.

import { parseJson } from '../../../base/parse-json.ts'
import type { JSONWebKeySet, JWK, JWTVerifyGetKey } from 'jose'
import type { GuardedFetch } from '../../upstream/destinations/guarded-fetch.ts'
import { isWithin } from '../is-within.ts'

export interface KeySet {
  readonly jwks: JSONWebKeySet
  /** Finds the key of a token; rejects with JWKSNoMatchingKey. */
  readonly keyOf: JWTVerifyGetKey
}

/** `keySet` where the publisher gave one, else what it answered instead. */
export interface KeySetResponse {
  readonly keySet?: KeySet
  readonly status: number
}

export interface KeySetLifetimes {
  /** A key that was replaced under its old name is noticed after this time. */
  readonly freshMs: number
  /** A publisher that is away this long is not trusted on what it said before. */
  readonly usableMs: number
  /** It is not asked again for so long after it gave no key set. */
  readonly afterFailureMs: number
}

export interface KeySetCacheOptions extends KeySetLifetimes {
  /** Rejects when there is no response; never called twice at a time. */
  readonly download: () => Promise<Response>
  /** Unix time in milliseconds. */
  readonly now: () => number
}

const AFTER_SUCCESS_MS = 10_000
const LIMITS = { timeoutMs: 5000, maxBytes: 1024 * 1024 }
const MAX_KEYS = 200

/**
 * The key set as it is published now.
 * @param ca PEM of more CAs for this publisher alone
 */
export const downloadKeySet = (
  fetch: GuardedFetch,
  url: string,
  ca: string | undefined,
): Promise<Response> =>
  fetch(
    url,
    { headers: { accept: 'application/json, application/jwk-set+json' } },
    { ...LIMITS, ...(ca !== undefined && { ca }) },
  )

interface Download {
  readonly response: Promise<KeySetResponse>
  readonly endedAt: number
  readonly isSuccess: boolean
}

/** @example const key = await new KeySetCache(options).find() */
export class KeySetCache {
  readonly #options: KeySetCacheOptions
  #known: { readonly keySet: KeySet; readonly since: number } | undefined
  #last: Download | undefined
  #running: Promise<KeySetResponse> | undefined

  constructor(options: KeySetCacheOptions) {
    this.#options = options
  }

  /** The keys in the cache, if they are fresh. Downloads nothing. */
  cached(): KeySet | undefined {
    const { now, freshMs } = this.#options
    const isFresh =
      this.#known !== undefined && isWithin(freshMs, { now: now(), since: this.#known.since })
    return isFresh ? this.#known?.keySet : undefined
  }

  /** The keys, downloaded if necessary; undefined if there are none. Never rejects. */
  async find(): Promise<KeySet | undefined> {
    const cached = this.cached()
    if (cached !== undefined) return cached
    const isFailing = this.#last?.isSuccess === false
    const refreshed = this.#tryRefresh()
    // A caller that can be given keys does not wait for a publisher that has just failed to answer.
    if (!isFailing || this.#usable() === undefined) await refreshed
    return this.#usable()
  }

  /** A token names a key that `stale` lacks: a newer set, or undefined. Never rejects. */
  async findNewer(stale: KeySet): Promise<KeySet | undefined> {
    if (this.#known?.keySet === stale) await this.#tryRefresh()
    const keySet = this.#usable()
    return keySet === stale ? undefined : keySet
  }

  /** What the publisher says now, or said just now. Rejects where it gave no response. */
  refresh(): Promise<KeySetResponse> {
    if (this.#running !== undefined) return this.#running
    const { now, afterFailureMs } = this.#options
    const last = this.#last
    if (last !== undefined) {
      const waitMs = last.isSuccess ? AFTER_SUCCESS_MS : afterFailureMs
      if (isWithin(waitMs, { now: now(), since: last.endedAt })) return last.response
    }
    const response = this.#download()
    this.#running = response
    const end = (isSuccess: boolean): void => {
      this.#running = undefined
      this.#last = { response, endedAt: now(), isSuccess }
    }
    response.then(
      ({ keySet }) => {
        end(keySet !== undefined)
      },
      () => {
        end(false)
      },
    )
    return response
  }

  async #tryRefresh(): Promise<void> {
    await this.refresh().catch(() => undefined)
  }

  #usable(): KeySet | undefined {
    const { now, usableMs } = this.#options
    return this.#known !== undefined && now() - this.#known.since < usableMs
      ? this.#known.keySet
      : undefined
  }

  async #download(): Promise<KeySetResponse> {
    const response = await this.#options.download()
    const keySet = response.status === 200 ? await readKeySet(response) : undefined
    if (keySet === undefined) return { status: response.status }
    this.#known = { keySet, since: this.#options.now() }
    return { keySet, status: 200 }
  }
}

/** undefined for what is no key set. */
const readKeySet = async (response: Response): Promise<KeySet | undefined> => {
  try {
    const body: unknown = parseJson(await response.text())
    if (typeof body !== 'object' || body === null || !('keys' in body)) return undefined
    const { keys } = body
    if (!Array.isArray(keys) || keys.length > MAX_KEYS) return undefined
    const { createLocalJWKSet } = await import('jose')
    const jwks = { keys: keys.filter(isPublicKey) }
    return { jwks, keyOf: createLocalJWKSet(jwks) }
  } catch {
    return undefined
  }
}

/** What is no key is ignored (RFC 7517 §5); a shared secret that somebody has published must not become one. */
const isPublicKey = (value: unknown): value is JWK & { readonly kty: string } =>
  typeof value === 'object' &&
  value !== null &&
  'kty' in value &&
  typeof value.kty === 'string' &&
  value.kty !== 'oct'
