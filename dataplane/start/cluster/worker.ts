// Runs a worker of a cluster: it takes settings and changes from its primary, serves, and ends when told to or when
// the primary is gone. It has no state that the primary does not have.

import { SerialQueue } from '../../../base/serial-queue.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { BridgePeers, DurableName } from './process-status.ts'
import type { Addresses, ToPrimary, ToWorker } from './message.ts'
import type { GatewaySettings } from '../../config.ts'
import { NO_COUNTS } from '../../../telemetry/request-counts.ts'
import { openListeners, type Listeners } from '../../listen/listeners.ts'
import { exportMetrics, type ServingParts } from '../plane.ts'
import type { SecretRings } from '../security-state.ts'
import { RelayedState } from '../../shared/relayed-state.ts'
import type { RateLimiter } from '../../shared/rate-buckets.ts'
import { TokenLeases } from '../../shared/token-leases.ts'
import { StartError } from '../../start-error.ts'
import { askPrimary, type PrimaryLine } from './questions.ts'
import { messageOf } from '../../../base/thrown.ts'
import { ServiceDirectory } from '../../upstream/endpoints/service-directory.ts'

/** The parts of `process` that a worker needs. */
export interface WorkerChannel {
  send?(message: ToPrimary): unknown
  on(event: 'message', listener: (message: ToWorker) => void): unknown
  on(event: 'disconnect' | 'SIGTERM' | 'SIGINT' | 'SIGUSR2', listener: () => void): unknown
}

export interface WorkerOptions {
  readonly channel: WorkerChannel
  /** Called once, with what the primary provides. */
  readonly create: (
    settings: GatewaySettings,
    home: WorkerHome,
  ) => Promise<{ parts: ServingParts; log: Log }>
  /** Called once the worker listens. */
  readonly onListening: () => void
  readonly exit: (code: number) => void
}

/** What a worker gets from its primary. */
export interface WorkerHome {
  readonly peers: BridgePeers
  readonly shared: RelayedState
  readonly limiter: RateLimiter
  readonly rings: SecretRings
  readonly services: ServiceDirectory
}

/** Returns immediately; the channel keeps the worker alive. */
export const runWorker = (options: WorkerOptions): void => {
  const { channel, exit } = options
  const worker = new Worker(options)
  channel.on('message', (message) => {
    worker.receive(message)
  })
  // Without the primary there are no further changes, and nothing would replace this worker.
  channel.on('disconnect', () => {
    if (!worker.isClosing) exit(1)
  })
  // A terminal sends its signals to the whole process group: only the primary acts on them.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2'] as const)
    channel.on(signal, () => undefined)
}

type MessageOf<K extends ToWorker['kind']> = Extract<ToWorker, { readonly kind: K }>

type AtOnce = Exclude<ToWorker['kind'], 'start' | 'apply' | 'listen' | 'announce'>

/** How often tokens of rate limits that are not used are given back. */
const SWEEP_EVERY_MS = 250

