// Brings one data plane into line with the desired state, round after round, and reports what it has loaded. A data plane
// that fails does not delay others.

import { messageOf } from '../../base/thrown.ts'
import type { DataPlane, DataPlanePhase, DataPlaneReport } from '../data-plane.ts'
import { EndpointsSender, type SenderOptions } from './endpoints-sender.ts'
import type { ManagementClient } from './management-client.ts'
import type { Neighbourhood } from './neighbourhood.ts'
import { PlaneReporter } from './plane-reporter.ts'
import { RoundLoop } from './round-loop.ts'
import type { PlaneCounts } from './sync/counters.ts'
import type { MassDeleteGuard } from './sync/mass-delete-guard.ts'
import {
  type FleetContext,
  PlaneMemory,
  type RoundContext,
  type RoundResult,
} from './sync/plane-memory.ts'
import type { Selection, Selections } from './sync/selection.ts'
import { runRound } from './sync/sync-round.ts'

export interface WorkerOptions {
  readonly client: ManagementClient
  readonly fleet: FleetContext
  readonly acquirePermit: Neighbourhood['acquirePermit']
  readonly pollMs: number
  /** A round that receives nothing for this time gives its permit to another data plane. */
  readonly patienceMs: number
  readonly isElsewhere: RoundContext['isElsewhere']
  readonly isHeldElsewhere: RoundContext['isHeldElsewhere']
  readonly onReport: (report: DataPlaneReport) => void
  /** Absent: the data plane is not sent the Pods of Services. */
  readonly endpoints?: WorkerEndpoints
  /** The guard of the previous worker, if this is the same data plane after a restart. */
  readonly guard?: MassDeleteGuard
}

/** What the fleet knows of Services, for this data plane. */
export interface WorkerEndpoints extends Pick<SenderOptions, 'source' | 'bodyBytes'> {
  readonly wantedBy: (dataPlane: DataPlane, selection: Selection) => ReadonlySet<string>
}

/** A data plane that was created so recently may not listen yet. */
const STARTING_MS = 60_000

const NO_SERVICES: ReadonlySet<string> = new Set()

/** Phases of data planes that have responded and that this operator may change. */
const PHASES_OURS: ReadonlySet<DataPlanePhase> = new Set([
  'syncing',
  'synced',
  'holding',
  'withheld',
])

/** Lower values get a permit first. */
const URGENCY = { fresh: 0, change: 1, check: 2, failing: 3 }

export class Worker {
  readonly #memory: PlaneMemory
  readonly #options: WorkerOptions
  readonly #loop: RoundLoop
  readonly #reporter: PlaneReporter
  readonly #context: RoundContext
  readonly #endpoints: EndpointsSender | undefined
  readonly #createdAtMs: number
  #selections: Selections | undefined
  #selected: { readonly dataPlane: DataPlane; readonly selection: Selection } | undefined
  #hasResponded = false

