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

/** What the rows of a document share. */
export interface RowDocument {
  readonly totals: RequestTotals
  /** Grows whenever the document is loaded or removed: a row that had no series by then gets none any more. */
  readonly edition: number
  readonly scrapes: ScrapeCount
  /** Looks for a series for a row that has none. Each row calls it with its first request after a scrape. */
  findPlace(row: CountedRow): void
}

/** How often the metrics were read. */
export interface ScrapeCount {
  readonly count: number
}

/** Fields, not an array: ten thousand rows are 1 MB, not 2. */
export class CountedRow implements RequestRow {
  readonly place: RowPlace
  readonly document: RowDocument
  /** The row that counts what this one would, as this one has no series. */
  #successor: CountedRow | undefined = undefined
  /** What was read last. */
  #read: readonly number[] = []
  #edition: number
  /** The scrape after which it last looked for a place. */
  #scrape: number
  #informational = 0
  #successful = 0
  #redirecting = 0
  #clientErrors = 0
  #serverErrors = 0

  constructor(place: RowPlace, document: RowDocument) {
    this.place = place
    this.document = document
    this.#edition = document.edition
    this.#scrape = document.scrapes.count
  }

  observe(status: number, seconds: number): void {
    const { document } = this
    if (this.#scrape !== document.scrapes.count) this.#findPlace()
    if (this.#successor === undefined) this.#count(status)
    else this.#last().#count(status)
    document.totals.observe(status, seconds)
  }

  get hasSeries(): boolean {
    return this.#successor === undefined
  }

  /** Whether its document was loaded again or removed since: what holds this row serves no new request. */
  get isOutdated(): boolean {
    return this.#edition !== this.document.edition
  }

  /** As `STATUS_CLASSES`, to be shown. */
  read(): readonly number[] {
    return (this.#read = this.#classes())
  }

  /** What was counted since it was last read, to be sent. */
  takeUnread(): readonly number[] {
    const unread = this.#unread()
    this.#read = this.#classes()
    return unread
  }

  /**
   * From now on the successor counts. It takes over the requests since the last scrape, so that none is missed. This row
   * keeps the values of the last scrape, and continues from them if it gets its series back.
   */
  giveWay(successor: CountedRow): void {
    successor.add(this.#unread())
    this.#set(this.#read)
    this.#successor = successor
    this.#edition = this.document.edition
  }

  /**
   * It has a series from now on.
   * @param former the row that had it before, from whose counts this one counts on: to a scraper, a counter that begins
   *   again at 0 and soon exceeds what it was has lost as much
   */
  takeSeries(former: CountedRow | undefined): void {
    if (former !== undefined && former !== this) {
      this.#set(former.#classes())
      this.#read = former.#read
      former.#set([])
      former.#read = []
      // Requests that have begun under it may still end.
      former.#successor = this
    }
    this.#successor = undefined
  }

  get total(): number {
    const served = this.#informational + this.#successful + this.#redirecting
    return served + this.#clientErrors + this.#serverErrors
  }

  /** Adds what another row or process has counted. */
  add(classes: readonly number[]): void {
    const row = this.#last()
    const [informational = 0, successful = 0, redirecting = 0, client = 0, server = 0] = classes
    row.#informational += informational
    row.#successful += successful
    row.#redirecting += redirecting
    row.#clientErrors += client
    row.#serverErrors += server
  }

  #findPlace(): void {
    this.#scrape = this.document.scrapes.count
    this.document.findPlace(this)
  }

  #last(): CountedRow {
    let row: CountedRow = this.#successor ?? this
    while (row.#successor !== undefined) row = row.#successor
    return row
  }

  #classes(): readonly number[] {
    return [
      this.#informational,
      this.#successful,
      this.#redirecting,
      this.#clientErrors,
      this.#serverErrors,
    ]
  }

  #unread(): readonly number[] {
    return subtract(this.#classes(), this.#read)
  }

  #set(classes: readonly number[]): void {
    const [informational = 0, successful = 0, redirecting = 0, client = 0, server = 0] = classes
    this.#informational = informational
    this.#successful = successful
    this.#redirecting = redirecting
    this.#clientErrors = client
    this.#serverErrors = server
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
  /** What was read last. */
  #read: RequestSums = NOTHING

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

  /** To be shown. */
  read(): RequestSums {
    return (this.#read = this.#sums())
  }

  /** What was counted since they were last read, to be sent. */
  takeUnread(): RequestSums {
    const unread = this.#unread()
    this.#read = this.#sums()
    return unread
  }

  /** The successor gets what has not been read yet; these keep what was read last, as a row does. */
  giveWay(successor: RequestTotals): void {
    successor.add(this.#unread())
    this.#buckets.fill(0)
    this.#errors?.fill(0)
    this.#seconds = 0
    this.add(this.#read)
  }

  get total(): number {
    return this.#buckets.reduce((sum, count) => sum + count, 0)
  }

  /** Adds what others have counted. */
  add({ buckets, seconds, errors }: RequestSums): void {
    buckets.forEach((count, bucket) => {
      this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + count
    })
    this.#seconds += seconds
    errors.forEach((count, index) => {
      if (count > 0) this.#addError(index, count)
    })
  }

  #sums(): RequestSums {
    return {
      buckets: [...this.#buckets],
      seconds: this.#seconds,
      errors: this.#errors === undefined ? NO_ERRORS : [...this.#errors],
    }
  }

  #unread(): RequestSums {
    const now = this.#sums()
    return {
      buckets: subtract(now.buckets, this.#read.buckets),
      seconds: now.seconds - this.#read.seconds,
      errors: subtract(now.errors, this.#read.errors),
    }
  }

  #addError(index: number, count: number): void {
    const errors = (this.#errors ??= new Float64Array(ERROR_STATUSES.length))
    errors[index] = (errors[index] ?? 0) + count
  }
}

/** @param read may be shorter: what it lacks is 0 */
const subtract = (counts: readonly number[], read: readonly number[]): readonly number[] =>
  counts.map((count, index) => count - (read[index] ?? 0))

const NO_ERRORS: readonly number[] = ERROR_STATUSES.map(() => 0)

const NOTHING: RequestSums = { buckets: [], seconds: 0, errors: [] }

const OTHER_ERRORS = ERROR_STATUSES.indexOf('5xx')

const ERROR_INDICES: ReadonlyMap<number, number> = new Map(
  ERROR_STATUSES.map((status, index) => [Number(status), index]),
)

const errorIndex = (status: number): number => ERROR_INDICES.get(status) ?? OTHER_ERRORS
