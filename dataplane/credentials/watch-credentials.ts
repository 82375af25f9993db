// Looks at the credentials of all realms, so that they get ready and what is wrong with them is reported before a request
// fails. It looks every ten seconds, and reports a bounded number, at most every half minute.

import { setImmediate } from 'node:timers/promises'
import { singleFlight } from '../../base/single-flight.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import type { FailingCredential } from '../../language/wire/wire.ts'
import type { CredentialRegistry } from './credential-registry.ts'

/** A credential of one realm. */
export interface RealmCredential extends FailingCredential {
  readonly realmUri: string
}

export interface CredentialWatchOptions {
  readonly credentials: Pick<CredentialRegistry, 'inspect'>
  readonly realms: () => Iterable<RealmRecord>
  /** Called with all that fail when they are others than before. */
  readonly report: (failing: readonly RealmCredential[]) => void
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** Calls back repeatedly. */
  readonly every: (ms: number, look: () => void) => void
}

const LOOKS_MS = 10_000
/** An operator reads all that is loaded again after each change. */
const REST_MS = 30_000
const MOST_CREDENTIALS = 200

/** @example watchCredentials({ credentials, realms: () => realms.values(), report, now: Date.now, every }) */
export const watchCredentials = (options: CredentialWatchOptions): void => {
  const { report, now, every } = options
  let reported = '[]'
  let reportedMs = -Infinity
  const look = singleFlight(async () => {
    const failing = await inspectAll(options)
    const text = JSON.stringify(failing)
    if (text === reported || Math.abs(now() - reportedMs) < REST_MS) return
    reported = text
    reportedMs = now()
    report(failing)
  })
  every(LOOKS_MS, () => void look())
}

/** Each is looked at, as it gets ready by that: reading a certificate with its CAs takes milliseconds. */
const inspectAll = async ({
  credentials,
  realms,
}: CredentialWatchOptions): Promise<readonly RealmCredential[]> => {
  const failing: RealmCredential[] = []
  for (const realm of realms()) {
    if (realm.credentials === undefined) continue
    for (const each of credentials.inspect(realm)) {
      if (each !== undefined && failing.length < MOST_CREDENTIALS)
        failing.push({ realmUri: realm.uri, ...each })
      // Requests are served in between.
      await setImmediate()
    }
  }
  return failing
}
