// Merges what the serving processes report of upstreams into the response of `GET /upstreams`. Each process balances
// for itself, so an address may be ejected in one of them and used by another.

import type { FailureCause } from './upstream/failure-cause.ts'
import {
  type AddressState,
  type AddressView,
  boundOrigins,
  type EjectionView,
  type OriginView,
  type FailingOriginView,
  type UpstreamsView,
} from './upstream/upstream-view.ts'

interface EjectionReport {
  readonly realm?: string
  /** ISO 8601; the latest one if several processes have ejected it. */
  readonly until: string
  readonly why: string
  readonly fault?: string
  /** Processes that have ejected it. */
  readonly processes: number
}

interface AddressReport {
  readonly address: string
  /** The worst state in any process. */
  readonly state: AddressState
  readonly outstanding: number
  readonly ejections: readonly EjectionReport[]
}

interface OriginReport {
  readonly origin: string
  readonly confinedTo?: string
  readonly addresses: readonly AddressReport[]
  readonly connections: OriginView['connections']
  readonly lastFailure?: { readonly cause: FailureCause; readonly at: string }
  /** There was no good response for at least 30 s: to all requests, or to those of one realm. */
  readonly unhealthy: readonly {
    readonly realm?: string
    readonly cause: FailureCause
    readonly since: string
  }[]
}

export interface UpstreamsReport {
  readonly upstreams: readonly OriginReport[]
  readonly processes: { readonly asked: number; readonly answered: number }
  /** There are more upstreams than are listed. */
  readonly truncated: boolean
}

/** @param views undefined: a process that has not replied in time */
export const reportUpstreams = (views: readonly (UpstreamsView | undefined)[]): UpstreamsReport => {
  const received = views.filter((view) => view !== undefined)
  // As each process ranks them: those that fail first.
  const byKey = Map.groupBy(
    received.flatMap(({ origins }) => origins),
    ({ origin, confinedTo = '' }) => `${origin} ${confinedTo}`,
  )
  const ranked = [...byKey.values()]
    .map(mergeOrigin)
    .sort((left, right) => rankOf(left) - rankOf(right))
  const { origins, isTruncated } = boundOrigins(ranked)
  return {
    upstreams: origins.toSorted(compareOrigins),
    processes: { asked: views.length, answered: received.length },
    truncated: isTruncated || received.some((view) => view.isTruncated),
  }
}

/**
 * The origins that fail in all processes: a recent good response in one of them removes an origin. Origins that
 * requests made up are included.
 */
export const mergeFailingOrigins = (
  troubles: readonly FailingOriginView[],
): readonly FailingOriginView[] => {
  const byRealm = Map.groupBy(troubles, ({ realm }) => realm)
  return [...byRealm.values()].flatMap((group) => {
    const [first] = group.toSorted((left, right) => left.sinceMs - right.sinceMs)
    return first !== undefined && group.every(({ isFailing }) => isFailing) ? [first] : []
  })
}

const mergeOrigin = (views: readonly OriginView[]): OriginReport => {
  const [first] = views
  const { origin = '', confinedTo } = first ?? {}
  const byAddress = Map.groupBy(
    views.flatMap(({ addresses }) => addresses),
    ({ address }) => address,
  )
  const [lastFailure] = views
    .flatMap((view) => view.lastFailure ?? [])
    .sort((left, right) => right.atMs - left.atMs)
  return {
    origin,
    ...(confinedTo !== undefined && { confinedTo }),
    addresses: [...byAddress.values()].map(mergeAddress).slice(0, MOST_OF_ORIGIN),
    connections: {
      connected: sum(views, ({ connections }) => connections.connected),
      running: sum(views, ({ connections }) => connections.running),
      queued: sum(views, ({ connections }) => connections.queued),
    },
    ...(lastFailure && { lastFailure: { cause: lastFailure.cause, at: isoOf(lastFailure.atMs) } }),
    unhealthy: mergeFailingOrigins(views.flatMap(({ troubles }) => troubles)).map(
      ({ realm, cause, sinceMs }) => ({
        ...(realm !== undefined && { realm }),
        cause,
        since: isoOf(sinceMs),
      }),
    ),
  }
}

const MOST_OF_ORIGIN = 64

/** From best to worst. */
const STATES: readonly AddressState[] = [
  'healthy',
  'starting_slowly',
  'ejected_for_realms',
  'ejected',
]

const mergeAddress = (views: readonly AddressView[]): AddressReport => {
  const states = views.map(({ state }) => STATES.indexOf(state))
  const byRealm = Map.groupBy(
    views.flatMap(({ ejections }) => ejections),
    ({ realm }) => realm,
  )
  return {
    address: views[0]?.address ?? '',
    state: STATES[Math.max(...states)] ?? 'healthy',
    outstanding: sum(views, ({ outstanding }) => outstanding),
    ejections: [...byRealm.values()].flatMap(mergeEjections),
  }
}

const mergeEjections = (ejections: readonly EjectionView[]): readonly EjectionReport[] => {
  const [last] = ejections.toSorted((left, right) => right.untilMs - left.untilMs)
  if (last === undefined) return []
  const { realm, untilMs, why, fault } = last
  return [
    {
      ...(realm !== undefined && { realm }),
      until: isoOf(untilMs),
      why: WHY[why],
      ...(fault !== undefined && { fault }),
      processes: ejections.length,
    },
  ]
}

const WHY = {
  'in a row': 'five failures in a row',
  rate: 'three times the failure rate of the others',
  probe: 'it failed again when it was tried',
  reported: 'nothing is behind it, as the operator reports',
} as const satisfies Record<EjectionView['why'], string>

const rankOf = ({ addresses, unhealthy }: OriginReport): number =>
  unhealthy.length > 0 || addresses.some(({ ejections }) => ejections.length > 0) ? 0 : 1

const compareOrigins = (left: OriginReport, right: OriginReport): number => {
  const [one, other] = [left, right].map(({ origin, confinedTo = '' }) => `${origin} ${confinedTo}`)
  return (one ?? '') < (other ?? '') ? -1 : 1
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0)

/** Whole seconds. */
const isoOf = (unixMs: number): string => `${new Date(unixMs).toISOString().slice(0, 19)}Z`
