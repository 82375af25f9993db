// Computes what the rows of both programs' overviews have in common: counts of states and sessions, and bounds.

import type { SessionState } from '../language/wire/wire.ts'
import { type SessionCounts, type State, type StateCounts, STATES } from './overview.ts'

/** Errors and warnings of one document that are listed, each. */
export const MAX_DIAGNOSTICS = 200

/** Differences of one gateway that are listed. */
export const MAX_DIFFERENCES = 200

/** Names that are listed where many have the same. */
export const MAX_NAMES = 50

const MAX_REASONS = 8
const MAX_TEXT = 1024

/** @example countStates([{ state: 'ready' }]).ready // 1 */
export const countStates = (rows: Iterable<{ readonly state: State }>): StateCounts => {
  const counts: Record<State, number> = { failed: 0, degraded: 0, pending: 0, ready: 0 }
  for (const { state } of rows) counts[state]++
  return counts
}

/** undefined: a query that names no state, or all of them. `unknown`: it names something else. */
export const readState = (query: URLSearchParams): State | undefined | 'unknown' => {
  const wanted = query.get('state') ?? ''
  if (wanted === '') return undefined
  return STATES.find((state) => state === wanted) ?? 'unknown'
}

/** The worst first, then by name: what rows are ordered by. */
export const rankedKey = (state: State, key: string): string => `${STATES.indexOf(state)} ${key}`

export const countSessions = (sessions: readonly SessionState[]): SessionCounts => {
  const counts = { open: 0, connecting: 0, waiting: 0, refused: 0 }
  for (const { state } of sessions) counts[state]++
  return counts
}

/** Describes the first sessions that are not open, as `ws://router refused: wamp.error.no_such_realm`. */
export const reasonsOf = (
  sessions: readonly (SessionState & { readonly gateway?: string })[],
): readonly string[] =>
  sessions
    .filter(({ state }) => state !== 'open')
    .slice(0, MAX_REASONS)
    .map(({ gateway, url, state, reason }) => {
      const place = [gateway, url].filter((text) => text !== undefined && text !== '').join(' ')
      return cutText(`${place} ${state}${reason === undefined ? '' : `: ${reason}`}`.trim())
    })

/** A text of a document may be long. */
export const cutText = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}…`
