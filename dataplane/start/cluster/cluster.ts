// Runs the primary of a cluster: it forks workers that only serve, sends them every change, adds up their metrics and
// replaces those that die. It serves no request itself.

import cluster from 'node:cluster'
import { backOffMs } from '../../../base/back-off.ts'
import { urlOf } from '../../../telemetry/bound-address.ts'
import type { Log } from '../../../telemetry/log.ts'
import {
  mergeStates,
  type MetricsState,
  withoutAbandoned,
} from '../../../telemetry/metrics-state.ts'
import { createGatewayRequests } from '../../metrics.ts'
import { followDocuments } from '../follow-documents.ts'
import { removeStaleSocket } from '../../listen/bind.ts'
import type { ProcessStatusRegistry } from './process-status.ts'
import type { Addresses, ToPrimary } from './message.ts'
import { answerWorker } from './questions.ts'
import { ClusterPeer, type TaskResult, type WorkerProcess } from './peer.ts'
import type { GatewaySettings } from '../../config.ts'
import { createReplicatedContent, type ReplicatedContent } from './replicated-content.ts'
import type { ListenerName } from '../../listen/listeners.ts'
import type { Plane, ServedMetrics } from '../plane.ts'
import type { SecurityState } from '../security-state.ts'
import { StartError } from '../../start-error.ts'
import type { ServingChange } from '../../store/serving.ts'
import {
  type EndpointsChange,
  ServiceDirectory,
} from '../../upstream/endpoints/service-directory.ts'
import type { RealmCredential } from '../../credentials/watch-credentials.ts'
import type { RealmProvider } from '../../oidc/provider/watch-providers.ts'
import type { RealmBridgeStatus } from '../../wamp/realm/wamp-client.ts'

export interface ClusterOptions {
  readonly processes: number
  readonly settings: GatewaySettings
  readonly log: Log
  /** Receives the status of the workers' bridges. */
  readonly processStatus: ProcessStatusRegistry
  /** The state that all workers share, and the keys they need. */
  readonly security: SecurityState
  /** Called when a worker was lost and is replaced. */
  readonly onRestart?: () => void
  /** Starts a worker; if left out, node:cluster does. */
  readonly fork?: () => ForkedWorker
}

export interface ForkedWorker extends WorkerProcess {
  on(event: 'exit', listener: () => void): unknown
  on(event: 'message', listener: (message: ToPrimary) => void): unknown
}

export interface ClusterPlane extends Plane {
  /** Workers that serve. */
  readonly size: number
}

/** Forks nothing before `listen`; every worker first receives what was applied until then. */
export const startCluster = (options: ClusterOptions): ClusterPlane => {
  const primary = new Primary(options)
  return {
    get size() {
      return primary.peers.size
    },
    serving: { apply: (change) => primary.apply(change) },
    listen: () => primary.listen(),
    announce: (urls) => {
      primary.announce(urls)
    },
    endpoints: {
      directory: primary.services,
      apply: (change) => primary.applyEndpoints(change),
    },
    exportMetrics: () => primary.exportMetrics(),
    viewUpstreams: (isDetailed) =>
      Promise.all(
        [...primary.peers.values()].map((peer) =>
          peer.viewUpstreams(isDetailed, MEASURE_TIMEOUT_MS),
        ),
      ),
    findDecisions: (id) =>
      Promise.all(
        [...primary.peers.values()].map((peer) => peer.findDecisions(id, MEASURE_TIMEOUT_MS)),
      ),
    findFailures: (query) =>
      Promise.all(
        [...primary.peers.values()].map((peer) => peer.findFailures(query, MEASURE_TIMEOUT_MS)),
      ),
    explain: async (request) => {
      for (const peer of primary.peers.values()) {
        const explanation = await peer.explain(request, MEASURE_TIMEOUT_MS)
        if (explanation !== undefined) return explanation
      }
      return undefined
    },
    beginDraining: () => {
      primary.phase = 'draining'
      primary.notify('drain')
    },
    releaseClients: () => {
      primary.notify('release clients')
    },
    close: () => primary.close(),
    abort: () => {
      primary.abort()
    },
  }
}

/** A worker that has not completed a task after this time is killed. */
const TASK_TIMEOUT_MS = 30_000
/** How long a call of the operator about Services waits for a worker, which receives it in any case. */
const NOTIFY_TIMEOUT_MS = 5000
/** A scrape does not wait longer for a worker. */
const MEASURE_TIMEOUT_MS = 1000
/** A worker that lived this long has not failed at its start. */
const STABLE_MS = 30_000
const RESTARTS = { firstMs: 100, capMs: 10_000 }
/** From aborting the last connections to killing a worker that still runs. */
const ABORT_MS = 2000

