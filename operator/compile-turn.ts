// Bounds how long small documents are compiled before the event loop is free again: one edit of a Realm, a Secret or a
// Namespace may concern all 10,000 documents of a namespace, and those are 8 ms each.

/** Renewing a Lease, reports of data planes and edits of others wait for so long at most. */
const TURN_MS = 200

export interface CompileTurnOptions {
  /** The event loop was free, and there is time for what had to wait. */
  readonly onNext: () => void
  /** Milliseconds. */
  readonly now: () => number
}

export class CompileTurn {
  readonly #options: CompileTurnOptions
  /** Of this turn of the event loop; undefined: nothing was asked in it. */
  #startedMs: number | undefined
  #isAnyWaiting = false

  constructor(options: CompileTurnOptions) {
    this.#options = options
  }

  /** False: another turn begins once the event loop was free, and `onNext` is called. */
  hasTime(): boolean {
    const nowMs = this.#options.now()
    if (this.#startedMs === undefined) {
      this.#startedMs = nowMs
      setImmediate(() => {
        this.#end()
      })
    }
    const hasTime = nowMs - this.#startedMs < TURN_MS
    if (!hasTime) this.#isAnyWaiting = true
    return hasTime
  }

  #end(): void {
    const isAnyWaiting = this.#isAnyWaiting
    this.#startedMs = undefined
    this.#isAnyWaiting = false
    if (isAnyWaiting) this.#options.onNext()
  }
}
