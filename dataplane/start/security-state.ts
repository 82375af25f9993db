// What security keeps beyond a request, opened at the start: secret keys and the state that processes share. The
// control process opens it; workers of a cluster are handed what they need.

import { randomBytes } from 'node:crypto'
import type { Log } from '../../telemetry/log.ts'
import type { GatewaySettings } from '../config.ts'
import { loadKeyRing } from '../security/tokens/key-files.ts'
import { createKeyRing, type KeyRing } from '../../language/realm/key-ring.ts'
import { openJournal } from '../shared/journal.ts'
import { createMemoryState } from '../shared/memory-state.ts'
import type { RevokedEntry } from '../shared/relayed-state.ts'
import type { SharedState } from '../shared/shared-state.ts'
import { StartError } from '../start-error.ts'
import { messageOf } from '../../base/thrown.ts'

/** Rings of this gateway; plain data, for workers too. */
export interface SecretRings {
  /** What realms without keys of their own sign with. */
  readonly signing: KeyRing
  /** What logins in progress are sealed with, where `--oidc-state-keys-file` gives none. */
  readonly oidcState: KeyRing
}

export interface SecurityState {
  readonly rings: SecretRings
  /** Of this process, for the workers of a cluster that has no Redis. */
  readonly shared: SharedState
  /** All that is revoked, for a worker that starts. */
  readonly revoked: () => readonly RevokedEntry[]
}

/**
 * Without `--state-dir` the keys are made anew with every start: tickets end with the process.
 * @throws StartError when the state directory can't be used
 */
export const openSecurityState = async (
  settings: GatewaySettings,
  log: Log,
): Promise<SecurityState> => {
  const { stateDir } = settings
  if (stateDir === null) {
    const shared = createMemoryState({ now: Date.now })
    const rings = { signing: createKeyRing(randomBytes), oidcState: createKeyRing(randomBytes) }
    return { rings, shared, revoked: () => shared.revoked() }
  }
  try {
    const opened = await openJournal(stateDir, () => Date.now() / 1000)
    const shared = createMemoryState({ now: Date.now, ...opened })
    const rings = {
      signing: await loadKeyRing(stateDir, 'signing', randomBytes),
      oidcState: await loadKeyRing(stateDir, 'oidc-state', randomBytes),
    }
    log.debug('opened keys and shared state', { revoked: shared.revoked().length })
    return { rings, shared, revoked: () => shared.revoked() }
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`--state-dir ${stateDir}: cannot be used: ${messageOf(error)}`, error)
  }
}
