// Defines the counts of requests as plain data, which one process sends to another: what it has counted since it sent
// them last.

export interface RequestLabels {
  /** Id of the document; empty where none served the request. */
  readonly api: string
  readonly version: string
  /** The path of the document, never the path of a request. */
  readonly path: string
  readonly method: string
  /** `namespace/name` of the resource that the document comes from; if left out, it comes from none. */
  readonly resource?: string | undefined
}

export interface RowCounts extends RequestLabels {
  /** Counts by class of the status, as `STATUS_CLASSES`. */
  readonly classes: readonly number[]
}

export interface TotalsCounts {
  readonly api: string
  /** Counts by bucket of the histogram, each for itself; the last is beyond all bounds. */
  readonly buckets: readonly number[]
  readonly seconds: number
  /** As `ERROR_STATUSES`. */
  readonly errors: readonly number[]
}

export interface RequestCounts {
  readonly rows: readonly RowCounts[]
  readonly totals: readonly TotalsCounts[]
  /** Status and count, of each status that there was. */
  readonly statuses: readonly (readonly [status: number, count: number])[]
}

export const NO_COUNTS: RequestCounts = { rows: [], totals: [], statuses: [] }

/** As they stand in the label `status`: `status=~"5.."` means all of a class, as it does for exact statuses. */
export const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** The statuses that are counted for each document; those with which gateway and upstream fail have their own. */
export const ERROR_STATUSES = ['499', '500', '502', '503', '504', '5xx'] as const

/** Where all is counted that has no series of its own: as version, path or method. */
export const OTHER = 'other'
/** The same as api. No document has this id, as none begins with `_`. */
export const OTHER_API = '_other'
