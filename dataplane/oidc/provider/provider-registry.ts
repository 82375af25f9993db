// Caches what is known of the providers of realms: metadata and key set, fetched when they are first needed, kept for
// a while, and refreshed in the background. None of it is needed to start.

import { hash } from 'node:crypto'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { singleFlight } from '../../../base/single-flight.ts'
import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import { isWithin } from '../../security/is-within.ts'
import {
  createKeySetCache,
  type KeySetCache,
  type KeySetLifetimes,
} from '../../security/tokens/key-set-cache.ts'
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
  doubt(record: OidcProviderRecord): void
}

export interface RegistryOptions {
  readonly discover: (record: OidcProviderRecord) => Promise<ProviderMetadata>
  /** The key set as the provider has it now. */
  readonly downloadKeySet: (record: OidcProviderRecord, jwksUri: string) => Promise<Response>
  /** Unix time, milliseconds. */
  readonly now: () => number
}

/** After this time metadata is fetched again while requests still use the cached one. */
const FRESH_MS = 3_600_000
/** How long cached metadata is used while the provider cannot be reached. */
const USABLE_MS = 24 * 3_600_000
const REMEMBER_FAILURE_MS = 5000
const DOUBT_EVERY_MS = 10_000
const MAX_PROVIDERS = 1000

/** Nobody can log in while the provider is away, so that its keys are of no use then. */
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
    doubt(record) {
      entries.get(keyOf(record))?.doubt()
    },
  }
}

class ProviderEntry {
  readonly #record: OidcProviderRecord
  readonly #options: RegistryOptions
  #known: (KnownProvider & { readonly since: number }) | undefined
  #failure: { readonly since: number; readonly cause: unknown } | undefined

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

  doubt(): void {
    const since = this.#known?.since
    if (since === undefined || isWithin(DOUBT_EVERY_MS, { now: this.#options.now(), since })) return
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
          : createKeySetCache({
              ...KEY_SET_LIFETIMES,
              download: () => downloadKeySet(this.#record, metadata.jwks_uri),
              now,
            })
      this.#failure = undefined
      this.#known = { metadata, keys, since: now() }
      return this.#known
    } catch (cause) {
      this.#failure = { since: now(), cause }
      throw cause
    }
  }
}

const keyOf = (record: OidcProviderRecord): string =>
  hash('sha256', JSON.stringify(record), 'base64url')
