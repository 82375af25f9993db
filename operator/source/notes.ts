// Describes failures of the watches for a person (what can't be read, since when, what to do), and why nothing may be
// deleted meanwhile. Pure.

import type { SourceNote } from '../resource/resource-source.ts'
import type { ReferencedFailure } from './referenced-watches.ts'
import type { WatchFailure } from '../kubernetes/watch/watched.ts'

/** What is watched, for a person. */
export interface WatchFacts {
  readonly kind: string
  /** Absent: all of them. */
  readonly namespace?: string
  readonly hasSynced: boolean
  readonly failure: WatchFailure | undefined
  /** Its namespace is gone. */
  readonly isGone?: boolean
}

export const failureNote = ({ kind, namespace, failure }: WatchFacts): readonly SourceNote[] => {
  if (failure === undefined) return []
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`
  const what = `the ${kind} resources${where}`
  const cure = CURES[failure.status]?.(`list and watch ${kind} resources${where}`) ?? WAIT
  return [{ severity: 'error', message: `${what} ${since(failure)}: ${cure}` }]
}

/** In an installation for some namespaces only this is normal, not an error. */
export const namespacesNote = (facts: WatchFacts): readonly SourceNote[] => {
  if (facts.failure?.status !== FORBIDDEN) return failureNote(facts)
  const message =
    'the operator may not read Namespaces: selectors of namespaces match nothing but their names, and ' +
    'annotations of namespaces are not seen; grant get, list and watch on namespaces if you need them'
  return [{ severity: 'warning', message }]
}

/** One note for all that fail in the same way: while the API server is away, that is every one. */
export const referencedNotes = (failures: readonly ReferencedFailure[]): readonly SourceNote[] => {
  const groups = Map.groupBy(failures, ({ kind, failure }) => `${kind} ${failure.status}`)
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const { kind, namespace, name, failure } = first
    const resource = `${kind} ${namespace}/${name}`
    const more = others.length === 0 ? '' : ` and ${others.length} more of its kind`
    const cure = CURES[failure.status]?.(`get, list and watch ${kind} ${namespace}/${name}`) ?? WAIT
    const message = `${resource}${more} ${since(failure)}: ${cure}`
    return [{ severity: 'error' as const, message, resource }]
  })
}

/**
 * Resources of a single namespace that were read once stay while that namespace may not be read any more; deletes
 * elsewhere are still valid.
 * @param watches of ApiSpecifications and Realms
 */
export const holdReason = (watches: readonly WatchFacts[]): string | undefined => {
  const there = watches.filter(({ isGone }) => isGone !== true)
  const failing =
    there.find(({ failure }) => failure?.status === NOT_FOUND) ??
    there.find(
      ({ failure, namespace, hasSynced }) =>
        failure?.status === FORBIDDEN && (namespace === undefined || !hasSynced),
    )
  const [note] = failing === undefined ? [] : failureNote(failing)
  if (note !== undefined) return note.message
  const unlisted = there.find(({ hasSynced }) => !hasSynced)
  if (unlisted === undefined) return undefined
  return `the ${unlisted.kind} resources have not been listed yet, so it is not known which of them exist`
}

const FORBIDDEN = 403
const NOT_FOUND = 404
const NO_RESPONSE = 0

const since = ({ sinceMs, message }: WatchFailure): string =>
  `can't be read since ${new Date(sinceMs).toISOString()} (${message})`

const WAIT = 'what was read before stays in service, and the operator keeps trying'

const CURES: Readonly<Record<number, (right: string) => string>> = {
  401: () => "the API server does not accept the operator's credentials: renew its token",
  [FORBIDDEN]: (right) =>
    `allow the operator's service account to ${right}; what was read before stays in service`,
  [NOT_FOUND]: () =>
    'the API server does not know them: apply the CRDs of the gateway; what was read before stays in service',
  [NO_RESPONSE]: () =>
    'the API server does not respond: what was read before stays in service until it does',
}
