// Events of a gateway's life in, one question out: may traffic come here? (behaviour §8–9; architecture,
// *How a document travels*.) Ready is a latch: only draining ends it.

export type ReadinessState = 'waiting' | 'ready' | 'ready-from-snapshot' | 'draining'

export interface ReadinessOptions {
  /** Owned by an operator: ready only once it has completed a sync. */
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
  #hasSnapshot = false
  /** When the operator was last heard of, or the process began. */
  #heardAt: number

  constructor(options: ReadinessOptions) {
    this.#options = options
    this.#heardAt = options.now()
    this.#latched = options.isManaged ? undefined : 'ready'
  }

  /** The snapshot is served again; `isComplete`: it is all that the same manager had completed. */
  restored(isComplete: boolean): void {
    this.#hasSnapshot = isComplete
  }

  /** A sync call of the manager was let in. One that is not complete yet means: the operator is at work. */
  synced(isComplete: boolean): void {
    this.#heardAt = this.#options.now()
    if (isComplete) this.#latched = 'ready'
  }

  /** The process is told to end: no new traffic, whatever comes. */
  drain(): void {
    this.#isDraining = true
  }

  get state(): ReadinessState {
    if (this.#isDraining) return 'draining'
    if (this.#latched === undefined && this.#isSnapshotDue) this.#latched = 'ready-from-snapshot'
    return this.#latched ?? 'waiting'
  }

  get isReady(): boolean {
    return this.state === 'ready' || this.state === 'ready-from-snapshot'
  }

  get #isSnapshotDue(): boolean {
    const { readyFromSnapshotMs, now } = this.#options
    return (
      this.#hasSnapshot && readyFromSnapshotMs > 0 && now() - this.#heardAt >= readyFromSnapshotMs
    )
  }
}
