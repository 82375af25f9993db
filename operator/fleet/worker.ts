// One data plane: rounds with it, one at a time, at every change and every few seconds; back-off when they
// fail. Its trouble is its own: no other data plane waits for it.

import { messageOf } from '../../base/thrown.ts'
import type { DataPlane, DataPlanePhase, DataPlaneReport } from '../data-plane.ts'
import { backOffMs, DEFAULT_BACK_OFF } from '../../base/back-off.ts'
import type { PlaneCounts } from './sync/counters.ts'
import { EndpointsSender, type SenderOptions } from './endpoints-sender.ts'
import type { LoadedContents } from './sync/loaded-state.ts'
import type { MassDeleteGuard } from './sync/mass-delete-guard.ts'
import { LapsingPermit } from './lapsing-permit.ts'
import type { ManagementClient } from './management-client.ts'
import type { Neighbourhood } from './neighbourhood.ts'
import {
  type FleetContext,
  PlaneMemory,
  type RoundContext,
  type RoundOutcome,
} from './sync/plane-memory.ts'
import { sameReport } from './same-report.ts'
import type { Selection, Selections } from './sync/selection.ts'
import { describeSkew } from './skew.ts'
import { runRound } from './sync/sync-round.ts'
import { toldRealms } from './told-realms.ts'

export interface WorkerOptions {
  readonly client: ManagementClient
  readonly fleet: FleetContext
  readonly acquirePermit: Neighbourhood['acquirePermit']
  readonly pollMs: number
  /** A round that hears nothing for so long does not count as being at work. */
  readonly patienceMs: number
  readonly isElsewhere: RoundContext['isElsewhere']
  readonly isHeldElsewhere: RoundContext['isHeldElsewhere']
  readonly onReport: (report: DataPlaneReport) => void
  /** Left out: nobody tells of the Pods of Services. */
  readonly endpoints?: WorkerEndpoints
  /** Of the worker before, where this is the same data plane started anew. */
  readonly guard?: MassDeleteGuard
}

/** What the fleet knows of Services, for this data plane. */
export interface WorkerEndpoints extends Pick<SenderOptions, 'source' | 'bodyBytes'> {
  readonly wantedBy: (dataPlane: DataPlane, selection: Selection) => ReadonlySet<string>
}

/** So often something may move under our hands before it counts as a failure. */
const MAX_MOVED = 3
/** A process that was started just now listens soon: for so long it is tried at least so often. */
const YOUNG_MS = 60_000
const YOUNG_BACK_OFF_MS = 1_000
/** Polls of data planes that were found together drift apart. */
const JITTER = 0.1
/** Those that are due at nearly the same time are made together: waking up for each cost more than the poll itself. */
const TOGETHER = 0.1

const NOTHING_HELD: LoadedContents = { documents: new Map(), realms: new Map() }

const NO_REALMS: Selection['realms'] = new Map()
const NO_URIS: Selection['realmUris'] = new Set()

const PHASES_UNANSWERED: ReadonlySet<DataPlanePhase> = new Set([
  'connecting',
  'unreachable',
  'unauthorized',
])

/** It has answered, and is for us to write to. */
const PHASES_OURS: ReadonlySet<DataPlanePhase> = new Set([
  'syncing',
  'synced',
  'holding',
  'withheld',
])

/** The lower, the sooner. */
const URGENCY = { fresh: 0, change: 1, check: 2, failing: 3 }

export class Worker {
  readonly #memory: PlaneMemory
  readonly #options: WorkerOptions
  readonly #context: RoundContext
  readonly #closing = new AbortController()
  readonly #endpoints: EndpointsSender | undefined
  readonly #bornMs: number
  #selections: Selections | undefined
  #report: DataPlaneReport
  /** What the report was made of. */
  #told: readonly unknown[] = []
  /** Something changed since the last round began. */
  #isDirty = false
  #wakeUp: (() => void) | undefined
  #running: Promise<void> | undefined
  #permit: LapsingPermit | undefined
  #hasAnswered = false
  #wasWaitedFor = false
  /** In the round that is under way. */
  #isAnswering = false
  #failures = 0
  #movedInARow = 0

