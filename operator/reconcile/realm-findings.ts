// The verdict on a Realm and what the data planes say of it in; its findings out: Accepted, ResolvedRefs,
// and Ready as its routers' sessions tell. Pure.

import type { SessionState } from '../../spec/wire.ts'
import type { DataPlaneReport } from '../data-plane.ts'
import type { Finding } from '../resource/condition.ts'
import { describeProblem } from './findings.ts'
import { readyOf } from './document-findings.ts'
import type { Verdict } from './verdict.ts'

export const realmFindings = (
  verdict: Verdict,
  reports: readonly DataPlaneReport[],
): readonly Finding[] => {
  const { accepted, resolvedRefs } = verdict
  const own = readyOf([accepted, resolvedRefs])
  const ready = own.status === 'True' ? sessionsReady(verdict.id ?? '', reports) : own
  return [accepted, resolvedRefs, ready]
}

const sessionsReady = (uri: string, reports: readonly DataPlaneReport[]): Finding<'Ready'> => {
  for (const { dataPlane, rejected } of reports) {
    const refusal = rejected.realms.get(uri)
    if (refusal !== undefined) {
      const cause = refusal.errors[0] ? describeProblem(refusal.errors[0]) : 'no cause given'
      return notReady('Rejected', `refused by ${dataPlane.name}: ${cause}`)
    }
  }
  const holding = reports.filter(({ ready, realms }) => ready && realms.has(uri))
  for (const { dataPlane, realms } of holding) {
    const words = sessionWords(realms.get(uri)?.sessions ?? [])
    if (words !== undefined) return notReady('Unreachable', `${dataPlane.name}: ${words}`)
  }
  // Without counts: data planes that come and go must not write a status.
  const message = 'accepted and resolved, and no data plane tells of trouble'
  return { type: 'Ready', status: 'True', reason: 'Ready', message }
}

const notReady = (reason: 'Rejected' | 'Unreachable', message: string): Finding<'Ready'> => ({
  type: 'Ready',
  status: 'False',
  reason,
  message,
})

/** What is wrong when a realm has sessions and none is open. */
const sessionWords = (sessions: readonly SessionState[]): string | undefined => {
  if (sessions.length === 0 || sessions.some(({ state }) => state === 'open')) return undefined
  const worst = sessions.find(({ state }) => state === 'refused') ?? sessions[0]
  if (worst === undefined) return undefined
  const cause = worst.reason === undefined ? '' : `: ${worst.reason}`
  return `no session with the router ${worst.url} (${worst.state})${cause}`
}
