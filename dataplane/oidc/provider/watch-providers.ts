// Finds the providers of the realms whose discovery fails, and reports them when they are others than before. It looks
// every ten seconds, and reports a bounded number, at most every half minute.

import type { FailingProvider } from '../../../language/wire/wire.ts'
import type { OidcProviderRecord, RealmRecord } from '../../../language/realm/record.ts'
import type { ProviderRegistry } from './provider-registry.ts'

/** A provider of one realm. */
export interface RealmProvider extends FailingProvider {
  readonly realmUri: string
}

export interface ProviderWatchOptions {
  readonly providers: Pick<ProviderRegistry, 'failureOf' | 'hasFailures'>
  readonly realms: () => Iterable<RealmRecord>
  /** Called with all that fail when they are others than before. */
  readonly report: (failing: readonly RealmProvider[]) => void
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** Calls back repeatedly. */
  readonly every: (ms: number, look: () => void) => void
}

const INTERVAL_MS = 10_000
/** Between two reports, as an operator reads the whole state again after each change. */
const REST_MS = 30_000
const MOST_PROVIDERS = 200

/** @example watchProviders({ providers, realms: () => realms.values(), report, now: Date.now, every }) */
export const watchProviders = (options: ProviderWatchOptions): void => {
  const { report, now, every } = options
  let reported = '[]'
  let reportedAtMs = -Infinity
  every(INTERVAL_MS, () => {
    if (Math.abs(now() - reportedAtMs) < REST_MS) return
    const failing = failingIn(options)
    const text = JSON.stringify(failing)
    if (text === reported) return
    reported = text
    reportedAtMs = now()
    report(failing)
  })
}

const failingIn = ({ providers, realms }: ProviderWatchOptions): readonly RealmProvider[] => {
  const failing: RealmProvider[] = []
  if (!providers.hasFailures) return failing
  for (const realm of realms()) {
    for (const [provider, record] of providersOf(realm)) {
      const failure = providers.failureOf(record)
      if (failure !== undefined) failing.push({ realmUri: realm.uri, provider, ...failure })
      if (failing.length === MOST_PROVIDERS) return failing
    }
  }
  return failing
}

const providersOf = ({ info }: RealmRecord): readonly [string, OidcProviderRecord][] =>
  Object.entries(info?.oidc_providers ?? {})