class Primary {
  readonly peers = new Map<number, ClusterPeer>()
  /** What the operator reports of Services; every worker receives it, also one that starts later. */
  readonly services = new ServiceDirectory()
  /** Requests of all workers, those that are gone too: one bound for all of them. */
  readonly requests = createGatewayRequests()
  phase: 'idle' | 'serving' | 'draining' | 'closing' = 'idle'
  readonly #options: ClusterOptions
  readonly #held: ReplicatedContent = createReplicatedContent()
  #addresses: Addresses = {}
  /**
   * The addresses that workers request. node:cluster shares a socket between those that request the same, port 0
   * included; once the last of them is gone, the port that 0 became must be requested by its number.
   */
  #requestedAddresses: Addresses = {}
  /** The counts of the workers that are gone, so that totals never decrease. */
  #retired: MetricsState = []
  #urls: readonly string[] = []
  #crashes = 0
  #onEmpty: (() => void) | undefined

  constructor(options: ClusterOptions) {
    this.#options = options
  }

  /** @throws Error when no worker could apply the change, which is then dropped */
  async apply(change: ServingChange): Promise<void> {
    const undo = this.#held.add(change)
    const peers = [...this.peers.values()]
    const results = await Promise.all(peers.map((peer) => peer.perform({ kind: 'apply', change })))
    const failed = results.find((result) => result.kind === 'failed')
    if (failed !== undefined && !results.some((result) => result.kind === 'done')) {
      undo()
      throw new Error(`no serving process could apply the change: ${failed.message}`)
    }
    followDocuments(this.requests, change)
    // The others serve it already: restart those that could not, with everything that is loaded.
    results.forEach((result, index) => {
      if (result.kind === 'failed') peers[index]?.kill()
    })
  }

