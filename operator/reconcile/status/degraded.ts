// Sets the condition Degraded of a document that is in service and can't do all that it should, once data planes have
// reported that of the router of its realm, or of its upstreams, for long enough. Pure: time comes in.

import type { UpstreamCause } from '../../../language/wire/wire.ts'
import {
  type Condition,
  conditionOf,
  type NewCondition,
  joinMessages,
} from '../../resource/condition.ts'
import type { Sight } from './fleet-view.ts'
import type { Verdict } from '../verdict.ts'

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
  const isTold = conditionOf(before.conditions, 'Degraded')?.reason === 'RouterUnreachable'
  return before.since ?? (isTold ? nowMs - LASTS_MS : nowMs)
}

export const hasLasted = (since: number, nowMs: number): boolean => nowMs - since >= LASTS_MS

/**
 * Of upstreams gateways tell when it has lasted, of the router here.
 * @param isApart a data plane has had no session with the router for long enough
 */
export const degradedCondition = (
  verdict: Verdict,
  sight: Sight,
  isApart: boolean,
): NewCondition<'Degraded'> | undefined => {
  const router = isApart ? routerWords(verdict, sight) : undefined
  const upstream = upstreamWords(sight)
  const found = { type: 'Degraded', status: 'True' } as const
  if (router !== undefined) {
    const message = upstream === undefined ? router : joinMessages(router, upstream)
    return { ...found, reason: 'RouterUnreachable', message }
  }
  if (upstream === undefined) return undefined
  return { ...found, reason: 'UpstreamUnhealthy', message: upstream }
}

/** Without the reason, which may change every second, and which is for the owner of the Realm: its status has it. */
const routerWords = ({ routerRealm = '' }: Verdict, { apart }: Sight): string | undefined => {
  if (apart === undefined) return undefined
  const others = apart.others > 0 ? ' and others' : ''
  return (
    `${apart.first.dataPlane.name}${others}: no session with the router of realm '${routerRealm}', ` +
    'operations over WAMP fail there; see the status of the Realm'
  )
}

const upstreamWords = ({ unhealthy }: Sight): string | undefined => {
  if (unhealthy === undefined) return undefined
  const { failure, count, total } = unhealthy
  const [cause = '', origin = ''] = failure.split(' ')
  return (
    `${count} of ${total} gateways have had no good response from ${origin} for 30 s: ` +
    WORDS[cause as UpstreamCause]
  )
}

const WORDS = {
  refused: 'it refuses connections or cannot be reached',
  dns: 'its name is not found',
  tls: 'the TLS handshake fails',
  denied: 'it is not an allowed destination',
  connect_timeout: 'connecting to it takes too long',
  timeout: 'it does not answer in time',
  reset: 'it closes connections before it has responded',
  malformed: 'its response is not HTTP',
  status_502: 'it answers 502',
  status_503: 'it answers 503',
  status_504: 'it answers 504',
} as const satisfies Record<UpstreamCause, string>
