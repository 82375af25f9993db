// Brings a fleet of data planes into line with a source of resources while this replica leads, and reports the status
// of both. It stores no resource and no document itself, it only passes them on.

import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import type { DataPlaneReport } from '../data-plane.ts'
import { type DesiredSet, EMPTY_DESIRED } from '../desired-set.ts'
import type { FleetOptions } from '../fleet/fleet.ts'
import type { Leadership } from '../leadership.ts'
import type { DocumentCompiler } from '../reconcile/documents/compile-document.ts'
import type { Foresight } from '../reconcile/foresight.ts'
import { type Reconciliation, Reconciler, type ReconcilerOptions } from '../reconcile/reconciler.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import type { ResourceSource, SourceNote } from '../resource/resource-source.ts'
import type { Resource } from '../resource/resource.ts'
import type { EpochSource } from '../epoch.ts'
import { SourceWithDeletedRealms } from './deleted-realms.ts'
import { describeChange } from './describe-change.ts'
import { PacedTask } from './paced-task.ts'
import { LeaderTerm } from './leader-term.ts'

export interface OperatorStatus {
  /** The source has been read and validated once. */
  readonly isReady: boolean
  readonly isLeading: boolean
  /** Statuses by key of the resource. Empty while another operator leads: only a leader gets reports of data planes. */
  readonly resources: ReadonlyMap<string, ResourceStatus>
  readonly dataPlanes: readonly DataPlaneReport[]
  readonly notes: readonly SourceNote[]
}

/** Something that acts during a leader term only. */
export interface LeaderOnlyTask {
  lead(): void
  /** Takes effect at once: nothing may be written from now on. */
  follow(): void
}

export interface ControllerOptions {
  readonly source: ResourceSource
  readonly fleet: Omit<
    FleetOptions,
    'epochSource' | 'onReport' | 'onGone' | 'confirmDeletes' | 'clock' | 'log'
  >
  readonly leadership: Leadership
  readonly validating: Omit<ReconcilerOptions, 'compiler' | 'onFailure'>
  /** If absent, everything is compiled synchronously. It calls back when a requested result is there. */
  readonly compiler?: (onResult: () => void) => DocumentCompiler
  /** How long a deleted Realm goes on serving; 60 s if absent; 0: it is revoked at once. */
  readonly deletedRealmMs?: number
  readonly leaderOnlyTasks?: readonly LeaderOnlyTask[]
  readonly clock: Clock
  readonly log: Log
  /** After every change of the status, once the data planes are known. */
  readonly onStatus: (status: OperatorStatus) => void
  /** Called when the status of a resource in the API differs from the last one that `onStatus` was given. */
  readonly onRecorded?: (resource: Resource) => void
}

/** Reports of many data planes make one status. */
const STATUS_MS = 50
/** Collects statuses that are written one after the other, as ten thousand of them must not delay the next edit. */
const CATCH_UP_MS = 500
/** How often statuses are updated while a condition may change as time passes. */
const WAITING_MS = 5_000
const DELETED_REALM_MS = 60_000

export class Controller {
  readonly #options: ControllerOptions
  readonly #source: ResourceSource
  readonly #reconciler: Reconciler
  readonly #reconcileTask: PacedTask
  #seenVersion = -1
  /** The same cache must be validated again, as something else has changed. */
  #isOpen = false
  /** Statuses in the API have changed since the last reconciliation. */
  #isBehind = false
  #cancelCatchUp: (() => void) | undefined
  #notes: readonly SourceNote[] = []
  #reconciliation: Reconciliation | undefined
  #term: LeaderTerm | undefined
  /** Resolves when nothing of earlier leader terms is under way. */
  #ending: Promise<unknown> = Promise.resolve()
  #status: OperatorStatus
  /** The next update of the status. */
  #due: { readonly atMs: number; readonly cancel: () => void } | undefined
  #isStopped = false

