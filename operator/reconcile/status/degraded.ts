// Sets the condition Degraded of a document that is in service but can't do everything that it should, once data planes
// have reported the router of its realm or its upstreams as failing for long enough. Pure: the time is passed in.

import type { UpstreamCause } from '../../../language/wire/wire.ts'
import {
  type Condition,
  conditionOf,
  type NewCondition,
  joinMessages,
} from '../../resource/condition.ts'
import type { Sight } from './fleet-view.ts'
import type { ResourceResult } from '../resource-result.ts'

/** Routers restart, and gateways that have just started have no session yet. */
const LASTS_MS = 30_000

/**
 * Since when a data plane that has loaded the document has had no session, Unix time in milliseconds; undefined: all
 * have one.
 */
export const apartSince = (
  sight: Sight,
  before: { readonly since: number | undefined; readonly conditions: readonly Condition[] },
  nowMs: number,
): number | undefined => {
  if (sight.apart === undefined) return undefined
  // An earlier operator has waited already.
  const isReported = conditionOf(before.conditions, 'Degraded')?.reason === 'RouterUnreachable'
  return before.since ?? (isReported ? nowMs - LASTS_MS : nowMs)
}

export const hasLasted = (since: number, nowMs: number): boolean => nowMs - since >= LASTS_MS

/**
 * Gateways report upstreams only after a failure has lasted; for the router the caller waits.
 * @param isApart a data plane has had no session with the router for long enough
 */
export const degradedCondition = (
  result: ResourceResult,
  sight: Sight,
  isApart: boolean,
): NewCondition<'Degraded'> | undefined => {
  const router = isApart ? routerWords(result, sight) : undefined
  const upstream = upstreamWords(sight)
  const found = { type: 'Degraded', status: 'True' } as const
  if (router !== undefined) {
    const message = upstream === undefined ? router : joinMessages(router, upstream)
    return { ...found, reason: 'RouterUnreachable', message }
  }
  if (upstream === undefined) return undefined
  return { ...found, reason: 'UpstreamUnhealthy', message: upstream }
}

/** Without the reason, which may change every second and is in the status of the Realm, for its owner. */
const routerWords = (
  { routerRealm = '' }: ResourceResult,
  { apart }: Sight,
): string | undefined => {
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
  no_service: 'the Service does not exist',
  no_endpoints: 'the Service has no ready Pod',
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
