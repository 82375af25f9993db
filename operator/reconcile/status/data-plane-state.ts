// Reduces the report of one data plane about one document or realm to one state. Pure.

import type { SessionState, UpstreamCause } from '../../../language/wire/wire.ts'
import type { DataPlanePhase, DataPlaneReport } from '../../data-plane.ts'

export type DocumentState =
  /** Ready, with this digest loaded. */
  | 'holds'
  /** Ready, with another version loaded, or none. */
  | 'differs'
  /** Ready, but rejects it. */
  | 'rejected'
  /** Rejects it and is kept out of service: it is new, and others serve what it rejects. */
  | 'withheld'
  /** Answers, but is not ready yet. */
  | 'syncing'
  | 'unreachable'
  /** Was not asked yet. */
  | 'connecting'
  /** A sidecar that is not sent the document, as it may not receive the realm. */
  | 'forbidden'

export const documentStateOf = (
  report: DataPlaneReport,
  id: string,
  digest: string,
): DocumentState => {
  const { phase, ready, rejected, documents } = report
  if (phase === 'connecting') return 'connecting'
  if (UNREACHABLE.has(phase)) return 'unreachable'
  if (rejected.documents.get(id)?.digest === digest) return ready ? 'rejected' : 'withheld'
  if (!ready) return 'syncing'
  return documents.get(id)?.digest === digest ? 'holds' : 'differs'
}

export type RealmState =
  | 'fine'
  | 'refused'
  /** It has sessions with the router, but none is open. */
  | 'closed'
  | 'connecting'

export type RouterState =
  | 'joined'
  /** It has loaded the document, but no session with the router of its realm is open. */
  | 'apart'

/** What a gateway reports about the upstreams of a document; each failure has a text of its own. */
export type UpstreamState = typeof UPSTREAMS_GOOD | `${UpstreamCause} ${string}`

/** As far as the gateway knows, all respond. */
export const UPSTREAMS_GOOD = 'good'

/**
 * @returns undefined for a sidecar, which its owner can make report anything
 * @param isHeld the gateway is ready and has loaded the document; others know nothing about its upstreams
 */
export const upstreamStateOf = (
  { dataPlane, upstreams }: DataPlaneReport,
  id: string,
  isHeld: boolean,
): UpstreamState | undefined => {
  if (dataPlane.namespace !== undefined) return undefined
  const failure = isHeld ? upstreams?.get(id) : undefined
  return failure === undefined ? UPSTREAMS_GOOD : `${failure.cause} ${failure.origin}`
}

/**
 * @param realmUri of the document
 * @returns undefined: the data plane reports nothing about the realm, or was not given it
 */
export const routerStateOf = (
  { ready, realms, realmsGiven }: DataPlaneReport,
  realmUri: string,
): RouterState | undefined => {
  const realm = realms.get(realmUri)
  if (!ready || realm === undefined || !realmsGiven.has(realmUri)) return undefined
  return realm.sessions.some(({ state }) => state === 'open') ? 'joined' : 'apart'
}

export type PeersState =
  | 'working'
  /** The discovery of an identity provider of the realm fails, or a credential for upstreams can't be used. */
  | 'failing'

export const peersStateOf = ({ ready, realms }: DataPlaneReport, uri: string): PeersState => {
  const { failingProviders = [], failingCredentials = [] } =
    (ready ? realms.get(uri) : undefined) ?? {}
  return failingProviders.length + failingCredentials.length === 0 ? 'working' : 'failing'
}

export const realmStateOf = (report: DataPlaneReport, uri: string): RealmState => {
  if (report.phase === 'connecting') return 'connecting'
  if (report.rejected.realms.has(uri)) return 'refused'
  const sessions = report.ready ? (report.realms.get(uri)?.sessions ?? NO_SESSIONS) : NO_SESSIONS
  if (sessions.length === 0 || sessions.some(({ state }) => state === 'open')) return 'fine'
  // A session that is being opened has no reason yet: a data plane that has just started reports no failure.
  const isFailure = sessions.some(
    ({ state, reason }) => state === 'refused' || reason !== undefined,
  )
  return isFailure ? 'closed' : 'connecting'
}

const NO_SESSIONS: readonly SessionState[] = []

const UNREACHABLE: ReadonlySet<DataPlanePhase> = new Set([
  ...(['unreachable', 'unauthorized', 'not_owner', 'superseded'] as const),
])
