// How credentials are read in; the credentials of the moment out, read again before they can be old, one reading at
// a time. Where a reading fails, what was known is used as long as the API server takes it.

import type { Clock } from '../../../base/clock.ts'
import { singleFlight } from '../../../base/single-flight.ts'
import type { ClusterCredentials } from './cluster.ts'

export interface CredentialOptions {
  /** @param isRefused what is cached anywhere is of no use */
  readonly read: (isRefused: boolean) => Promise<ClusterCredentials>
  readonly clock: Clock
}

/** As client-go does; a service account's token lives ten minutes at least and is replaced at 80 % of its time. */
const OLD_AFTER_MS = 60_000
/** A program that asks a cloud for a token is not to be started by every request that is refused. */
const NOT_SOONER_MS = 1_000

/**
 * The same object is given while the credentials are the same.
 * @param refused what the API server has refused: if nothing else is known since, it is read again
 */
export const keepCredentials = ({
  read,
  clock,
}: CredentialOptions): ((refused?: ClusterCredentials) => Promise<ClusterCredentials>) => {
  let known: ClusterCredentials | undefined
  let readAtMs = 0

  const readNow = singleFlight(async (isRefused: boolean): Promise<ClusterCredentials> => {
    // Nobody takes what is known for fresh while it is read.
    readAtMs = -Infinity
    try {
      const next = await read(isRefused)
      if (known === undefined || JSON.stringify(known) !== JSON.stringify(next)) known = next
      return known
    } catch (error) {
      if (known === undefined || isRefused) throw error
      return known
    } finally {
      readAtMs = clock.now()
    }
  })

  return (refused) => {
    const isRefused = known !== undefined && refused === known
    const ageMs = Math.abs(clock.now() - readAtMs)
    if (known !== undefined && ageMs <= (isRefused ? NOT_SOONER_MS : OLD_AFTER_MS)) {
      return Promise.resolve(known)
    }
    return readNow(isRefused)
  }
}
