// Represents one worker in its primary: it sends tasks, one at a time, and returns their results. A worker that does
// not reply in time is killed; one that is gone has no task left.

import type { RouteExplanation } from '../../../language/explain/explanation.ts'
import type { ReadRequest } from '../../../language/explain/read-request.ts'
import { SerialQueue } from '../../../base/serial-queue.ts'
import {
  forgottenSeries,
  mergeStates,
  type MetricsState,
} from '../../../telemetry/metrics-state.ts'
import type { RequestCounts } from '../../../telemetry/request-counts.ts'
import type { DurableName } from './process-status.ts'
import type { FailureQuery, KeptFailure } from '../../decisions/decision-ring.ts'
import type { RevokedEntry } from '../../shared/relayed-state.ts'
import type { UpstreamsView } from '../../upstream/upstream-view.ts'
import type { Addresses, ToPrimary, ToWorker } from './message.ts'
import type { EndpointsChange } from '../../upstream/endpoints/service-directory.ts'

/** The parts of `cluster.Worker` that are used. */
export interface WorkerProcess {
  readonly id: number
  send(message: ToWorker): unknown
  kill(signal: 'SIGKILL'): unknown
}

export type TaskResult =
  | { readonly kind: 'done'; readonly addresses?: Addresses }
  | { readonly kind: 'failed'; readonly message: string; readonly isStartError: boolean }
  /** It died, or was killed because it did not reply. */
  | { readonly kind: 'gone' }

type Task = Extract<ToWorker, { readonly kind: 'start' | 'apply' | 'listen' | 'announce' }>
type NewTask = Task extends infer T ? (T extends Task ? Omit<T, 'task'> : never) : never

export interface PeerOptions {
  /** A worker that has not completed a task after this time is killed. */
  readonly taskTimeoutMs: number
  /**
   * Called with what the worker has counted since it reported last, before the reply to any task that it performed
   * later.
   */
  readonly onRequests: (counts: RequestCounts) => void
}

export class ClusterPeer {
  readonly worker: WorkerProcess
  /** Its counts when it last reported them. */
  lastMetrics: MetricsState = []
  readonly #onRequests: (counts: RequestCounts) => void
  /** Counts that it has pruned since. */
  #forgotten: MetricsState = []
  readonly #taskTimeoutMs: number
  readonly #waiting = new Map<number, (reply: ToPrimary | undefined) => void>()
  readonly #tasks = new SerialQueue()
  #nextTask = 1
  #isKilled = false
  #isGone = false
  readonly #gone = Promise.withResolvers<undefined>()