  constructor(options: ControllerOptions) {
    this.#options = options
    const { clock, deletedRealmMs: servedMs = DELETED_REALM_MS } = options
    this.#source = new SourceWithDeletedRealms(options.source, { clock, servedMs })
    this.#reconcileTask = new PacedTask(options.clock, () => {
      this.#reconcile()
    })
    const compiler = options.compiler?.(() => {
      this.#validateAgain()
    })
    this.#reconciler = new Reconciler({
      ...options.validating,
      ...(compiler && { compiler }),
      onFailure: (resource, error) => {
        const message = 'the operator failed on a resource: what it said before stays in service'
        options.log.error(message, { resource, error })
      },
    })
    this.#status = {
      isReady: false,
      isLeading: false,
      resources: new Map(),
      dataPlanes: [],
      notes: [],
    }
  }

  get status(): OperatorStatus {
    return this.#status
  }

  /** The desired state of data planes; undefined before everything was read once. */
  get desired(): DesiredSet | undefined {
    return this.#reconciliation?.desired
  }

  /** The fleet of this leader term; undefined while another operator leads. */
  get fleet(): LeaderTerm['fleet'] | undefined {
    return this.#term?.fleet
  }

  /** Previews the result for a resource that is about to be stored; undefined before everything was read once. */
  get foresight(): Foresight | undefined {
    const reconciliation = this.#reconciliation
    if (reconciliation === undefined) return undefined
    const cache = this.#options.source.current()
    return {
      reconciliation,
      cache,
      preview: (...request) => this.#reconciler.preview(...request),
      usersOf: (realmKey) => this.#reconciler.usersOf(realmKey),
    }
  }

  async start(): Promise<void> {
    await this.#source.start(
      () => {
        this.#reconcileTask.request()
      },
      (resource) => {
        this.#isBehind = true
        this.#cancelCatchUp ??= this.#options.clock.after(CATCH_UP_MS, () => {
          this.#cancelCatchUp = undefined
          if (this.#isBehind) this.#validateAgain()
        })
        this.#options.onRecorded?.(resource)
      },
    )
    await this.#options.leadership.start({
      onLead: (epochSource) => {
        this.#lead(epochSource)
      },
      onLose: () => {
        this.#lose()
      },
    })
  }

  /** Stops the source first, as its end must not look like a change. The Lease is released when everything has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#reconcileTask.cancel()
    this.#due?.cancel()
    this.#cancelCatchUp?.()
    await this.#source.stop()
    this.#lose()
    await this.#ending
    await this.#options.leadership.stop()
  }

  #lead(epochSource: EpochSource): void {
    if (this.#isStopped || this.#term !== undefined) return
    const { fleet, clock, log, leaderOnlyTasks = [] } = this.#options
    this.#catchUp()
    const term = new LeaderTerm({
      fleet: { ...fleet, epochSource, confirmDeletes: () => this.#confirmDeletes() },
      recover: (version, document) => this.#reconciler.recover(version, document),
      onRecovered: () => {
        this.#validateAgain()
      },
      onReport: () => {
        this.#scheduleStatus(STATUS_MS)
      },
      clock,
      log,
    })
    this.#term = term
    term.start()
    if (this.#reconciliation !== undefined) term.take(this.#reconciliation, true)
    for (const task of leaderOnlyTasks) task.lead()
    this.#refreshStatus()
  }

  #lose(): void {
    const term = this.#term
    if (term === undefined) return
    this.#term = undefined
    for (const task of this.#options.leaderOnlyTasks ?? []) task.follow()
    this.#ending = Promise.all([this.#ending, term.end()])
    if (!this.#isStopped) this.#refreshStatus()
  }

  /** Reconciles before it resolves, so that the caller goes on with what is desired then. */
  async #confirmDeletes(): Promise<boolean> {
    const isConfirmed = await this.#source.confirm()
    this.#reconcileTask.runNow()
    return isConfirmed
  }

  /** Call it when something other than the cache has changed that the result depends on. */
  #validateAgain(): void {
    if (this.#isStopped) return
    this.#isOpen = true
    this.#reconcileTask.request()
  }

  #reconcile(): void {
    if (this.#isStopped) return
    const { version, notes } = this.#source.current()
    this.#notes = notes
    // The notes say what prevents reading it.
    if (!this.#source.synced()) this.#refreshStatus()
    else if (version !== this.#seenVersion || this.#isOpen) {
      this.#validate()
      this.#refreshStatus()
    }
  }

  #validate(): void {
    const { log } = this.#options
    const cache = this.#source.current()
    this.#seenVersion = cache.version
    this.#isOpen = false
    if (this.#reconciliation === undefined && !this.#reconciler.prepare(cache)) return
    this.#isBehind = false
    const startedAt = performance.now()
    const before = this.#reconciliation?.desired
    this.#reconciliation = this.#reconciler.reconcile(cache)
    const { desired } = this.#reconciliation
    const isNew = desired !== before
    if (isNew)
      log.info('desired state has changed', {
        version: desired.version,
        ...describeChange(before ?? EMPTY_DESIRED, desired),
        documents: desired.documents.size,
        realms: desired.realms.size,
        ms: Math.round(performance.now() - startedAt),
      })
    this.#term?.take(this.#reconciliation, isNew)
    if (this.#reconciliation.isOpen) this.#validateAgain()
  }

  #scheduleStatus(ms: number): void {
    const { clock } = this.#options
    const atMs = clock.now() + ms
    // An update that is due later must not delay this one.
    if (this.#isStopped || (this.#due !== undefined && this.#due.atMs <= atMs)) return
    this.#due?.cancel()
    const cancel = clock.after(ms, () => {
      this.#due = undefined
      this.#refreshStatus()
    })
    this.#due = { atMs, cancel }
  }

  #refreshStatus(): void {
    const { onStatus, fleet } = this.#options
    const term = fleet.dataPlanes.synced() ? this.#term : undefined
    this.#status = {
      isReady: this.#reconciliation !== undefined,
      isLeading: this.#term !== undefined,
      resources: term === undefined ? new Map() : this.#settle(term),
      dataPlanes: term?.reports() ?? [],
      notes: this.#notes,
    }
    // While data planes are not known yet, no status may be written that says there are none.
    if (term !== undefined || this.#term === undefined) onStatus(this.#status)
    if (term?.isWaiting === true) this.#scheduleStatus(WAITING_MS)
  }

  #settle(term: LeaderTerm): OperatorStatus['resources'] {
    // The first statuses of a leader term continue those in the API.
    if (!term.hasSettled) this.#catchUp()
    return term.settle(this.#reconciliation?.results ?? new Map(), this.#options.clock.now())
  }

  /** Another operator may have written statuses since the last validation, which say what serves and since when. */
  #catchUp(): void {
    if (this.#isBehind && this.#reconciliation !== undefined) this.#validate()
  }
}
