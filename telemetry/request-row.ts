// Counts the requests of one operation by class of status, and those of one document by duration and status of failure.
// This is the hot path: it adds to numbers; names and texts are made only when they are read.

import { ERROR_STATUSES, type TotalsCounts } from './request-counts.ts'

/** Where one operation counts. The operation's closure holds it, so that no request looks it up. */
export interface RequestRow {
  observe(status: number, seconds: number): void
}

export interface RowPlace {
  readonly version: string
  readonly path: string
  readonly method: string
}

/** Fields, not an array: ten thousand rows are 1 MB, not 2. */
export class CountedRow implements RequestRow {
  readonly place: RowPlace
  /** The totals of its document. */
  readonly totals: RequestTotals
  #sent: readonly number[] = NONE
  #informational = 0
  #successful = 0
  #redirecting = 0
  #clientErrors = 0
  #serverErrors = 0

  constructor(place: RowPlace, totals: RequestTotals) {
    this.place = place
    this.totals = totals
  }

  observe(status: number, seconds: number): void {
    this.#count(status)
    this.totals.observe(status, seconds)
  }

  /** As `STATUS_CLASSES`. */
  classes(): readonly number[] {
    return [
      this.#informational,
      this.#successful,
      this.#redirecting,
      this.#clientErrors,
      this.#serverErrors,
    ]
  }

  /** What was counted since the last call, to be sent to another process. */
  takeUnsent(): readonly number[] {
    const classes = this.classes()
    const unsent = subtract(classes, this.#sent)
    this.#sent = classes
    return unsent
  }

  /** Adds what another process has counted. */
  add(classes: readonly number[]): void {
    const [informational = 0, successful = 0, redirecting = 0, client = 0, server = 0] = classes
    this.#informational += informational
    this.#successful += successful
    this.#redirecting += redirecting
    this.#clientErrors += client
    this.#serverErrors += server
  }

  #count(status: number): void {
    if (status < 300) {
      if (status >= 200) this.#successful += 1
      else this.#informational += 1
    } else if (status < 400) this.#redirecting += 1
    else if (status < 500) this.#clientErrors += 1
    else this.#serverErrors += 1
  }
}

/** Durations and failures of one document. */
export type RequestSums = Omit<TotalsCounts, 'api'>

/** The statuses of all requests of a process: one number for each. */
export const createStatusCounts = (): Float64Array => new Float64Array(1000)

export class RequestTotals {
  readonly #bounds: readonly number[]
  readonly #statuses: Float64Array
  readonly #buckets: Float64Array
  /** Made at the first failure. */
  #errors: Float64Array | undefined = undefined
  #seconds = 0
  #sent: RequestSums = NOTHING

  /**
   * @param bounds ascending upper bounds of the buckets, seconds
   * @param statuses of all documents together
   */
  constructor(bounds: readonly number[], statuses: Float64Array) {
    this.#bounds = bounds
    this.#statuses = statuses
    this.#buckets = new Float64Array(bounds.length + 1)
  }

  observe(status: number, seconds: number): void {
    const bounds = this.#bounds
    let bucket = 0
    while (seconds > (bounds[bucket] ?? Infinity)) bucket++
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1
    this.#seconds += seconds
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (status >= 499) this.#addError(errorIndex(status), 1)
  }

  sums(): RequestSums {
    return {
      buckets: [...this.#buckets],
      seconds: this.#seconds,
      errors: this.#errors === undefined ? NO_ERRORS : [...this.#errors],
    }
  }

  /** What was counted since the last call, to be sent to another process. */
  takeUnsent(): RequestSums {
    const [now, sent] = [this.sums(), this.#sent]
    this.#sent = now
    return {
      buckets: subtract(now.buckets, sent.buckets),
      seconds: now.seconds - sent.seconds,
      errors: subtract(now.errors, sent.errors),
    }
  }

  /** Adds what another process has counted. */
  add({ buckets, seconds, errors }: RequestSums): void {
    buckets.forEach((count, bucket) => {
      this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + count
    })
    this.#seconds += seconds
    errors.forEach((count, index) => {
      if (count > 0) this.#addError(index, count)
    })
  }

  #addError(index: number, count: number): void {
    const errors = (this.#errors ??= new Float64Array(ERROR_STATUSES.length))
    errors[index] = (errors[index] ?? 0) + count
  }
}

/** @param sent may be shorter: what it lacks is 0 */
const subtract = (counts: readonly number[], sent: readonly number[]): readonly number[] =>
  counts.map((count, index) => count - (sent[index] ?? 0))

const NONE: readonly number[] = []

const NO_ERRORS: readonly number[] = ERROR_STATUSES.map(() => 0)

const NOTHING: RequestSums = { buckets: NONE, seconds: 0, errors: NONE }

const OTHER_ERRORS = ERROR_STATUSES.indexOf('5xx')

const ERROR_INDICES: ReadonlyMap<number, number> = new Map(
  ERROR_STATUSES.map((status, index) => [Number(status), index]),
)

const errorIndex = (status: number): number => ERROR_INDICES.get(status) ?? OTHER_ERRORS
