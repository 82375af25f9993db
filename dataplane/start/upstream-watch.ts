// Finds the documents whose upstream does not respond, so that the operator learns of them from the state view. It
// asks all serving processes every ten seconds, and reports a bounded number of documents, at most every half minute.

import type { UpstreamCause, UpstreamProblem } from '../../language/wire/wire.ts'
import type { LoadedDocument } from '../store/loaded-content.ts'
import type { FailureCause } from '../upstream/failure-cause.ts'
import { mergeFailingOrigins } from '../upstream-report.ts'
import type { FailingOriginView, UpstreamsView } from '../upstream/upstream-view.ts'

/** The problem of each document, by its id. */
export type UpstreamProblems = ReadonlyMap<string, UpstreamProblem>

export interface UpstreamWatchOptions {
  /** Reads the view of each serving process, without detail. */
  readonly read: () => Promise<readonly (UpstreamsView | undefined)[]>
  readonly documents: () => readonly Pick<LoadedDocument, 'id' | 'confinedTo' | 'forwards'>[]
  /** Called when other documents are reported than before. */
  readonly onChange: () => void
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** Calls back repeatedly. @returns a function that ends it */
  readonly every: (ms: number, look: () => void) => () => void
}

export interface UpstreamWatch {
  readonly problems: () => UpstreamProblems
  readonly stop: () => void
}

const LOOKS_MS = 10_000
/** The operator reads the whole state view again after each change. */
const REST_MS = 30_000
const MOST_DOCUMENTS = 200
/** A state view is bounded by what an operator has sent; this much more always fits. */
const MOST_BYTES = 64 * 1024
const MOST_ORIGIN_LENGTH = 260

/**
 * @example
 * const watch = watchUpstreams({ read: () => plane.viewUpstreams(false), documents: () => store.documents(), … })
 * watch.troubles() // Map { 'orders' => { origin: 'http://orders:8080', cause: 'refused' } }
 */
export const watchUpstreams = (options: UpstreamWatchOptions): UpstreamWatch => {
  const { read, documents, onChange, now, every } = options
  let problems: UpstreamProblems = new Map()
  let changedMs = -Infinity
  let isChecking = false

  const look = async (): Promise<void> => {
    if (isChecking || now() - changedMs < REST_MS) return
    isChecking = true
    try {
      const seen = problemsOf(documents(), await read())
      if (isSame(seen, problems)) return
      problems = seen
      changedMs = now()
      onChange()
    } finally {
      isChecking = false
    }
  }

  const stop = every(LOOKS_MS, () => void look())
  return { problems: () => problems, stop }
}

/** @internal exported for tests */
export const problemsOf = (
  documents: ReturnType<UpstreamWatchOptions['documents']>,
  views: readonly (UpstreamsView | undefined)[],
): UpstreamProblems => {
  const failing = failingOrigins(views)
  const reported = new Map<string, UpstreamProblem>()
  if (failing.size === 0) return reported
  let left = MOST_BYTES
  for (const document of documents) {
    const problem = problemOf(document, failing)
    if (problem === undefined) continue
    left -= Buffer.byteLength(JSON.stringify([document.id, problem]))
    if (reported.size === MOST_DOCUMENTS || left < 0) break
    reported.set(document.id, problem)
  }
  return reported
}

const failingOrigins = (
  views: readonly (UpstreamsView | undefined)[],
): ReadonlyMap<string, readonly FailingOriginView[]> => {
  const byKey = Map.groupBy(
    views.flatMap((view) => view?.origins ?? []),
    ({ origin, confinedTo }) => keyOf(origin, confinedTo),
  )
  const failing = new Map<string, readonly FailingOriginView[]>()
  for (const [key, origins] of byKey) {
    const problems = mergeFailingOrigins(origins.flatMap((origin) => origin.troubles))
    if (problems.length > 0) failing.set(key, problems)
  }
  return failing
}

const problemOf = (
  { confinedTo, forwards }: Pick<LoadedDocument, 'confinedTo' | 'forwards'>,
  failing: ReadonlyMap<string, readonly FailingOriginView[]>,
): UpstreamProblem | undefined => {
  for (const origin of forwards.origins) {
    const problems = failing.get(keyOf(origin, confinedTo))
    const found = problems?.find(({ realm }) => realm === undefined || realm === forwards.realmUri)
    const cause = found && causeOf(found.cause)
    if (cause !== undefined && origin.length <= MOST_ORIGIN_LENGTH) return { origin, cause }
  }
  return undefined
}

/** A request that a client gave up says nothing about the upstream. */
const causeOf = (cause: FailureCause): UpstreamCause | undefined =>
  cause === 'aborted' || cause === 'overloaded' ? undefined : cause

/** An origin contains no space. */
const keyOf = (origin: string, confinedTo: string | undefined): string =>
  `${origin} ${confinedTo ?? ''}`

const isSame = (left: UpstreamProblems, right: UpstreamProblems): boolean =>
  left.size === right.size &&
  [...left].every(([id, { origin, cause }]) => {
    const other = right.get(id)
    return other?.origin === origin && other.cause === cause
  })
