// A source of resources and a fleet of data planes in; the one brought into line with the other, and the
// status of both, out. Holds no resource and no document itself: it only passes on.

import type { Log } from '../../telemetry/log.ts'
import type { DataPlaneReport } from '../data-plane.ts'
import type { Clock } from '../clock.ts'
import { Fleet, type FleetOptions } from '../fleet/fleet.ts'
import { type Reconciliation, Reconciler } from '../reconcile/reconciler.ts'
import { type ResourceStatus, StatusBook } from '../reconcile/status-book.ts'
import type { ResourceSource, SourceNote } from '../resource/resource-source.ts'

export interface OperatorStatus {
  /** The source has been read and judged once. */
  readonly isReady: boolean
  /** By key of the resource. */
  readonly resources: ReadonlyMap<string, ResourceStatus>
  readonly dataPlanes: readonly DataPlaneReport[]
  readonly notes: readonly SourceNote[]
}

export interface ControllerOptions {
  readonly source: ResourceSource
  readonly fleet: Omit<FleetOptions, 'onReport' | 'confirmDeletes' | 'clock' | 'log'>
  readonly className: string
  readonly clock: Clock
  readonly log: Log
  /** After every change of the status. */
  readonly onStatus: (status: OperatorStatus) => void
}

/** Reports of many data planes make one status. */
const STATUS_MS = 50
/** While time alone may change a condition. */
const WAITING_MS = 5_000

export class Controller {
  readonly #options: ControllerOptions
  readonly #reconciler: Reconciler
  readonly #fleet: Fleet
  readonly #book = new StatusBook()
  #seenVersion = -1
  #reconciliation: Reconciliation | undefined
  #status: OperatorStatus
  #cancelStatus: (() => void) | undefined
  #isStopped = false

  constructor(options: ControllerOptions) {
    this.#options = options
    this.#reconciler = new Reconciler({ className: options.className })
    this.#fleet = new Fleet({
      ...options.fleet,
      clock: options.clock,
      log: options.log,
      onReport: () => {
        this.#scheduleStatus(STATUS_MS)
      },
      confirmDeletes: async () => {
        const isConfirmed = await options.source.confirm()
        this.#reconcile()
        return isConfirmed
      },
    })
    this.#status = { isReady: false, resources: new Map(), dataPlanes: [], notes: [] }
  }

  get status(): OperatorStatus {
    return this.#status
  }

  async start(): Promise<void> {
    this.#fleet.start()
    await this.#options.source.start(() => {
      this.#reconcile()
    })
  }

  /** The source first: what goes with it must not look like a change. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelStatus?.()
    await this.#options.source.stop()
    await this.#fleet.stop()
  }

  #reconcile(): void {
    const { source, log } = this.#options
    const cache = source.current()
    if (this.#isStopped || !source.synced() || cache.version === this.#seenVersion) return
    this.#seenVersion = cache.version
    const startedAt = performance.now()
    const before = this.#reconciliation?.desired
    this.#reconciliation = this.#reconciler.reconcile(cache)
    const { desired } = this.#reconciliation
    if (desired !== before) {
      log.info('desired set has changed', {
        version: desired.version,
        documents: desired.documents.size,
        realms: desired.realms.size,
        ms: Math.round(performance.now() - startedAt),
      })
      this.#fleet.apply(desired)
    }
    this.#refreshStatus()
  }

  #scheduleStatus(ms: number): void {
    if (this.#isStopped || this.#cancelStatus !== undefined) return
    this.#cancelStatus = this.#options.clock.after(ms, () => {
      this.#cancelStatus = undefined
      this.#refreshStatus()
    })
  }

  #refreshStatus(): void {
    const { clock, source, onStatus } = this.#options
    const reports = this.#fleet.reports()
    const verdicts = this.#reconciliation?.verdicts ?? new Map()
    this.#status = {
      isReady: this.#reconciliation !== undefined,
      resources: this.#book.update(verdicts, reports, clock.now()),
      dataPlanes: reports,
      notes: source.current().notes,
    }
    onStatus(this.#status)
    if (this.#book.isWaiting) this.#scheduleStatus(WAITING_MS)
  }
}
