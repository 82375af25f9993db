// Opens at the start what security keeps beyond a request: secret keys and the state that processes share. The
// control process opens it; workers of a cluster get what they need from there.

import { randomBytes } from 'node:crypto'
import type { Log } from '../../telemetry/log.ts'
import type { GatewaySettings } from '../config.ts'
import { hasKeyRing, loadKeyRing } from '../security/tokens/key-files.ts'
import { createKeyRing, type KeyRing } from '../../language/realm/key-ring.ts'
import { MemoryState } from '../shared/memory-state.ts'
import type { RevokedEntry } from '../shared/relayed-state.ts'
import { RateBuckets } from '../shared/rate-buckets.ts'
import type { SharedState } from '../shared/shared-state.ts'
import { StartError } from '../start-error.ts'
import { messageOf } from '../../base/thrown.ts'

/** Rings of this gateway; plain data, for workers too. */
export interface SecretRings {
  /** The keys of realms without keys of their own. */
  readonly signing: KeyRing
  /** The keys that encrypt logins in progress, if `--oidc-state-keys-file` is not set. */
  readonly oidcState: KeyRing
}

export interface SecurityState {
  readonly rings: SecretRings
  /** The state of this process, for the workers of a cluster without Redis. */
  readonly shared: SharedState
  /** The buckets of all processes. */
  readonly limiter: RateBuckets
  /** All revocations, for a worker that starts. */
  readonly revoked: () => readonly RevokedEntry[]
}

/**
 * Without `--state-dir` new keys are generated at every start, so that tickets end with the process.
 * @throws StartError when the state directory cannot be used
 */
export const openSecurityState = async (
  settings: GatewaySettings,
  log: Log,
): Promise<SecurityState> => {
  const { stateDir } = settings
  const limiter = new RateBuckets(() => performance.now())
  if (stateDir === null) {
    const shared = new MemoryState({ now: Date.now })
    const rings = { signing: createKeyRing(randomBytes), oidcState: createKeyRing(randomBytes) }
    return { rings, shared, limiter, revoked: () => shared.revoked() }
  }
  try {
    const { openJournal } = await import('../shared/journal.ts')
    const opened = await openJournal(stateDir, () => Date.now() / 1000)
    const shared = new MemoryState({ now: Date.now, ...opened })
    if (opened.found === 'torn') log.warn(TORN_JOURNAL, { stateDir })
    if (opened.found === 'new' && (await hasKeyRing(stateDir, 'signing')))
      log.warn(NO_JOURNAL, { stateDir })
    const rings = {
      signing: await loadKeyRing(stateDir, 'signing', randomBytes),
      oidcState: await loadKeyRing(stateDir, 'oidc-state', randomBytes),
    }
    log.debug('opened keys and shared state', { revoked: shared.revoked().length })
    return { rings, shared, limiter, revoked: () => shared.revoked() }
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`--state-dir ${stateDir}: cannot be used: ${messageOf(error)}`, error)
  }
}

const TORN_JOURNAL =
  'the last line of the journal was not written to its end, as the process was killed meanwhile: it is left out'

const NO_JOURNAL =
  'the journal is not in the state directory, but keys are: what was revoked or used before may count again'