  async listen(): Promise<Readonly<Partial<Record<ListenerName, string>>>> {
    const { settings, processes } = this.#options
    const { public: plain, publicTls: tls } = settings
    if (plain.kind === 'unix') await removeStaleSocket('public', plain.path)
    if (tls?.kind === 'unix') await removeStaleSocket('public-tls', tls.path)
    // The first one finds out whether the addresses are available, and what port 0 becomes.
    const result = await this.#startWorker()
    if (result.kind !== 'done') {
      await this.close()
      const message =
        result.kind === 'failed' ? result.message : 'a serving process ended at its start'
      throw new StartError(message)
    }
    this.phase = 'serving'
    await Promise.all(Array.from({ length: processes - 1 }, () => this.#startMore()))
    return {
      ...(this.#addresses.public && { public: urlOf('http', this.#addresses.public) }),
      ...(this.#addresses.publicTls && { publicTls: urlOf('https', this.#addresses.publicTls) }),
    }
  }

  announce(urls: readonly string[]): void {
    this.#urls = urls
    for (const peer of this.peers.values()) void peer.perform({ kind: 'announce', urls })
  }

  async applyEndpoints(change: EndpointsChange): Promise<void> {
    this.services.apply(change)
    const peers = [...this.peers.values()]
    await Promise.all(peers.map((peer) => peer.sendEndpoints(change, NOTIFY_TIMEOUT_MS)))
  }

  async exportMetrics(): Promise<ServedMetrics> {
    await Promise.all([...this.peers.values()].map((peer) => peer.measure(MEASURE_TIMEOUT_MS)))
    // Synchronously, so that what a worker has pruned meanwhile, or counted until its end, is in one of the two.
    const peers = [...this.peers.values()]
    const states = peers.map(({ lastMetrics }) => lastMetrics)
    const forgotten = peers.map((peer) => peer.takeForgotten())
    this.#retired = withoutAbandoned(mergeStates([this.#retired, ...forgotten]), states)
    return {
      state: mergeStates([...states, this.#retired]),
      requests: this.requests.families(),
    }
  }

  notify(kind: 'drain' | 'release clients' | 'close' | 'abort'): void {
    for (const peer of this.peers.values()) peer.notify(kind)
  }

  close(): Promise<void> {
    this.phase = 'closing'
    this.notify('close')
    return new Promise((resolve) => {
      if (this.peers.size === 0) resolve()
      else this.#onEmpty = resolve
    })
  }

  abort(): void {
    this.notify('abort')
    setTimeout(() => {
      for (const peer of this.peers.values()) peer.kill()
    }, ABORT_MS).unref()
  }

  /** Logs a worker that fails; its exit starts the next one. */
  async #startMore(): Promise<void> {
    const result = await this.#startWorker()
    if (result.kind === 'done' || this.phase !== 'serving') return
    this.#options.log.error('a serving process could not start', { ...result })
  }

  /** Resolves when the worker serves all that is loaded, or never will. */
  #startWorker(): Promise<TaskResult> {
    const { settings, security, fork = forkWorker } = this.#options
    const worker = fork()
    const peer = new ClusterPeer(worker, {
      taskTimeoutMs: TASK_TIMEOUT_MS,
      onRequests: (counts) => {
        this.requests.add(counts)
      },
    })
    const startedAt = performance.now()
    this.peers.set(worker.id, peer)
    worker.on('exit', () => {
      this.#onExit(peer, performance.now() - startedAt)
    })
    worker.on('message', (message: ToPrimary) => {
      this.#receive(peer, message)
    })
    // Queued synchronously: whatever is applied from here on comes after what is loaded now.
    void peer.perform({ kind: 'start', settings, rings: security.rings })
    void peer.sendRevoked(security.revoked(), TASK_TIMEOUT_MS)
    void peer.sendEndpoints({ put: this.services.all(), delete: [] }, TASK_TIMEOUT_MS)
    void peer.perform({ kind: 'announce', urls: this.#urls })
    for (const change of this.#held.portions()) void peer.perform({ kind: 'apply', change })
    return this.#listen(peer)
  }

  #receive(peer: ClusterPeer, message: ToPrimary): void {
    if (message.kind === 'bridge') this.#write(peer, message.status)
    else if (message.kind === 'health')
      this.#options.processStatus.writeHealth(peer.worker.id, message.health)
    else if (message.kind === 'providers') this.#writeProviders(peer, message.failing)
    else if (message.kind === 'credentials') this.#writeCredentials(peer, message.failing)
    else if ('ask' in message)
      void answerWorker(peer, message, this.peers.values(), this.#options.security)
    else peer.receive(message)
  }

  /** The last message of a process may arrive after its exit: its status would never be removed. */
  #write(peer: ClusterPeer, status: readonly RealmBridgeStatus[]): void {
    if (!peer.isGone) this.#options.processStatus.write(peer.worker.id, status)
  }

  #writeCredentials(peer: ClusterPeer, failing: readonly RealmCredential[]): void {
    if (!peer.isGone) this.#options.processStatus.writeCredentials(peer.worker.id, failing)
  }

  #writeProviders(peer: ClusterPeer, failing: readonly RealmProvider[]): void {
    if (!peer.isGone) this.#options.processStatus.writeProviders(peer.worker.id, failing)
  }

  async #listen(peer: ClusterPeer): Promise<TaskResult> {
    const result = await peer.perform({ kind: 'listen', at: this.#requestedAddresses })
    if (result.kind === 'done') this.#addresses = { ...result.addresses, ...this.#addresses }
    else peer.kill()
    return result
  }

  #onExit(peer: ClusterPeer, livedMs: number): void {
    peer.markGone()
    this.peers.delete(peer.worker.id)
    this.#options.processStatus.erase(peer.worker.id)
    const counted = peer.lastMetrics.filter(({ type }) => type !== 'gauge')
    this.#retired = mergeStates([this.#retired, peer.takeForgotten(), counted])
    if (this.peers.size === 0) {
      this.#requestedAddresses = this.#addresses
      this.#onEmpty?.()
    }
    if (this.phase !== 'serving') return
    this.#crashes = livedMs > STABLE_MS ? 0 : this.#crashes + 1
    const afterMs = backOffMs(this.#crashes + 1, RESTARTS, 1)
    this.#options.log.error('a serving process ended and is replaced', {
      worker: peer.worker.id,
      afterMs,
    })
    this.#options.onRestart?.()
    setTimeout(() => {
      if (this.phase === 'serving') void this.#startMore()
    }, afterMs).unref()
  }
}

/**
 * The same script without arguments: a worker gets its settings from the primary, not from a file that may have
 * changed.
 */
const forkWorker = (): ForkedWorker => {
  cluster.setupPrimary({ serialization: 'advanced', args: [] })
  const worker = cluster.fork()
  // The message went to a process that is ending: its exit follows.
  worker.on('error', () => undefined)
  return {
    id: worker.id,
    send: (message) => worker.isConnected() && worker.send(message),
    kill: (signal) => worker.process.kill(signal),
    on: (event: 'exit' | 'message', listener: (message: ToPrimary) => void) =>
      worker.on(event, listener),
  }
}