  constructor(dataPlane: DataPlane, options: WorkerOptions) {
    const { client, fleet, isElsewhere, isHeldElsewhere, guard, onReport } = options
    this.#options = options
    this.#memory = new PlaneMemory(dataPlane, client, guard)
    this.#createdAtMs = fleet.clock.now()
    this.#loop = this.#createLoop()
    this.#context = {
      ...fleet,
      counts: fleet.counter.plane(),
      signal: this.#loop.signal,
      isElsewhere,
      isHeldElsewhere,
      urgency: () => this.#urgency(),
      onResponse: () => {
        this.#hasResponded = true
        this.#loop.noteResponse()
      },
      isCurrent: ({ desired }) => desired === this.#selections?.desired,
    }
    this.#endpoints = options.endpoints && this.#createSender(options.endpoints)
    this.#reporter = new PlaneReporter({
      memory: this.#memory,
      version: fleet.version,
      log: fleet.log,
      selection: () => this.#selection(),
      isStarting: () => this.#isStarting(),
      onReport,
    })
  }

  get report(): DataPlaneReport {
    return this.#reporter.report
  }

  get counts(): PlaneCounts {
    return this.#context.counts.counts
  }

  get client(): ManagementClient {
    return this.#options.client
  }

  /** Ids of documents that are deleted here as soon as another data plane has them. */
  get waitsFor(): readonly string[] {
    return this.#memory.waitsFor
  }

  /** To be passed to the worker that replaces this one. */
  get guard(): MassDeleteGuard {
    return this.#memory.guard
  }

  /** The first call starts the rounds, later ones wake the loop. */
  update(selections: Selections): void {
    this.#selections = selections
    this.#selected = undefined
    this.wake()
    this.#loop.start()
    this.#endpoints?.follow()
  }

  /** Call it when the Pods of Services have changed. */
  wakeEndpoints(): void {
    this.#endpoints?.wake()
  }

  /** Call it when the same process at the same address has other labels. */
  relabel(dataPlane: DataPlane): void {
    this.#memory.dataPlane = dataPlane
    this.#reporter.relabel(dataPlane)
    this.wake()
    // Other documents may select it now, which name other Services.
    this.#endpoints?.follow()
  }

  /** Runs a round soon or, during a back-off, at its end. */
  wake(): void {
    this.#loop.wake()
  }

  /** Aborts what is under way; once it has resolved, nothing is sent or reported any more. */
  async stop(): Promise<void> {
    const ended = this.#loop.stop(new Error('the operator no longer manages this data plane'))
    await this.#options.client.close()
    await ended
    await this.#endpoints?.stop()
  }

  #createLoop(): RoundLoop {
    const { acquirePermit, pollMs, patienceMs, fleet } = this.#options
    return new RoundLoop({
      clock: fleet.clock,
      acquirePermit,
      pollMs,
      patienceMs,
      urgency: () => this.#urgency(),
      isStarting: () => this.#isStarting(),
      runRound: () => runRound(this.#memory, this.#requireSelection(), this.#context),
      onThrown: (error) => this.#resultOf(error),
      onResult: (result) => {
        this.#onResult(result)
      },
    })
  }

  #createSender({ source, bodyBytes, wantedBy }: WorkerEndpoints): EndpointsSender {
    const { fleet, client } = this.#options
    return new EndpointsSender({
      ...fleet,
      client,
      source,
      bodyBytes,
      dataPlane: this.#memory.dataPlane.name,
      signal: this.#loop.signal,
      wanted: () => {
        const selection = this.#selection()
        return selection === undefined ? NO_SERVICES : wantedBy(this.#memory.dataPlane, selection)
      },
    })
  }

  #onResult(result: RoundResult): void {
    this.#reporter.update(result)
    const bootId = PHASES_OURS.has(result.phase) ? this.#memory.loaded?.bootId : undefined
    this.#endpoints?.afterRound(bootId)
  }

  #requireSelection(): Selection {
    const selection = this.#selection()
    if (selection === undefined) throw new Error('nothing was selected yet')
    return selection
  }

  /** Undefined: nothing was selected yet. Called several times in each round. */
  #selection(): Selection | undefined {
    const [selections, { dataPlane }] = [this.#selections, this.#memory]
    if (selections === undefined) return undefined
    if (this.#selected?.dataPlane !== dataPlane)
      this.#selected = { dataPlane, selection: selections.for(dataPlane) }
    return this.#selected.selection
  }

  /** The loop was stopped; or there is a bug, which must not end the rounds with this data plane for good. */
  #resultOf(error: unknown): RoundResult {
    const { log } = this.#options.fleet
    const { name } = this.#memory.dataPlane
    if (!this.#loop.signal.aborted) {
      log.error('a round with a data plane failed', { dataPlane: name, error })
    }
    this.#memory.invalidate()
    return { phase: 'unreachable', message: messageOf(error), next: 'back_off' }
  }

  #urgency(): number {
    if (this.#loop.isFailing) return URGENCY.failing
    if (this.#memory.loaded?.complete !== true) return URGENCY.fresh
    const isInLine = this.report.phase === 'synced'
    return this.#loop.hasChanged || !isInLine ? URGENCY.change : URGENCY.check
  }

  /** Whether it may still be starting, so that a failure need not be logged yet. */
  #isStarting(): boolean {
    const ageMs = this.#options.fleet.clock.now() - this.#createdAtMs
    return !this.#hasResponded && ageMs < STARTING_MS
  }
}
