// Finds the documents whose upstream does not respond, so that the operator learns of them from the state view. It
// asks all serving processes every ten seconds, and reports a bounded number of documents, at most every half minute.

import type { UpstreamCause, UpstreamTrouble } from '../../language/wire/wire.ts'
import type { LoadedDocument } from '../store/loaded-content.ts'
import type { FailureCause } from '../upstream/failure-cause.ts'
import { mergeFailingOrigins } from '../upstream-report.ts'
import type { FailingOriginView, UpstreamsView } from '../upstream/upstream-view.ts'

/** By id of the document. */
export type UpstreamTroubles = ReadonlyMap<string, UpstreamTrouble>

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
  readonly troubles: () => UpstreamTroubles
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
  let troubles: UpstreamTroubles = new Map()
  let changedMs = -Infinity
  let isLooking = false

  const look = async (): Promise<void> => {
    if (isLooking || now() - changedMs < REST_MS) return
    isLooking = true
    try {
      const seen = troublesOf(documents(), await read())
      if (isSame(seen, troubles)) return
      troubles = seen
      changedMs = now()
      onChange()
    } finally {
      isLooking = false
    }
  }

  const stop = every(LOOKS_MS, () => void look())
  return { troubles: () => troubles, stop }
}

/** @internal exported for tests */
export const troublesOf = (
  documents: ReturnType<UpstreamWatchOptions['documents']>,
  views: readonly (UpstreamsView | undefined)[],
): UpstreamTroubles => {
  const failing = failingOrigins(views)
  const reported = new Map<string, UpstreamTrouble>()
  if (failing.size === 0) return reported
  let left = MOST_BYTES
  for (const document of documents) {
    const trouble = troubleOf(document, failing)
    if (trouble === undefined) continue
    left -= Buffer.byteLength(JSON.stringify([document.id, trouble]))
    if (reported.size === MOST_DOCUMENTS || left < 0) break
    reported.set(document.id, trouble)
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
    const troubles = mergeFailingOrigins(origins.flatMap((origin) => origin.troubles))
    if (troubles.length > 0) failing.set(key, troubles)
  }
  return failing
}

const troubleOf = (
  { confinedTo, forwards }: Pick<LoadedDocument, 'confinedTo' | 'forwards'>,
  failing: ReadonlyMap<string, readonly FailingOriginView[]>,
): UpstreamTrouble | undefined => {
  for (const origin of forwards.origins) {
    const troubles = failing.get(keyOf(origin, confinedTo))
    const found = troubles?.find(({ realm }) => realm === undefined || realm === forwards.realmUri)
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

const isSame = (left: UpstreamTroubles, right: UpstreamTroubles): boolean =>
  left.size === right.size &&
  [...left].every(([id, { origin, cause }]) => {
    const other = right.get(id)
    return other?.origin === origin && other.cause === cause
  })