  constructor(worker: WorkerProcess, { taskTimeoutMs, onRequests }: PeerOptions) {
    this.worker = worker
    this.#taskTimeoutMs = taskTimeoutMs
    this.#onRequests = onRequests
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Queues behind the tasks given before. Never rejects. */
  perform(task: NewTask): Promise<TaskResult> {
    return this.#tasks.run(() => this.#performNow(task))
  }

  /**
   * Asks for its metrics. Does not wait for tasks; resolves also if there is no reply in time: a late one is taken when
   * it comes, as the worker never sends the same counts again.
   */
  async measure(timeoutMs: number): Promise<void> {
    await this.#ask({ kind: 'measure', task: this.#nextTask++ }, timeoutMs)
  }

  /** Returns the counts that it has pruned since the last call, so that totals of all workers never decrease. */
  takeForgotten(): MetricsState {
    const forgotten = this.#forgotten
    this.#forgotten = []
    return forgotten
  }

  /** Does not wait for tasks; undefined if there is no reply in time. */
  async viewUpstreams(isDetailed: boolean, timeoutMs: number): Promise<UpstreamsView | undefined> {
    const task = this.#nextTask++
    const reply = await this.#ask({ kind: 'view upstreams', task, isDetailed }, timeoutMs)
    return reply !== 'late' && reply?.kind === 'upstreams' ? reply.view : undefined
  }

  /** Does not wait for tasks; undefined if there is no reply in time. */
  async findDecisions(id: string, timeoutMs: number): Promise<readonly string[] | undefined> {
    const reply = await this.#ask({ kind: 'find decisions', task: this.#nextTask++, id }, timeoutMs)
    return reply !== 'late' && reply?.kind === 'decisions' ? reply.texts : undefined
  }

  /** Does not wait for tasks; undefined if there is no reply in time. */
  async findFailures(
    query: FailureQuery,
    timeoutMs: number,
  ): Promise<readonly KeptFailure[] | undefined> {
    const task = this.#nextTask++
    const reply = await this.#ask({ kind: 'find failures', task, query }, timeoutMs)
    return reply !== 'late' && reply?.kind === 'failures' ? reply.failures : undefined
  }

  /** Does not wait for tasks; undefined if there is no reply in time. */
  async explain(request: ReadRequest, timeoutMs: number): Promise<RouteExplanation | undefined> {
    const reply = await this.#ask({ kind: 'explain', task: this.#nextTask++, request }, timeoutMs)
    return reply !== 'late' && reply?.kind === 'explained' ? reply.explanation : undefined
  }

  /** Does not wait for tasks; false if there is no reply in time. */
  async release(name: DurableName, timeoutMs: number): Promise<boolean> {
    const reply = await this.#ask({ kind: 'release', task: this.#nextTask++, name }, timeoutMs)
    return reply !== 'late' && reply?.kind === 'released' && reply.found
  }

  /** Does not wait for tasks; resolves also if there is no reply in time. */
  async sendRevoked(entries: readonly RevokedEntry[], timeoutMs: number): Promise<void> {
    if (entries.length === 0) return
    await this.#ask({ kind: 'revoked', task: this.#nextTask++, entries }, timeoutMs)
  }

  /** Does not wait for tasks; resolves also if there is no reply in time. */
  async sendEndpoints(change: EndpointsChange, timeoutMs: number): Promise<void> {
    if (change.put.length + change.delete.length === 0 && change.only === undefined) return
    await this.#ask({ kind: 'endpoints', task: this.#nextTask++, change }, timeoutMs)
  }

  notify(kind: 'drain' | 'release clients' | 'close' | 'abort'): void {
    if (!this.#isGone) this.worker.send({ kind })
  }

  /** Call it with every message of the worker. */
  receive(message: ToPrimary): void {
    if (message.kind === 'metrics') this.#takeMetrics(message)
    if ('task' in message) this.#waiting.get(message.task)?.(message)
  }

  /**
   * What it reports from now on is not taken: it serves documents that others have removed already, and a count of one
   * of them would stay for ever.
   */
  kill(): void {
    this.#isKilled = true
    this.worker.kill('SIGKILL')
  }

  /** Call it when the process has ended. */
  markGone(): void {
    this.#isGone = true
    this.#gone.resolve(undefined)
    for (const settle of [...this.#waiting.values()]) settle(undefined)
  }

  #takeMetrics({ state, requests }: Extract<ToPrimary, { readonly kind: 'metrics' }>): void {
    if (this.#isGone || this.#isKilled) return
    this.#onRequests(requests)
    this.#forgotten = mergeStates([this.#forgotten, forgottenSeries(this.lastMetrics, state)])
    this.lastMetrics = state
  }

  async #performNow(task: NewTask): Promise<TaskResult> {
    const reply = await this.#ask({ ...task, task: this.#nextTask++ }, this.#taskTimeoutMs)
    if (reply === 'late') {
      this.kill()
      // Until its exit is known, node:cluster would still hand connections to it.
      await this.#gone.promise
    }
    const isResult = reply !== 'late' && (reply?.kind === 'done' || reply?.kind === 'failed')
    return isResult ? reply : { kind: 'gone' }
  }

  #ask(
    message: Extract<ToWorker, { readonly task: number }>,
    timeoutMs: number,
  ): Promise<ToPrimary | 'late' | undefined> {
    if (this.#isGone) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const settle = (reply: ToPrimary | 'late' | undefined): void => {
        clearTimeout(timer)
        this.#waiting.delete(message.task)
        resolve(reply)
      }
      const timer = setTimeout(settle, timeoutMs, 'late')
      this.#waiting.set(message.task, settle)
      this.worker.send(message)
    })
  }
}
