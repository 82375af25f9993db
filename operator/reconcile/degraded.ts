// Tells of a document that is in service and can't do all that it should: what data planes say of the router of its realm,
// and since when, comes in; the condition, once it has lasted, comes out. Pure: time comes in.

import type { Condition, Finding } from '../resource/condition.ts'
import type { Sight } from './fleet-view.ts'
import type { Verdict } from './verdict.ts'

/** Routers restart, and gateways that have just started have no session yet. */
const LASTS_MS = 30_000

/** Since when a data plane that holds the document has had no session, Unix time in milliseconds; undefined: all have. */
export const apartSince = (
  sight: Sight,
  before: { readonly since: number | undefined; readonly conditions: readonly Condition[] },
  nowMs: number,
): number | undefined => {
  if (sight.apart === undefined) return undefined
  // It was told before this operator began: it need not last once more.
  const isTold = before.conditions.some(({ type }) => type === 'Degraded')
  return before.since ?? (isTold ? nowMs - LASTS_MS : nowMs)
}

export const hasLasted = (since: number, nowMs: number): boolean => nowMs - since >= LASTS_MS

/** Without the reason, which may change every second, and which is for the owner of the Realm: its status has it. */
export const degradedFinding = (
  { routerRealm = '' }: Verdict,
  { apart }: Sight,
): Finding<'Degraded'> | undefined => {
  if (apart === undefined) return undefined
  const others = apart.others > 0 ? ' and others' : ''
  const message =
    `${apart.first.dataPlane.name}${others}: no session with the router of realm '${routerRealm}', ` +
    'operations over WAMP fail there; see the status of the Realm'
  return { type: 'Degraded', status: 'True', reason: 'RouterUnreachable', message }
}
