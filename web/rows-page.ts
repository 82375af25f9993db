// Cuts one page out of a list of rows that is in order: bounded, and continued behind the last row of the page before.

export interface PageQuery {
  /** Text that rows must have; empty: all rows. */
  readonly match: string
  /** Key of the last row of the page before. */
  readonly after: string | undefined
  readonly limit: number
}

export interface RowsPage<Row> {
  readonly rows: readonly Row[]
  /** How many match. */
  readonly total: number
  /** Key of the last row; null: this is the last page. */
  readonly next: string | null
}

const MAX_TEXT = 256
const MAX_AFTER = 1024
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 200

/**
 * Reads `match`, `after` and `limit` of a query.
 * @returns a sentence about what is wrong otherwise
 */
export const readPageQuery = (query: URLSearchParams): PageQuery | string => {
  const match = query.get('match') ?? ''
  if (match.length > MAX_TEXT) return `match must have at most ${MAX_TEXT} characters`
  const after = query.get('after') ?? undefined
  if (after !== undefined && after.length > MAX_AFTER)
    return 'after must be what next was in the page before'
  const limit = query.get('limit') ?? String(DEFAULT_LIMIT)
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > MAX_LIMIT)
    return `limit must be a whole number from 1 to ${MAX_LIMIT}`
  return { match, after, limit: Number(limit) }
}

export interface RowsOf<Row> {
  /** Unique; rows are in its order. */
  readonly keyOf: (row: Row) => string
  /** What a search looks at. */
  readonly textsOf: (row: Row) => readonly (string | null | undefined)[]
}

/**
 * A row that has gone since, or a new one, moves no other: the page begins with the first key behind `after`.
 * @example cutPage([{ name: 'a' }], { match: '', after: undefined, limit: 10 }, { keyOf, textsOf }).next // null
 */
export const cutPage = <Row>(
  all: readonly Row[],
  { match, after, limit }: PageQuery,
  { keyOf, textsOf }: RowsOf<Row>,
): RowsPage<Row> => {
  const wanted = match.toLowerCase()
  const matching = all
    .filter((row) => wanted === '' || textsOf(row).some((text) => hasText(text, wanted)))
    .map((row) => ({ key: keyOf(row), row }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
  const rest = after === undefined ? matching : matching.filter(({ key }) => key > after)
  const shown = rest.slice(0, limit)
  const isLast = rest.length === shown.length
  return {
    rows: shown.map(({ row }) => row),
    total: matching.length,
    next: isLast ? null : (shown.at(-1)?.key ?? null),
  }
}

const hasText = (text: string | null | undefined, wanted: string): boolean =>
  text?.toLowerCase().includes(wanted) === true
