// The desired set and the data planes in; a worker per data plane, and what they report, out.

import type { Log } from '../../telemetry/log.ts'
import type { DataPlane, DataPlaneReport, DataPlanes } from '../data-plane.ts'
import type { DesiredSet } from '../desired-set.ts'
import { type Clock, SYSTEM_CLOCK } from '../clock.ts'
import type { Credentials } from './credentials.ts'
import { createManagementClient } from './management-client.ts'
import { select } from './selection.ts'
import { SyncTexts } from './sync-body.ts'
import type { Tenure } from '../tenure.ts'
import { Worker } from './worker.ts'

export interface FleetOptions {
  readonly dataPlanes: DataPlanes
  /** The name under which data planes are managed. */
  readonly manager: string
  readonly tenure: Tenure
  readonly credentials: () => Promise<Credentials>
  readonly log: Log
  /** After every change of a report. */
  readonly onReport: (report: DataPlaneReport) => void
  readonly confirmDeletes: () => Promise<boolean>
  readonly clock?: Clock
  readonly pollMs?: number
  readonly timeoutMs?: number
}

const POLL_MS = 5_000
const TIMEOUT_MS = 10_000

export class Fleet {
  readonly #workers = new Map<string, Worker>()
  readonly #options: FleetOptions
  readonly #texts = new SyncTexts()
  #desired: DesiredSet | undefined

  constructor(options: FleetOptions) {
    this.#options = options
  }

  start(): void {
    this.#options.dataPlanes.start((dataPlanes) => {
      this.#adopt(dataPlanes)
    })
  }

  /** Every data plane is brought to hold its part of `desired`; the first call starts the work. */
  apply(desired: DesiredSet): void {
    this.#desired = desired
    for (const worker of this.#workers.values()) {
      worker.update(select(desired, worker.report.dataPlane))
    }
  }

  reports(): readonly DataPlaneReport[] {
    return [...this.#workers.values()].map(({ report }) => report)
  }

  async stop(): Promise<void> {
    this.#options.dataPlanes.stop()
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()))
    this.#workers.clear()
  }

  #adopt(dataPlanes: readonly DataPlane[]): void {
    const wanted = new Map(dataPlanes.map((dataPlane) => [dataPlane.name, dataPlane]))
    for (const [name, worker] of this.#workers) {
      const { url, labels } = worker.report.dataPlane
      const next = wanted.get(name)
      if (next?.url === url && sameLabels(next.labels, labels)) continue
      this.#workers.delete(name)
      void worker.stop()
    }
    for (const [name, dataPlane] of wanted) if (!this.#workers.has(name)) this.#add(dataPlane)
  }

  #add(dataPlane: DataPlane): void {
    const worker = this.#open(dataPlane)
    this.#workers.set(dataPlane.name, worker)
    if (this.#desired !== undefined) worker.update(select(this.#desired, dataPlane))
  }

  #open(dataPlane: DataPlane): Worker {
    const { credentials, manager, tenure, log, onReport, confirmDeletes } = this.#options
    const { clock = SYSTEM_CLOCK, pollMs = POLL_MS, timeoutMs = TIMEOUT_MS } = this.#options
    return new Worker(dataPlane, {
      client: createManagementClient(dataPlane, { credentials, timeoutMs }),
      pollMs,
      onReport,
      context: {
        ...{ manager, tenure, clock, log, confirmDeletes },
        texts: this.#texts,
        freshMs: pollMs - 1,
        isElsewhere: (id) => this.#isElsewhere(dataPlane.name, id),
      },
    })
  }

  #isElsewhere(name: string, id: string): boolean {
    for (const [other, { report }] of this.#workers) {
      if (other !== name && report.ready && report.documents.has(id)) return true
    }
    return false
  }
}

const sameLabels = (
  left: Readonly<Record<string, string>>,
  right: Readonly<Record<string, string>>,
): boolean => JSON.stringify(left) === JSON.stringify(right)