class Worker {
  isClosing = false
  readonly #options: WorkerOptions
  readonly #primary: PrimaryLine
  readonly #shared: RelayedState
  readonly #limiter: TokenLeases
  readonly #services = new ServiceDirectory()
  #running: { parts: ServingParts; log: Log; settings: GatewaySettings } | undefined
  #listeners: Listeners | undefined
  readonly #tasks = new SerialQueue()

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#primary = askPrimary((message) => options.channel.send?.(message))
    this.#shared = new RelayedState((call) => this.#primary.share(call), Date.now)
    this.#limiter = new TokenLeases(this.#shared, () => performance.now())
    setInterval(() => {
      this.#limiter.sweep()
    }, SWEEP_EVERY_MS).unref()
  }

  receive(message: ToWorker): void {
    const handle = this.#atOnce[message.kind as AtOnce] as ((message: ToWorker) => void) | undefined
    if (handle !== undefined) handle(message)
    else if ('task' in message) {
      void this.#tasks.run(() =>
        answer(this.#options.channel, message.task, () => this.#perform(message)),
      )
    }
  }

  /** Messages that do not wait for the tasks before them. */
  readonly #atOnce: { readonly [K in AtOnce]: (message: MessageOf<K>) => void } = {
    measure: ({ task }) => {
      void this.#measure(task)
    },
    'view upstreams': ({ task, isDetailed }) => {
      const view = this.#running?.parts.viewUpstreams?.(isDetailed)
      this.#send({ kind: 'upstreams', task, view })
    },
    'find decisions': ({ task, id }) => {
      const texts = this.#running?.parts.findDecisions?.(id) ?? []
      this.#send({ kind: 'decisions', task, texts })
    },
    'find failures': ({ task, query }) => {
      const failures = this.#running?.parts.findFailures?.(query) ?? []
      this.#send({ kind: 'failures', task, failures })
    },
    explain: ({ task, request }) => {
      const explanation = this.#running?.parts.explain?.(request)
      this.#send({ kind: 'explained', task, explanation })
    },
    release: ({ task, name }) => {
      void this.#release(task, name)
    },
    released: (message) => {
      this.#primary.receive(message)
    },
    shared: (message) => {
      this.#primary.receive(message)
    },
    revoked: ({ task, entries }) => {
      this.#shared.addRevoked(entries)
      this.#send({ kind: 'known', task })
    },
    endpoints: ({ task, change }) => {
      this.#services.apply(change)
      this.#send({ kind: 'known', task })
    },
    drain: () => {
      this.#listeners?.beginDraining()
    },
    'release clients': () => {
      this.#running?.parts.endStreams()
      this.#listeners?.closeIdle()
    },
    close: () => {
      void this.#close()
    },
    abort: () => {
      this.#listeners?.abort()
    },
  }

  async #perform(message: ToWorker): Promise<Addresses | undefined> {
    if (message.kind === 'start') {
      const { settings, rings } = message
      const services = this.#services
      const home = {
        peers: this.#primary,
        shared: this.#shared,
        limiter: this.#limiter,
        rings,
        services,
      }
      this.#running = { ...(await this.#options.create(settings, home)), settings }
      return undefined
    }
    if (this.#running === undefined) throw new Error('the worker has not started yet')
    const { parts, log, settings } = this.#running
    if (message.kind === 'apply') await parts.serving.apply(message.change)
    if (message.kind === 'announce') parts.announce?.(message.urls)
    if (message.kind !== 'listen') return undefined
    this.#listeners = await openListeners({
      settings: withAddresses(settings, message.at),
      log,
      publicHandlers: parts.publicHandlers,
      onConnectionRefused: parts.onConnectionRefused,
      isWorker: true,
    })
    this.#options.onListening()
    return this.#listeners.addresses()
  }

  async #close(): Promise<void> {
    if (this.isClosing) return
    this.isClosing = true
    this.#running?.parts.endStreams()
    await this.#listeners?.close()
    await this.#running?.parts.close()
    this.#options.exit(0)
  }

  async #measure(task: number): Promise<void> {
    const parts = this.#running?.parts
    const state = parts === undefined ? [] : await exportMetrics(parts, this.#listeners)
    // Whatever they take is sent: there is no other moment between the two.
    const requests = parts?.requests?.takeCounts() ?? NO_COUNTS
    this.#send({ kind: 'metrics', task, state, requests })
  }

  async #release(task: number, name: DurableName): Promise<void> {
    const found = (await this.#running?.parts.releaseHere(name)) ?? false
    this.#send({ kind: 'released', task, found })
  }

  #send(message: ToPrimary): void {
    this.#options.channel.send?.(message)
  }
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
    const isStartError = error instanceof StartError
    channel.send?.({ kind: 'failed', task, message: messageOf(error), isStartError })
  }
}

const withAddresses = (settings: GatewaySettings, at: Addresses): GatewaySettings => ({
  ...settings,
  public: at.public ?? settings.public,
  publicTls: at.publicTls ?? settings.publicTls,
})
