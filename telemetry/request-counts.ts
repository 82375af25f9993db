// Defines the counts of requests as plain data, which one process sends to another, and computes what was counted since
// they were read last.

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
  /** By class of the status, as `STATUS_CLASSES`. */
  readonly classes: readonly number[]
}

export interface TotalsCounts {
  readonly api: string
  /** By bucket of the histogram, each for itself; the last is beyond all bounds. */
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

/** Reads the counts of one process again and again, and gives what was added since. */
export class CountsSince {
  #rows: ReadonlyMap<string, RowCounts> = new Map()
  #totals: ReadonlyMap<string, TotalsCounts> = new Map()
  #statuses: ReadonlyMap<number, number> = new Map()

  /** @param counts as they are now; what is less than before has begun again at 0 */
  take(counts: RequestCounts): RequestCounts {
    const rows = new Map(counts.rows.map((row) => [keyOf(row), row]))
    const totals = new Map(counts.totals.map((each) => [each.api, each]))
    const statuses = new Map(counts.statuses)
    const added: RequestCounts = {
      rows: Array.from(rows, ([key, row]) => ({
        ...row,
        classes: addedSince(this.#rows.get(key)?.classes, row.classes),
      })).filter(({ classes }) => classes.some((count) => count > 0)),
      totals: Array.from(totals, ([api, each]) => addedTotals(this.#totals.get(api), each)).filter(
        ({ buckets }) => buckets.some((count) => count > 0),
      ),
      statuses: Array.from(statuses, ([status, count]): [number, number] => {
        const [added = 0] = addedSince([this.#statuses.get(status) ?? 0], [count])
        return [status, added]
      }).filter(([, count]) => count > 0),
    }
    this.#rows = rows
    this.#totals = totals
    this.#statuses = statuses
    return added
  }
}

const keyOf = ({ api, version, path, method }: RequestLabels): string =>
  `${method}\n${version}\n${path}\n${api}`

const addedTotals = (before: TotalsCounts | undefined, now: TotalsCounts): TotalsCounts => {
  const numbers = (counts: TotalsCounts): readonly number[] => [
    counts.seconds,
    ...counts.errors,
    ...counts.buckets,
  ]
  const [seconds = 0, ...rest] = addedSince(before && numbers(before), numbers(now))
  const { api, errors } = now
  return { api, seconds, errors: rest.slice(0, errors.length), buckets: rest.slice(errors.length) }
}

/** One that is less than before says that all of them have begun again. */
const addedSince = (
  before: readonly number[] | undefined,
  now: readonly number[],
): readonly number[] =>
  before === undefined || now.some((count, index) => count < (before[index] ?? 0))
    ? now
    : now.map((count, index) => count - (before[index] ?? 0))
