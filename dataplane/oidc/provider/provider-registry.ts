// Caches what is known of the providers of realms: metadata and key set, fetched when they are first needed, kept for
// a while, and refreshed in the background. None of it is needed to start.

import { hash } from 'node:crypto'
import { backOffMs, type BackOff } from '../../../base/back-off.ts'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { singleFlight } from '../../../base/single-flight.ts'
import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import { isWithin } from '../../security/is-within.ts'
import { KeySetCache, type KeySetLifetimes } from '../../security/tokens/key-set-cache.ts'
import { type DiscoveryFailure, discoveryFailureOf } from './discovery-failure.ts'
import type { ProviderMetadata } from './provider-metadata.ts'

export interface KnownProvider {
  readonly metadata: ProviderMetadata
  readonly keys: KeySetCache
}

export interface ProviderRegistry {
  /** @throws the error of discovery, also a cached one of the last 5 s. */
  find(record: OidcProviderRecord): Promise<KnownProvider>
  /**
   * For a provider that does not behave as its metadata say: fetches them again in the background, at most every 10
   * s.
   */
  invalidate(record: OidcProviderRecord): void
  /**
   * Why discovery has failed for 30 s, without any success; undefined: it has not. Tries again in the background, at
   * most every five minutes, so that a failure does not stay reported until the next login.
   */
  failureOf(record: OidcProviderRecord): DiscoveryFailure | undefined
  /** Whether discovery of any provider has failed last. */
  readonly hasFailures: boolean
}

export interface RegistryOptions {
  readonly discover: (record: OidcProviderRecord) => Promise<ProviderMetadata>
  /** The key set as the provider has it now. */
  readonly downloadKeySet: (record: OidcProviderRecord, jwksUri: string) => Promise<Response>
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** 0 ≤ random < 1 */
  readonly random: () => number
}

/** After this time metadata is fetched again while requests still use the cached one. */
const FRESH_MS = 3_600_000
/** How long cached metadata is used while the provider cannot be reached. */
const USABLE_MS = 24 * 3_600_000
const REMEMBER_FAILURE_MS = 5000
const INVALIDATE_EVERY_MS = 10_000
const MAX_PROVIDERS = 1000
/** Providers restart: what is over sooner is not reported. */
const LASTS_MS = 30_000
const RETRIES: BackOff = { firstMs: 60_000, capMs: 300_000 }

/** Logins are impossible while the provider is away, so its keys need no long lifetime. */
const KEY_SET_LIFETIMES: KeySetLifetimes = {
  freshMs: 300_000,
  usableMs: 300_000,
  afterFailureMs: 0,
}

/** One per process. A changed entry is another provider: its key is a digest of all that it says. */
export const createProviderRegistry = (options: RegistryOptions): ProviderRegistry => {
  const entries = new BoundedMap<string, ProviderEntry>(MAX_PROVIDERS)
  return {
    find(record) {
      const key = keyOf(record)
      const entry = entries.use(key) ?? new ProviderEntry(record, options)
      entries.set(key, entry)
      return entry.find()
    },
    invalidate(record) {
      entries.get(keyOf(record))?.invalidate()
    },
    failureOf: (record) => entries.get(keyOf(record))?.failure(),
    get hasFailures() {
      return [...entries.values()].some((entry) => entry.hasFailed)
    },
  }
}

class ProviderEntry {
  readonly #record: OidcProviderRecord
  readonly #options: RegistryOptions
  #known: (KnownProvider & { readonly since: number }) | undefined
  #failure: Failure | undefined

  constructor(record: OidcProviderRecord, options: RegistryOptions) {
    this.#record = record
    this.#options = options
  }

  async find(): Promise<KnownProvider> {
    const known = this.#known
    const now = this.#options.now()
    if (known === undefined || now - known.since >= USABLE_MS) return this.#discover()
    // The caller is served immediately; a failure is only recorded.
    if (!isWithin(FRESH_MS, { now, since: known.since })) this.#discover().catch(() => undefined)
    return known
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  failure(): DiscoveryFailure | undefined {
    const failure = this.#failure
    if (failure === undefined) return undefined
    const now = this.#options.now()
    if (!isWithin(failure.retryMs, { now, since: failure.since }))
      this.#discover().catch(() => undefined)
    return isWithin(LASTS_MS, { now, since: failure.firstAt })
      ? undefined
      : discoveryFailureOf(failure.cause)
  }

  invalidate(): void {
    const since = this.#known?.since
    if (since === undefined || isWithin(INVALIDATE_EVERY_MS, { now: this.#options.now(), since }))
      return
    this.#discover().catch(() => undefined)
  }

  readonly #discover = singleFlight(async (): Promise<KnownProvider> => {
    const { now } = this.#options
    const failure = this.#failure
    if (
      failure !== undefined &&
      isWithin(REMEMBER_FAILURE_MS, { now: now(), since: failure.since })
    )
      throw failure.cause
    return this.#fetch()
  })

  async #fetch(): Promise<KnownProvider> {
    const { discover, downloadKeySet, now } = this.#options
    try {
      const metadata = await discover(this.#record)
      const isSameKeySet = this.#known?.metadata.jwks_uri === metadata.jwks_uri
      const keys =
        isSameKeySet && this.#known !== undefined
          ? this.#known.keys
          : new KeySetCache({
              ...KEY_SET_LIFETIMES,
              download: () => downloadKeySet(this.#record, metadata.jwks_uri),
              now,
            })
      this.#failure = undefined
      this.#known = { metadata, keys, since: now() }
      return this.#known
    } catch (cause) {
      this.#failure = this.#failureNow(cause)
      throw cause
    }
  }

  #failureNow(cause: unknown): Failure {
    const { now, random } = this.#options
    const since = now()
    const { count, firstAt } = this.#failure ?? { count: 0, firstAt: since }
    const retryMs = backOffMs(count + 1, RETRIES, random())
    return { firstAt, count: count + 1, since, cause, retryMs }
  }
}

/** Discoveries that have failed in a row. */
interface Failure {
  readonly firstAt: number
  readonly count: number
  /** When the last failure was, in milliseconds. */
  readonly since: number
  readonly cause: unknown
  /** Until the next attempt, unless a login comes before. */
  readonly retryMs: number
}

const keyOf = (record: OidcProviderRecord): string =>
  hash('sha256', JSON.stringify(record), 'base64url')
