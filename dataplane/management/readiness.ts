// Decides from the events of a gateway's life whether it may receive traffic (behaviour §8–9; architecture, *How a
// document travels*). Ready is a latch: only draining ends it.

import type { SyncItem } from '../../language/wire/wire.ts'

export type ReadinessState = 'waiting' | 'ready' | 'ready-from-snapshot' | 'draining'

export interface ReadinessOptions {
  /** Whether an operator owns the gateway, which is then ready only once the operator has completed a sync. */
  readonly isManaged: boolean
  /** 0: never from the snapshot. */
  readonly readyFromSnapshotMs: number
  /** Milliseconds of a clock that does not jump. */
  readonly now: () => number
}

/**
 * @example
 * const readiness = new Readiness({ isManaged: true, readyFromSnapshotMs: 60_000, now: () => performance.now() })
 * readiness.restored(complete)
 * readiness.state // 'waiting'
 */
export class Readiness {
  readonly #options: ReadinessOptions
  #latched: 'ready' | 'ready-from-snapshot' | undefined
  #isDraining = false
  #isCalled = false
  /** Kind and key of entries of the manager that were rejected, until all is complete; only their number is shown. */
  readonly #refused = new Set<string>()
  #hasSnapshot = false
  /** When the operator called last, or the process started. */
  #heardAt: number

  constructor(options: ReadinessOptions) {
    this.#options = options
    this.#heardAt = options.now()
    this.#latched = options.isManaged ? undefined : 'ready'
  }

  /** Call it when the snapshot is served again; `isComplete`: it has everything that the same manager had completed. */
  restored(isComplete: boolean): void {
    this.#hasSnapshot = isComplete
  }

  /**
   * Call it when a sync call of the manager was accepted. One that is not complete means that the operator is still
   * sending.
   * @param items the results of its entries
   */
  synced(isComplete: boolean, items: readonly Pick<SyncItem, 'kind' | 'id' | 'result'>[]): void {
    this.#heardAt = this.#options.now()
    this.#isCalled = true
    if (isComplete) this.#latched = 'ready'
    if (this.#latched === 'ready') this.#refused.clear()
    else for (const item of items) this.#note(item)
  }

  /** Call it when the process is told to end: it is never ready again. */
  drain(): void {
    this.#isDraining = true
  }

  get state(): ReadinessState {
    if (this.#isDraining) return 'draining'
    if (this.#latched === undefined && this.#isSnapshotDue) this.#latched = 'ready-from-snapshot'
    return this.#latched ?? 'waiting'
  }

  /** Describes what keeps the gateway waiting. It has counts only, as anybody may send a probe. */
  get waitsFor(): string {
    if (!this.#isCalled) {
      return 'No sync call of the manager was accepted since the start: does the operator run, does it reach the management port, and is its name that of --managed?'
    }
    if (this.#refused.size === 0) return 'The manager is still sending its documents and realms.'
    const documents = [...this.#refused].filter((each) => each.startsWith('spec\t')).length
    const counts = [
      countOf(documents, 'document', 'documents'),
      countOf(this.#refused.size - documents, 'realm', 'realms'),
    ]
    return `Of what the manager has sent this gateway rejected ${counts.filter((each) => each !== '').join(' and ')}. The log names them, and so does an Event of the Pod if other gateways serve them.`
  }

  get isReady(): boolean {
    return this.state === 'ready' || this.state === 'ready-from-snapshot'
  }

  #note({ kind, id, result }: Pick<SyncItem, 'kind' | 'id' | 'result'>): void {
    const key = `${kind}\t${id}`
    if (result !== 'rejected') this.#refused.delete(key)
    else if (this.#refused.size < MAX_REFUSED) this.#refused.add(key)
  }

  get #isSnapshotDue(): boolean {
    const { readyFromSnapshotMs, now } = this.#options
    return (
      this.#hasSnapshot && readyFromSnapshotMs > 0 && now() - this.#heardAt >= readyFromSnapshotMs
    )
  }
}

const MAX_REFUSED = 10_000

/** @example countOf(2, 'document', 'documents') // '2 documents' */
const countOf = (count: number, one: string, many: string): string =>
  count === 0 ? '' : `${count} ${count === 1 ? one : many}`
