// A worker of a cluster: takes settings and changes from its primary, serves, and ends when told to or when
// the primary is gone. Holds no state that the primary does not have.

import type { Log } from '../telemetry/log.ts'
import type { BridgePeers, HeldName } from './bridge-board.ts'
import type { Addresses, ToPrimary, ToWorker } from './cluster-message.ts'
import type { GatewaySettings } from './config.ts'
import { openListeners, type Listeners } from './listeners.ts'
import { exportMetrics, type ServingParts } from './plane.ts'
import { StartError } from './start-error.ts'

/** The parts of `process` that a worker needs. */
export interface WorkerChannel {
  send?(message: ToPrimary): unknown
  on(event: 'message', listener: (message: ToWorker) => void): unknown
  on(event: 'disconnect' | 'SIGTERM' | 'SIGINT' | 'SIGUSR2', listener: () => void): unknown
}

export interface WorkerOptions {
  readonly channel: WorkerChannel
  /** Called once, with the settings of the primary. */
  readonly create: (
    settings: GatewaySettings,
    peers: BridgePeers,
  ) => Promise<{ parts: ServingParts; log: Log }>
  readonly exit: (code: number) => void
}

/** Returns at once; the worker lives on its channel. */
export const runWorker = ({ channel, create, exit }: WorkerOptions): void => {
  let running: { parts: ServingParts; log: Log; settings: GatewaySettings } | undefined
  let listeners: Listeners | undefined
  let closing = false
  let turn = Promise.resolve()
  const peers = createPeers(channel)

  const perform = async (message: ToWorker): Promise<Addresses | undefined> => {
    if (message.kind === 'start') {
      running = { ...(await create(message.settings, peers)), settings: message.settings }
      return undefined
    }
    if (running === undefined) throw new Error('the worker has not started yet')
    if (message.kind === 'apply') await running.parts.serving.apply(message.change)
    if (message.kind === 'announce') running.parts.announce?.(message.urls)
    if (message.kind !== 'listen') return undefined
    listeners = await openListeners({
      settings: withAddresses(running.settings, message.at),
      log: running.log,
      publicHandlers: running.parts.publicHandlers,
      isWorker: true,
    })
    return listeners.addresses()
  }

  const close = async (): Promise<void> => {
    if (closing) return
    closing = true
    running?.parts.endStreams()
    await listeners?.close()
    await running?.parts.close()
    exit(0)
  }

  const measure = async (task: number): Promise<void> => {
    channel.send?.({
      kind: 'metrics',
      task,
      state: running === undefined ? [] : await exportMetrics(running.parts, listeners),
    })
  }

  const release = async (task: number, name: HeldName): Promise<void> => {
    const found = (await running?.parts.releaseHere(name)) ?? false
    channel.send?.({ kind: 'released', task, found })
  }

  channel.on('message', (message) => {
    if (message.kind === 'release') void release(message.task, message.name)
    else if (message.kind === 'released') peers.answer(message.ask, message.found)
    else if ('task' in message && message.kind !== 'measure') {
      turn = turn.then(() => answer(channel, message.task, () => perform(message)))
    } else if (message.kind === 'measure') void measure(message.task)
    else if (message.kind === 'drain') listeners?.beginDraining()
    else if (message.kind === 'close') void close()
    else listeners?.abort()
  })
  // Nobody could tell us of changes any more, nor replace us.
  channel.on('disconnect', () => {
    if (!closing) exit(1)
  })
  // A terminal sends its signals to the whole group: the primary says what to do.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2'] as const)
    channel.on(signal, () => undefined)
}

const answer = async (
  channel: WorkerChannel,
  task: number,
  perform: () => Promise<Addresses | undefined>,
): Promise<void> => {
  try {
    const addresses = await perform()
    channel.send?.({ kind: 'done', task, ...(addresses === undefined ? {} : { addresses }) })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    channel.send?.({ kind: 'failed', task, message, isStartError: error instanceof StartError })
  }
}

/** A question that its primary leaves open: the primary is gone, and so are we soon. */
const createPeers = (
  channel: WorkerChannel,
): BridgePeers & { answer(ask: number, found: boolean): void } => {
  const asked = new Map<number, (found: boolean) => void>()
  let next = 1
  return {
    statusChanged: (status) => {
      channel.send?.({ kind: 'bridge', status })
    },
    releaseElsewhere: (name) =>
      new Promise((resolve) => {
        asked.set(next, resolve)
        channel.send?.({ kind: 'release', ask: next++, name })
      }),
    answer: (ask, found) => {
      asked.get(ask)?.(found)
      asked.delete(ask)
    },
  }
}

const withAddresses = (settings: GatewaySettings, at: Addresses): GatewaySettings => ({
  ...settings,
  public: at.public ?? settings.public,
  publicTls: at.publicTls ?? settings.publicTls,
})
