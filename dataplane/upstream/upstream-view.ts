// Builds a view of what one process knows of its upstreams, as plain data for the primary: addresses with their
// state, requests in progress, the last failure, and origins without a good response for a while. It has a bounded
// number of addresses, and never a path, a query or a header.

import type { FailureCause } from './failure-cause.ts'
import type { EjectionCause } from './endpoints/outlier-detector.ts'
import type { Endpoint } from './endpoints/endpoint-set.ts'
import type { OriginRecord } from './origin-ledger.ts'
import type { OriginPool } from './origin-pool.ts'

export type AddressState = 'healthy' | 'starting_slowly' | 'ejected_for_realms' | 'ejected'

/** Times are Unix times in milliseconds: the processes of a machine have one clock. */
export interface EjectionView {
  /** undefined: for all requests. */
  readonly realm: string | undefined
  /** When a request will try it again; in the past if none came since. */
  readonly untilMs: number
  readonly why: EjectionCause
  readonly fault: string | undefined
}

export interface AddressView {
  readonly address: string
  readonly state: AddressState
  readonly outstanding: number
  /** At most eight for realms. */
  readonly ejections: readonly EjectionView[]
}

/** There was no good response for half a minute; or there was one after a failure, and `isFailing` is false. */
export interface FailingOriginView {
  readonly realm: string | undefined
  readonly cause: FailureCause
  readonly sinceMs: number
  readonly isFailing: boolean
}

export interface OriginView {
  readonly origin: string
  /** The namespace of the documents that see it like this. */
  readonly confinedTo: string | undefined
  readonly addresses: readonly AddressView[]
  readonly connections: Readonly<Record<'connected' | 'running' | 'queued', number>>
  readonly lastFailure: { readonly cause: FailureCause; readonly atMs: number } | undefined
  readonly troubles: readonly FailingOriginView[]
}

/** Survives `structuredClone`. */
export interface UpstreamsView {
  readonly origins: readonly OriginView[]
  /** Whether there are more. */
  readonly isTruncated: boolean
}

export interface ViewSources {
  readonly records: readonly OriginRecord[]
  /** Pools with or without connections. */
  readonly pools: Iterable<OriginPool>
  /** Monotonic, milliseconds. */
  readonly nowMs: number
  /** At the same moment. */
  readonly unixMs: number
}

/** The bound of all origins together; each has at most 64. */
const MAX_ADDRESSES = 1000
/** An origin without an address counts, too. */
const MOST_ORIGINS = 1000
const MOST_EJECTIONS = 8

/** Everything within the bounds: failing origins first, then those that documents name. */
export const viewUpstreams = (sources: ViewSources): UpstreamsView => {
  const byRecord = new Map(Array.from(sources.pools, (pool) => [pool.record, pool]))
  const ranked = sources.records
    .map((record) => ({ record, view: viewOrigin(record, byRecord.get(record), sources) }))
    .sort((left, right) => rankOf(left.record, left.view) - rankOf(right.record, right.view))
  return boundOrigins(ranked.map(({ view }) => view))
}

/** Recent failures, without addresses. */
export const viewFailingOrigins = ({ records, nowMs, unixMs }: ViewSources): UpstreamsView => {
  const origins = records.flatMap((record): readonly OriginView[] => {
    const troubles = failingOriginsOf(record, { nowMs, unixMs })
    if (troubles.length === 0) return []
    const { origin, confinedTo } = record.key
    return [
      {
        origin,
        confinedTo,
        troubles,
        addresses: [],
        connections: NO_CONNECTIONS,
        lastFailure: undefined,
      },
    ]
  })
  return { origins: origins.slice(0, MOST_ORIGINS), isTruncated: origins.length > MOST_ORIGINS }
}

/** Takes as many of the first origins as fit the bounds. */
export const boundOrigins = <View extends { readonly addresses: readonly unknown[] }>(
  origins: readonly View[],
): { readonly origins: readonly View[]; readonly isTruncated: boolean } => {
  let left = MAX_ADDRESSES
  const shown: View[] = []
  for (const view of origins) {
    if (shown.length === MOST_ORIGINS || view.addresses.length > left) break
    left -= view.addresses.length
    shown.push(view)
  }
  return { origins: shown, isTruncated: shown.length < origins.length }
}

const NO_CONNECTIONS = { connected: 0, running: 0, queued: 0 } as const

type Moment = Pick<ViewSources, 'nowMs' | 'unixMs'>

const viewOrigin = (
  record: OriginRecord,
  pool: OriginPool | undefined,
  moment: Moment,
): OriginView => {
  const { origin, confinedTo } = record.key
  const { lastFailure } = record
  return {
    origin,
    confinedTo,
    addresses: (pool?.addresses.set.members ?? []).map((endpoint) =>
      viewAddress(endpoint, pool, moment),
    ),
    connections: pool?.count() ?? NO_CONNECTIONS,
    lastFailure: lastFailure && {
      cause: lastFailure.cause,
      atMs: unixOf(lastFailure.atMs, moment),
    },
    troubles: failingOriginsOf(record, moment),
  }
}

const failingOriginsOf = (record: OriginRecord, { unixMs }: Moment): readonly FailingOriginView[] =>
  record.streaks().map(({ forMs, ...streak }) => ({ ...streak, sinceMs: unixMs - forMs }))

const viewAddress = (
  endpoint: Endpoint,
  pool: OriginPool | undefined,
  moment: Moment,
): AddressView => {
  const ejections = pool?.health.ejectionsOf(endpoint) ?? []
  const share = pool === undefined ? 1 : pool.health.sharedShareOf(endpoint)
  const isWarm = Math.min(share, endpoint.shareAt(moment.nowMs)) >= 1
  return {
    address: endpoint.address,
    state: stateOf(ejections, isWarm),
    outstanding: endpoint.outstanding,
    ejections: ejections.slice(0, MOST_EJECTIONS).map(({ untilMs, ...ejection }) => ({
      ...ejection,
      untilMs: unixOf(untilMs, moment),
    })),
  }
}

const stateOf = (
  ejections: readonly { readonly realm: string | undefined }[],
  isWarm: boolean,
): AddressState => {
  if (ejections.some(({ realm }) => realm === undefined)) return 'ejected'
  if (ejections.length > 0) return 'ejected_for_realms'
  return isWarm ? 'healthy' : 'starting_slowly'
}

const unixOf = (atMs: number, { nowMs, unixMs }: Moment): number =>
  Math.round(unixMs + atMs - nowMs)

/** A lower rank goes first. */
const rankOf = ({ namedBy }: OriginRecord, { addresses, troubles }: OriginView): number => {
  const isTroubled =
    troubles.some(({ isFailing }) => isFailing) ||
    addresses.some(({ ejections }) => ejections.length > 0)
  return (isTroubled ? 0 : 2) + (namedBy === undefined ? 1 : 0)
}
