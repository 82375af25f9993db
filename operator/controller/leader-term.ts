// Runs one leader term: it has a fleet of its own, which trusts nothing that an earlier one knew, the conditions during
// the term, and the search for versions that only data planes have. It ends at once.

import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import type { DataPlaneReport, DataPlanes } from '../data-plane.ts'
import { Fleet, type FleetOptions } from '../fleet/fleet.ts'
import { RecoverSource } from '../fleet/recover-source.ts'
import type { MissingVersion } from '../reconcile/documents/missing-version.ts'
import type { Reconciliation } from '../reconcile/reconciler.ts'
import { type ResourceStatus, StatusRegistry } from '../reconcile/status/status-registry.ts'
import { Handover } from './handover.ts'

export interface LeaderTermOptions {
  readonly fleet: Omit<FleetOptions, 'onReport' | 'onServices' | 'clock' | 'log'>
  readonly recover: (version: MissingVersion, document: RecoveredText) => Promise<boolean>
  /** Versions were recovered: the same cache must be validated again. */
  readonly onRecovered: () => void
  readonly onReport: () => void
  readonly clock: Clock
  readonly log: Log
}

type RecoveredText = Parameters<
  ConstructorParameters<typeof RecoverSource<MissingVersion>>[0]['recover']
>[1]

/** Also notifies when all data planes have gone, or there are none, which no report shows. */
const withNotification = (dataPlanes: DataPlanes, onChange: () => void): DataPlanes => ({
  start: (adopt) => {
    dataPlanes.start((all) => {
      adopt(all)
      onChange()
    })
  },
  synced: () => dataPlanes.synced(),
  stop: () => {
    dataPlanes.stop()
  },
})

export class LeaderTerm {
  readonly fleet: Fleet
  readonly #registry: StatusRegistry
  readonly #search: RecoverSource<MissingVersion>
  readonly #handover: Handover
  #hasSettled = false

  constructor({ fleet, recover, onRecovered, onReport, clock, log }: LeaderTermOptions) {
    this.#registry = new StatusRegistry(fleet.endpoints?.clusterDomain)
    this.#search = new RecoverSource({
      holders: (version) => this.fleet.holders(version),
      recover,
      onRecovered,
      clock,
      log,
    })
    this.fleet = new Fleet({
      ...fleet,
      clock,
      log,
      dataPlanes: withNotification(fleet.dataPlanes, onReport),
      onReport: () => {
        this.#search.lookAgain()
        onReport()
      },
      onServices: onReport,
    })
    this.#handover = new Handover({
      clock,
      apply: (desired) => {
        this.fleet.apply(desired)
      },
    })
  }

  start(): void {
    this.fleet.start()
  }

  /** @param isNew the desired state has changed, or is the first of this leader term */
  take({ desired, missing, isClaimed }: Reconciliation, isNew: boolean): void {
    if (isNew) this.#handover.take(desired, isClaimed)
    this.#search.want(missing)
  }

  reports(): readonly DataPlaneReport[] {
    return this.fleet.reports()
  }

  settle(results: Reconciliation['results'], nowMs: number): ReadonlyMap<string, ResourceStatus> {
    this.#hasSettled = true
    return this.#registry.update(results, this.reports(), nowMs, this.fleet.absentServices)
  }

  /** Whether conditions were settled in this leader term, which later ones continue. */
  get hasSettled(): boolean {
    return this.#hasSettled
  }

  /** Whether a condition may change as time passes. */
  get isWaiting(): boolean {
    return this.#registry.isWaiting
  }

  /** Aborts at once what is under way; resolves when that is done. */
  async end(): Promise<void> {
    this.#search.stop()
    this.#handover.stop()
    await this.fleet.stop()
  }
}
