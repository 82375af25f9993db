// Says in a word what one data plane's report says of one document or realm. Pure.

import type { SessionState, UpstreamCause } from '../../../language/wire/wire.ts'
import type { DataPlanePhase, DataPlaneReport } from '../../data-plane.ts'

export type DocumentAnswer =
  /** Ready, and holds this digest. */
  | 'holds'
  /** And an older document has routes of it. */
  | 'shadowed'
  /** Ready, and holds another version or none. */
  | 'differs'
  /** Ready, and refuses it. */
  | 'rejected'
  /** Refuses it, and is not ready: a fresh one is kept back where another serves what it refuses. */
  | 'withheld'
  /** It answers, and is not ready yet. */
  | 'syncing'
  | 'unreachable'
  /** Nobody has asked it yet. */
  | 'connecting'
  /** A sidecar that is not sent the document: it may not hold the realm. */
  | 'forbidden'

export const answerOnDocument = (
  report: DataPlaneReport,
  id: string,
  digest: string,
): DocumentAnswer => {
  const { phase, ready, rejected, documents } = report
  if (phase === 'connecting') return 'connecting'
  if (UNREACHABLE.has(phase)) return 'unreachable'
  if (rejected.documents.get(id)?.digest === digest) return ready ? 'rejected' : 'withheld'
  if (!ready) return 'syncing'
  const held = documents.get(id)
  if (held?.digest !== digest) return 'differs'
  return held.warnings.some(({ code }) => code === 'Shadowed') ? 'shadowed' : 'holds'
}

export type RealmAnswer =
  | 'fine'
  | 'refused'
  /** It has sessions for it, and none is open. */
  | 'closed'
  | 'connecting'

export type RouterAnswer =
  | 'joined'
  /** It holds the document, and no session with the router of its realm is open. */
  | 'apart'

/** What a gateway says of the upstreams of a document; another text for each failure. */
export type UpstreamAnswer = typeof UPSTREAMS_ANSWER | `${UpstreamCause} ${string}`

/** As far as it knows. */
export const UPSTREAMS_ANSWER = 'answer'

/**
 * Of a gateway that the document is for; undefined: it is a sidecar, whose owner may make it say anything.
 * @param isHeld it is ready, and holds the document: what others say of it is no news
 */
export const answerOnUpstreams = (
  { dataPlane, upstreams }: DataPlaneReport,
  id: string,
  isHeld: boolean,
): UpstreamAnswer | undefined => {
  if (dataPlane.namespace !== undefined) return undefined
  const failure = isHeld ? upstreams?.get(id) : undefined
  return failure === undefined ? UPSTREAMS_ANSWER : `${failure.cause} ${failure.origin}`
}

/**
 * Of a data plane that holds the document; undefined: it is not asked, or says nothing of the realm.
 * @param realmUri of the document
 */
export const answerOnRouter = (
  { ready, realms, realmsGiven }: DataPlaneReport,
  realmUri: string,
): RouterAnswer | undefined => {
  const realm = realms.get(realmUri)
  if (!ready || realm === undefined || !realmsGiven.has(realmUri)) return undefined
  return realm.sessions.some(({ state }) => state === 'open') ? 'joined' : 'apart'
}

export type PeersAnswer =
  | 'working'
  /** Discovery of an identity provider of the realm fails there, or a credential for upstreams is of no use. */
  | 'failing'

export const answerOnPeers = ({ ready, realms }: DataPlaneReport, uri: string): PeersAnswer => {
  const { failingProviders = [], failingCredentials = [] } =
    (ready ? realms.get(uri) : undefined) ?? {}
  return failingProviders.length + failingCredentials.length === 0 ? 'working' : 'failing'
}

export const answerOnRealm = (report: DataPlaneReport, uri: string): RealmAnswer => {
  if (report.phase === 'connecting') return 'connecting'
  if (report.rejected.realms.has(uri)) return 'refused'
  const sessions = report.ready ? (report.realms.get(uri)?.sessions ?? NO_SESSIONS) : NO_SESSIONS
  if (sessions.length === 0 || sessions.some(({ state }) => state === 'open')) return 'fine'
  // One that begins has no reason yet: a data plane that has just started reports no failure.
  const isFailure = sessions.some(
    ({ state, reason }) => state === 'refused' || reason !== undefined,
  )
  return isFailure ? 'closed' : 'connecting'
}

const NO_SESSIONS: readonly SessionState[] = []

const UNREACHABLE: ReadonlySet<DataPlanePhase> = new Set([
  ...(['unreachable', 'unauthorized', 'not_owner', 'superseded'] as const),
])
