// Bounds what a data plane reports to its operator of one document or realm, by selecting the diagnostics and sessions
// that fit. The data plane keeps to it, and the operator treats a larger report as a misbehaving data plane.

import type { Problem, Warning } from '../problem.ts'
import type { FailingCredential, FailingProvider, SessionState } from './wire.ts'

interface Room {
  readonly count: number
  /** As JSON text in UTF-8. */
  readonly bytes: number
}

const WARNINGS: Room = { count: 8, bytes: 1024 }
const ERRORS: Room = { count: 16, bytes: 4096 }
const SESSIONS: Room = { count: 16, bytes: 4096 }
/** Names of members, digest, owner. */
const FRAME_BYTES = 512

/** Bytes that a state view may have for one document, besides its id. */
const DOCUMENT_BYTES = FRAME_BYTES + WARNINGS.bytes
const REALM_BYTES = FRAME_BYTES + SESSIONS.bytes
const ITEM_BYTES = FRAME_BYTES + ERRORS.bytes + WARNINGS.bytes

/** Bytes that a state view may have for a document or a realm. */
export const reportedBytes = (kind: 'spec' | 'realm', key: string): number =>
  jsonBytes(key) + (kind === 'spec' ? DOCUMENT_BYTES : REALM_BYTES)

/** Bytes that the response to a sync call may have for one entry of the call. */
export const reportedItemBytes = (key: string): number => jsonBytes(key) + ITEM_BYTES

/** What only a gateway knows of a document: the operator has found the others itself. */
export const GATEWAY_WARNINGS = [
  'Shadowed',
  'ConnectionAddress',
  'CountedPerGateway',
  'RememberedPerGateway',
] as const

/** Those of the gateway come first: the author of the document can find the other warnings without it. */
export const reportedWarnings = (warnings: readonly Warning[]): readonly Warning[] =>
  fitting(warnings, WARNINGS, ({ code }) => {
    const rank = GATEWAY_WARNINGS.findIndex((known) => known === code)
    return rank === -1 ? GATEWAY_WARNINGS.length : rank
  })

export const reportedErrors = (errors: readonly Problem[]): readonly Problem[] =>
  fitting(errors, ERRORS, () => 0)

/** An open session comes first: it shows that the realm can be reached. Then those that say why it can't. */
export const reportedSessions = (sessions: readonly SessionState[]): readonly SessionState[] => {
  const rank = ({ state, reason }: SessionState): number => {
    if (state === 'open') return 0
    return state === 'refused' ? 1 : reason === undefined ? 3 : 2
  }
  return fitWithin(sessions, SESSIONS, rank)
}

const PROVIDERS = 8

/**
 * They get what the sessions of the realm leave of its room: an operator that does not know them, and so does not count
 * them, must not find the report too large.
 */
export const reportedProviders = (
  providers: readonly FailingProvider[],
  sessions: readonly SessionState[],
): readonly FailingProvider[] => {
  const bytes = SESSIONS.bytes - jsonBytes({ sessions, failingProviders: [] })
  return fitWithin(providers, { count: PROVIDERS, bytes }, () => 0)
}

const CREDENTIALS = 8

/** Likewise: they get what sessions and providers leave. */
export const reportedCredentials = (
  credentials: readonly FailingCredential[],
  others: {
    readonly sessions: readonly SessionState[]
    readonly failingProviders: readonly FailingProvider[]
  },
): readonly FailingCredential[] => {
  const bytes = SESSIONS.bytes - jsonBytes({ ...others, failingCredentials: [] })
  return fitWithin(credentials, { count: CREDENTIALS, bytes }, () => 0)
}

/** A first one that is too large by itself is sent without its texts. */
const fitting = <Diagnostic extends Problem | Warning>(
  diagnostics: readonly Diagnostic[],
  room: Room,
  rank: (diagnostic: Diagnostic) => number,
): readonly Diagnostic[] => {
  const fitted = fitWithin(diagnostics, room, rank)
  const [first] = sorted(diagnostics, rank)
  return fitted.length > 0 || first === undefined ? fitted : [{ ...first, path: '', message: '' }]
}

const fitWithin = <T>(
  items: readonly T[],
  { count, bytes }: Room,
  rank: (item: T) => number,
): readonly T[] => {
  if (items.length === 0) return items
  const fitted: T[] = []
  let left = bytes
  for (const item of sorted(items, rank)) {
    left -= jsonBytes(item) + 1
    if (fitted.length === count || left < 0) break
    fitted.push(item)
  }
  return fitted
}

/** In their own order where all are of one rank. */
const sorted = <T>(items: readonly T[], rank: (item: T) => number): readonly T[] =>
  items.toSorted((left, right) => rank(left) - rank(right))

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