  constructor(dataPlane: DataPlane, options: WorkerOptions) {
    const { client, fleet, isElsewhere, isHeldElsewhere, guard } = options
    this.#options = options
    this.#memory = new PlaneMemory(dataPlane, client, guard)
    this.#bornMs = fleet.clock.now()
    this.#context = {
      ...fleet,
      counts: fleet.counter.plane(),
      signal: this.#closing.signal,
      isElsewhere,
      isHeldElsewhere,
      urgency: () => this.#urgency(),
      onAnswer: () => {
        this.#hasAnswered = true
        this.#isAnswering = true
        this.#permit?.progress()
      },
      isCurrent: ({ desired }) => desired === this.#selections?.desired,
    }
    this.#endpoints = options.endpoints && this.#senderOf(options.endpoints)
    this.#report = this.#describe({ phase: 'connecting', message: '', next: 'poll' })
  }

  get report(): DataPlaneReport {
    return this.#report
  }

  get counts(): PlaneCounts {
    return this.#context.counts.counts
  }

  get client(): ManagementClient {
    return this.#options.client
  }

  /** Ids of documents that it would delete, had another one taken them. */
  get waitsFor(): readonly string[] {
    return this.#memory.waitsFor
  }

  /** Goes to the worker that comes after this one. */
  get guard(): MassDeleteGuard {
    return this.#memory.guard
  }

  /** The first selections start the work; every further ones wake it. */
  update(selections: Selections): void {
    this.#selections = selections
    this.wake()
    this.#running ??= this.#run()
    this.tellEndpoints()
  }

  /** Pods of Services have changed, or which Services are named. */
  tellEndpoints(): void {
    this.#endpoints?.wake()
  }

  /** The same process by the same address, with other labels. */
  relabel(dataPlane: DataPlane): void {
    this.#memory.dataPlane = dataPlane
    this.#report = { ...this.#report, dataPlane }
    this.wake()
  }

  /** A round soon; while backing off, when that is over. */
  wake(): void {
    this.#isDirty = true
    this.#wakeUp?.()
  }

  /** Breaks off what is under way; nothing is sent when it has resolved, and nothing is reported any more. */
  async stop(): Promise<void> {
    this.#closing.abort(new Error('the operator has let go of it'))
    this.#wakeUp?.()
    await this.#options.client.close()
    await this.#running
    await this.#endpoints?.stop()
  }

  async #run(): Promise<void> {
    while (!this.#isOver()) {
      const { pushes } = this.#context.counts.counts
      const before = pushes.ok
      const outcome = await this.#round()
      if (this.#isOver()) return
      this.#tell(outcome)
      const isOurs = PHASES_OURS.has(outcome.phase)
      this.#endpoints?.afterRound(
        isOurs ? this.#memory.held?.bootId : undefined,
        pushes.ok > before,
      )
      await this.#pause(this.#settle(outcome))
    }
  }

  #senderOf({ source, bodyBytes, wantedBy }: WorkerEndpoints): EndpointsSender {
    const { fleet, client } = this.#options
    return new EndpointsSender({
      ...fleet,
      client,
      source,
      bodyBytes,
      dataPlane: this.#memory.dataPlane.name,
      signal: this.#closing.signal,
      wanted: () => {
        const selection = this.#selection()
        return selection === undefined ? NO_URIS : wantedBy(this.#memory.dataPlane, selection)
      },
    })
  }

  /** A call, as it changes while a round is awaited. */
  #isOver(): boolean {
    return this.#closing.signal.aborted
  }

  async #round(): Promise<RoundOutcome> {
    const { fleet, acquirePermit, patienceMs } = this.#options
    const { signal, urgency } = this.#context
    this.#isAnswering = false
    try {
      const release = await acquirePermit({ urgency, signal })
      this.#permit = new LapsingPermit(release, fleet.clock, patienceMs)
      this.#isDirty = false
      return await runRound(this.#memory, this.#select(), this.#context)
    } catch (error) {
      return this.#broken(error)
    } finally {
      this.#permit?.release()
      this.#permit = undefined
    }
  }

  #select(): Selection {
    const selection = this.#selection()
    if (selection === undefined) throw new Error('nothing was selected yet')
    return selection
  }

  /** Undefined: nothing was selected yet. */
  #selection(): Selection | undefined {
    return this.#selections?.for(this.#memory.dataPlane)
  }

  /** Stopped; or a bug of ours, which must not end the work with this data plane for good. */
  #broken(error: unknown): RoundOutcome {
    const { log } = this.#options.fleet
    const { name } = this.#memory.dataPlane
    if (!this.#isOver()) log.error('a round with a data plane failed', { dataPlane: name, error })
    this.#memory.doubt()
    const message = messageOf(error)
    return { phase: 'unreachable', message, next: 'back_off' }
  }

  #urgency(): number {
    if (this.#failures > 0 && !this.#isAnswering) return URGENCY.failing
    if (this.#memory.held?.complete !== true) return URGENCY.fresh
    return this.#isDirty || !this.#isInLine() ? URGENCY.change : URGENCY.check
  }

  /** It is as it should be, as far as was known at its last round. */
  #isInLine(): boolean {
    return this.#report.phase === 'synced'
  }

  #settle({ next }: RoundOutcome): 'again' | 'poll' | 'back_off' {
    this.#movedInARow = next === 'moved' ? this.#movedInARow + 1 : 0
    const settled = next !== 'moved' ? next : this.#movedInARow > MAX_MOVED ? 'back_off' : 'again'
    this.#failures = settled === 'back_off' ? this.#failures + 1 : 0
    return settled
  }

  async #pause(next: 'again' | 'poll' | 'back_off'): Promise<void> {
    const isBackOff = next === 'back_off'
    if (next === 'again' || (!isBackOff && this.#isDirty)) return
    const ms = isBackOff ? this.#backOffMs() : this.#pollMs()
    await new Promise<void>((resolve) => {
      const cancel = this.#options.fleet.clock.after(ms, resolve)
      this.#wakeUp = () => {
        if (isBackOff && !this.#isOver()) return
        cancel()
        resolve()
      }
    })
    this.#wakeUp = undefined
  }

  #pollMs(): number {
    const { pollMs, fleet } = this.#options
    const ms = pollMs * (1 + JITTER * fleet.clock.random())
    const together = pollMs * TOGETHER
    const nowMs = fleet.clock.now()
    return Math.ceil((nowMs + ms) / together) * together - nowMs
  }

  #backOffMs(): number {
    const { clock } = this.#options.fleet
    const ms = backOffMs(this.#failures, DEFAULT_BACK_OFF, clock.random())
    return this.#isStarting() ? Math.min(ms, YOUNG_BACK_OFF_MS) : ms
  }

  /** A process that was started just now, and that nobody need hear of yet. */
  #isStarting(): boolean {
    return !this.#hasAnswered && this.#options.fleet.clock.now() - this.#bornMs < YOUNG_MS
  }

  #tell(outcome: RoundOutcome): void {
    const { held, rejections, dataPlane } = this.#memory
    const selection = this.#selection()
    const made = [
      outcome.phase,
      outcome.message,
      held,
      held?.revision,
      rejections.revision,
      dataPlane,
      this.#isStarting(),
      selection?.realms,
    ]
    // A poll that finds nothing new costs no copy of what is held.
    if (made.every((part, index) => part === this.#told[index])) return
    this.#told = made
    const before = this.#report
    const report = this.#describe(outcome)
    this.#logPhase(before, report)
    if (sameReport(before, report)) return
    this.#report = report
    this.#options.onReport(report)
  }

  #describe({ phase, message }: RoundOutcome): DataPlaneReport {
    const { dataPlane, held, rejections } = this.#memory
    const version = held?.gatewayVersion
    const skew = describeSkew(version, this.#options.fleet.version)
    const contents = held?.snapshot() ?? NOTHING_HELD
    const selection = this.#selection()
    return {
      dataPlane,
      phase,
      message: [message, skew].filter((words) => words !== '').join('; '),
      ...(version !== undefined && { version }),
      ready: held?.complete === true && !PHASES_UNANSWERED.has(phase),
      documents: contents.documents,
      realms: toldRealms(contents.realms, selection?.realms ?? NO_REALMS),
      realmsGiven: selection?.realmUris ?? NO_URIS,
      ...(held !== undefined && { upstreams: held.upstreams }),
      rejected: { documents: new Map(rejections.documents), realms: new Map(rejections.realms) },
    }
  }

  /** That one that starts is not there yet is no warning, until it lasts. */
  #logPhase(before: DataPlaneReport, { dataPlane, phase, message }: DataPlaneReport): void {
    const isWaitedFor = phase === 'unreachable' && this.#isStarting()
    const isLate = this.#wasWaitedFor && !isWaitedFor
    this.#wasWaitedFor = isWaitedFor
    if (before.phase === phase && !isLate) return
    const { log } = this.#options.fleet
    const fields = { dataPlane: dataPlane.name, phase, ...(message !== '' && { reason: message }) }
    if (message === '' || isWaitedFor) log.info('data plane has changed its phase', fields)
    else log.warn('data plane has changed its phase', fields)
  }
}
