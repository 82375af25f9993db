// Reads the state of a data plane, and decides whether we may write to it.

import { LoadedState } from './loaded-state.ts'
import { plainText } from '../client/plain-text.ts'
import type { Refusal } from '../client/read-response.ts'
import { failed, type PlaneMemory, type RoundContext, type RoundResult } from './plane-memory.ts'
import type { Selection } from './selection.ts'
import { isPossibleEpoch } from '../../epoch.ts'
import { untilAborted } from '../../../base/until-aborted.ts'

/** Reads the state unless it is fresh; undefined: it is known. */
export const observe = async (
  memory: PlaneMemory,
  selection: Selection,
  { clock, freshMs, manager, log, counts, onResponse }: RoundContext,
): Promise<RoundResult | undefined> => {
  const atMs = clock.now()
  if (memory.loaded !== undefined && atMs - memory.observedAtMs < freshMs) return undefined
  const etag = memory.loaded === undefined ? undefined : memory.etag
  const response = await memory.client.state(etag, memory.responseBound(selection))
  if (response.result === 'failed' || response.result === 'refused') {
    counts.poll('failed')
    memory.invalidate()
    if (response.result === 'failed') return failed(response.message)
    return describeRefusal(response.status, response.refusal, manager)
  }
  onResponse()
  memory.observedAtMs = atMs
  if (response.result === 'not_modified') {
    counts.poll('unchanged')
    return undefined
  }
  counts.poll('changed')
  const before = memory.loaded
  const { documents } = selection
  memory.loaded = new LoadedState(response.value, manager, { before, documents })
  memory.etag = response.etag
  if (before !== undefined && before.bootId !== response.value.bootId)
    log.info('data plane has restarted', { dataPlane: memory.dataPlane.name })
  return undefined
}

/** Undefined: it is ours. */
export const askOwner = async (
  memory: PlaneMemory,
  { manager, epochSource, signal }: RoundContext,
): Promise<RoundResult | undefined> => {
  const { loaded, dataPlane } = memory
  if (loaded === undefined) return failed('its state is not known')
  if (loaded.manager !== null && loaded.manager !== manager)
    return notOwner(manager, loaded.manager)
  if (loaded.epoch <= epochSource.epoch(dataPlane.name)) return undefined
  if (await untilAborted(signal, epochSource.challenge(loaded.epoch, dataPlane.name)))
    return undefined
  return superseded(manager, loaded.epoch)
}

/** A 4xx in words that say what to do. */
export const describeRefusal = (
  status: number,
  { code, message }: Refusal,
  manager: string,
): RoundResult => {
  const said = message === '' ? '' : ` It says: ${message}`
  if (status === 401) {
    const words = `it does not accept our credentials: see --management-token-file or --management-cert.${said}`
    return { phase: 'unauthorized', message: words, next: 'back_off' }
  }
  if (status === 403 && code === NOT_OWNER) {
    const words = `it accepts no documents from '${manager}': start the gateway with --managed ${manager}, or set --manager of this operator to what the gateway has as --managed.${said}`
    return { phase: 'not_owner', message: words, next: 'poll' }
  }
  if (status === 403) {
    const words = `it accepts other clients, but not this operator: see --management-client-name of the gateway.${said}`
    return { phase: 'unauthorized', message: words, next: 'back_off' }
  }
  if (status === 404) {
    return failed(
      'it does not know this call: is this the management address of a gateway of this version?',
    )
  }
  return failed(`it answered ${status}.${said}`)
}

const NOT_OWNER = 'svc.error.not_owner'

export const superseded = (manager: string, epoch: number): RoundResult => ({
  phase: 'superseded',
  message: isPossibleEpoch(epoch)
    ? `another operator named '${manager}' that was started later (epoch ${epoch}) writes to it; this one ` +
      'stopped doing so: stop one of the two, or give them different --manager names and data planes ' +
      '(if there is no other, the clock of this machine has gone back: restart this one)'
    : `it reports the epoch ${epoch}, which no operator can have sent, so nothing is sent to it: stop it, ` +
      'empty its --state-dir and start it again; if it reports that again, it is not to be trusted',
  next: 'poll',
})

const MAX_OWNER_LENGTH = 64

const notOwner = (manager: string, owner: string): RoundResult => ({
  phase: 'not_owner',
  message: `it is managed by '${plainText(owner, MAX_OWNER_LENGTH)}', and this operator is '${manager}', so nothing is sent to it: its --managed decides which operator may`,
  next: 'poll',
})
