// One data plane: rounds with it, one at a time, at every change and every few seconds; back-off when they
// fail. Its trouble is its own: no other data plane waits for it.

import type { DataPlane, DataPlanePhase, DataPlaneReport } from '../data-plane.ts'
import { backOffMs } from '../clock.ts'
import { PlaneMemory, type RoundContext, type RoundOutcome } from './plane-memory.ts'
import type { ManagementClient } from './management-client.ts'
import type { Selection } from './selection.ts'
import { runRound } from './sync-round.ts'

export interface WorkerOptions {
  readonly client: ManagementClient
  readonly context: RoundContext
  readonly pollMs: number
  readonly onReport: (report: DataPlaneReport) => void
}

/** So often something may move under our hands before it counts as a failure. */
const MAX_NOW = 3

const PHASES_UNANSWERED: ReadonlySet<DataPlanePhase> = new Set([
  'connecting',
  'unreachable',
  'unauthorized',
])

export class Worker {
  readonly #memory: PlaneMemory
  readonly #options: WorkerOptions
  #selection: Selection | undefined
  #report: DataPlaneReport
  /** Something changed since the last round began. */
  #isDirty = false
  #isStopped = false
  #wakeUp: (() => void) | undefined
  #running: Promise<void> | undefined
  #failures = 0
  #movedInARow = 0

  constructor(dataPlane: DataPlane, options: WorkerOptions) {
    this.#options = options
    this.#memory = new PlaneMemory(dataPlane, options.client)
    this.#report = this.#describe({ phase: 'connecting', message: '', next: 'poll' })
  }

  get report(): DataPlaneReport {
    return this.#report
  }

  /** The first selection starts the work; every further one wakes it. */
  update(selection: Selection): void {
    this.#selection = selection
    this.wake()
    this.#running ??= this.#run()
  }

  /** A round soon; while backing off, when that is over. */
  wake(): void {
    this.#isDirty = true
    this.#wakeUp?.()
  }

  /** Breaks off what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wakeUp?.()
    await this.#memory.client.close()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isOver()) {
      const selection = this.#selection
      if (selection === undefined) return
      this.#isDirty = false
      const outcome = await this.#round(selection)
      if (this.#isOver()) return
      this.#tell(outcome)
      await this.#pause(this.#settle(outcome))
    }
  }

  /** A call, as it changes while a round is awaited. */
  #isOver(): boolean {
    return this.#isStopped
  }

  async #round(selection: Selection): Promise<RoundOutcome> {
    try {
      return await runRound(this.#memory, selection, this.#options.context)
    } catch (error) {
      // A bug of ours must not end the work with this data plane for good.
      const { log } = this.#options.context
      log.error('a round with a data plane failed', {
        dataPlane: this.#report.dataPlane.name,
        error,
      })
      this.#memory.doubt()
      const message = error instanceof Error ? error.message : String(error)
      return { phase: 'unreachable', message, next: 'back_off' }
    }
  }

  #settle({ next }: RoundOutcome): RoundOutcome['next'] {
    this.#movedInARow = next === 'now' ? this.#movedInARow + 1 : 0
    const settled = this.#movedInARow > MAX_NOW ? 'back_off' : next
    this.#failures = settled === 'back_off' ? this.#failures + 1 : 0
    return settled
  }

  async #pause(next: RoundOutcome['next']): Promise<void> {
    if (next === 'now') return
    const { clock } = this.#options.context
    const isBackOff = next === 'back_off'
    if (!isBackOff && this.#isDirty) return
    const ms = isBackOff
      ? backOffMs(this.#failures - 1, () => clock.random())
      : this.#options.pollMs
    await new Promise<void>((resolve) => {
      const cancel = clock.after(ms, resolve)
      this.#wakeUp = () => {
        if (isBackOff && !this.#isStopped) return
        cancel()
        resolve()
      }
    })
    this.#wakeUp = undefined
  }

  #tell(outcome: RoundOutcome): void {
    const before = this.#report
    const report = this.#describe(outcome)
    if (sameReport(before, report)) return
    this.#report = report
    if (before.phase !== report.phase) this.#logPhase(report)
    this.#options.onReport(report)
  }

  #describe({ phase, message }: RoundOutcome): DataPlaneReport {
    const { dataPlane, held, rejections } = this.#memory
    return {
      dataPlane,
      phase,
      message,
      ready: held?.complete === true && !PHASES_UNANSWERED.has(phase),
      documents: new Map(held?.documents),
      realms: new Map(held?.realms),
      rejected: { documents: new Map(rejections.documents), realms: new Map(rejections.realms) },
    }
  }

  #logPhase({ dataPlane, phase, message }: DataPlaneReport): void {
    const { log } = this.#options.context
    const fields = { dataPlane: dataPlane.name, phase, ...(message !== '' && { reason: message }) }
    if (message === '') log.info('data plane has changed its phase', fields)
    else log.warn('data plane has changed its phase', fields)
  }
}

const sameReport = (left: DataPlaneReport, right: DataPlaneReport): boolean =>
  left.phase === right.phase &&
  left.message === right.message &&
  left.ready === right.ready &&
  sameMap(left.documents, right.documents) &&
  sameMap(left.realms, right.realms) &&
  sameMap(left.rejected.documents, right.rejected.documents) &&
  sameMap(left.rejected.realms, right.rejected.realms)

/** Entries are replaced when they change, but for a state that was read again and says the same. */
const sameMap = (
  left: ReadonlyMap<string, { readonly digest: string }>,
  right: ReadonlyMap<string, { readonly digest: string }>,
): boolean => {
  if (left.size !== right.size) return false
  for (const [key, entry] of left) {
    const other = right.get(key)
    if (entry !== other && JSON.stringify(entry) !== JSON.stringify(other)) return false
  }
  return true
}
