// Makes the conditions of a Realm from its result and the reports of data planes: Accepted, ResolvedRefs, Ready according
// to the sessions with its router, Degraded where identity providers or credentials fail, and Stalled where someone has to
// act. Pure.

import type { SessionState } from '../../../language/wire/wire.ts'
import {
  type NewCondition,
  type NewConditions,
  conditionsIn,
  type FoundBy,
} from '../../resource/condition.ts'
import { realmDegraded } from './degraded-realm.ts'
import { degradedReady, readyOf, stalledOf } from './document-conditions.ts'
import { describeProblem } from '../conditions.ts'
import type { Sight } from './fleet-view.ts'
import { pausedWords } from './paused.ts'
import type { ResourceResult } from '../resource-result.ts'

/**
 * @param ready used instead of the reports of data planes while these are still awaited
 * @param found likewise
 */
export const realmConditions = (
  result: ResourceResult,
  sight: Sight,
  ready?: NewCondition<'Ready'>,
  found: FoundBy<'gateways'> = { Degraded: realmDegraded(result.id ?? '', sight) },
): readonly NewCondition[] => {
  const { accepted, resolvedRefs } = result
  const own = ownReady(result)
  const whole = own.status === 'True' ? (ready ?? sessionsReady(result.id ?? '', sight)) : own
  const rejection =
    whole.reason === 'Rejected' && isRejectedByAll(sight) ? whole.message : undefined
  return conditionsIn({
    ...found,
    Accepted: accepted,
    ResolvedRefs: resolvedRefs,
    Ready: degradedReady(whole, found),
    Stalled: stalledOf([accepted, resolvedRefs], rejection),
  } satisfies NewConditions<'Realm'>)
}

const isRejectedByAll = (sight: Sight): boolean => {
  const refusing = sight.count('refused')
  return refusing > 0 && refusing === sight.total
}

/** Ready as far as it does not depend on data planes. */
const ownReady = (result: ResourceResult): NewCondition<'Ready'> => {
  const own = readyOf([result.accepted, result.resolvedRefs])
  if (own.status !== 'True' || result.isHeld !== true) return own
  return notReady('Pending', pausedWords(result))
}

const sessionsReady = (uri: string, sight: Sight): NewCondition<'Ready'> => {
  const refusing = sight.first('refused')
  if (refusing !== undefined) {
    const error = refusing.rejected.realms.get(uri)?.errors[0]
    const cause = error === undefined ? 'no cause given' : describeProblem(error)
    return notReady('Rejected', `rejected by ${refusing.dataPlane.name}: ${cause}`)
  }
  const closed = sight.first('closed')
  if (closed !== undefined) {
    const words = sessionWords(closed.realms.get(uri)?.sessions ?? [])
    return notReady('Unreachable', `${closed.dataPlane.name}: ${words}`)
  }
  // Without counts, so that data planes that come and go do not cause a write of the status.
  const message = 'accepted and resolved, and no data plane reports a problem'
  return { type: 'Ready', status: 'True', reason: 'Ready', message }
}

const notReady = (
  reason: 'Rejected' | 'Unreachable' | 'Pending',
  message: string,
): NewCondition<'Ready'> => ({ type: 'Ready', status: 'False', reason, message })

/** @param sessions none of them is open */
const sessionWords = (sessions: readonly SessionState[]): string => {
  const worst = sessions.find(({ state }) => state === 'refused') ?? sessions[0]
  if (worst === undefined) return 'no session with its router'
  const cause = worst.reason === undefined ? '' : `: ${worst.reason}`
  const router = worst.url === '' ? 'its router' : `the router ${worst.url}`
  return `no session with ${router} (${worst.state})${cause}`
}
