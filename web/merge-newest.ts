// Merges lists of what has ended, each the newest first, into one page of all of them.

export interface Ended {
  /** Unix time, milliseconds. */
  readonly endedMs: number
}

export interface NewestPage<Row> {
  readonly rows: readonly Row[]
  /** The next page has what ended before this time; null: there is no more. */
  readonly next: number | null
}

/** Rows of a page beyond its limit, all of one millisecond. */
const MOST_TIES = 100

/**
 * Each list must have `limit` rows, or all that there are. A page has a few more than `limit` where several have ended
 * in its last millisecond, so that none is left out between two pages, but `MOST_TIES` of them at most: a list may come
 * from someone who says anything.
 * @example mergeNewest([[{ endedMs: 3 }], [{ endedMs: 5 }]], 1) // { rows: [{ endedMs: 5 }], next: 5 }
 */
export const mergeNewest = <Row extends Ended>(
  lists: readonly (readonly Row[])[],
  limit: number,
): NewestPage<Row> => {
  const all = lists.flat().sort((one, other) => other.endedMs - one.endedMs)
  const lastMs = all[limit - 1]?.endedMs ?? -Infinity
  const rows = all.slice(0, limit + MOST_TIES).filter(({ endedMs }) => endedMs >= lastMs)
  const isCut = all.length > rows.length || lists.some((list) => list.length >= limit)
  return { rows, next: isCut ? (rows.at(-1)?.endedMs ?? null) : null }
}
