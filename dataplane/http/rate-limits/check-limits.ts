// Checks the rate limits of a request: finds the bucket of each, takes what the request costs, and refuses it with 429 where
// one of them does not allow it.

import { hash } from 'node:crypto'
import type { ServedVersion } from '../../served.ts'
import { isAddressRead } from '../../client-address.ts'
import { Context, type RequestView } from '../../context.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { LimitState, LimitTake, RateLimiter } from '../../shared/rate-buckets.ts'
import { placeOfClient } from '../client-place.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { CheckResult } from '../steps/request-step.ts'
import { limitFields } from './limit-fields.ts'
import type { Count, PreparedLimit } from './prepare-limits.ts'

/** Why a request was counted in the bucket that all share: it gave no key, or there was no room for one more. */
export type SharedBucketCause = 'no_key' | 'no_room'

export interface LimitDeps {
  readonly limiter: RateLimiter
  readonly onSharedBucket?: (cause: SharedBucketCause) => void
}

export interface LimitedRequest {
  readonly incomingRequest: Pick<IncomingRequest, 'request' | 'client' | 'identity' | 'rateLimit'>
  readonly version: Pick<ServedVersion, 'apiId' | 'realmUri' | 'resource'>
  /** Whether responses say what is left. */
  readonly hasHeaders: boolean
  /** With what the limits read of the request. */
  readonly context: () => Context
}

/** A small one: anybody may cause it to be evaluated. */
export const limitContext = (
  identity: IncomingRequest['identity'],
  fill: (view: RequestView) => void,
): Context => {
  const context = new Context()
  context.budget = MAX_BYTES
  context.work = MAX_WORK
  if (identity !== undefined) context.security = identity
  fill(context.request)
  return context
}

/** As `budget` and `work` of a context: for the whole head of a request, and a look-up or two. */
const MAX_BYTES = 256 * 1024
const MAX_WORK = 2 ** 18

export const checkLimits = (
  deps: LimitDeps,
  limits: readonly PreparedLimit[],
  limited: LimitedRequest,
): CheckResult | Promise<CheckResult> => {
  let context: Context | undefined
  const read = (): Context => (context ??= limited.context())
  const takes = limits.map((limit) => takeOf(limit, limited, read))
  for (const { key, sharedKey } of takes) if (key === sharedKey) deps.onSharedBucket?.('no_key')
  const settle = (states: readonly (LimitState | undefined)[]): CheckResult => {
    if (limited.hasHeaders) report(limits, takes, states, limited)
    for (const state of states) if (state?.isShared === true) deps.onSharedBucket?.('no_room')
    return refusalOf(limits, states)
  }
  const states = deps.limiter.take(takes)
  return states instanceof Promise ? states.then(settle, unavailable) : settle(states)
}

const takeOf = (
  limit: PreparedLimit,
  { incomingRequest, version }: LimitedRequest,
  read: () => Context,
): LimitTake => {
  const { digest, seconds, burst, by } = limit
  const evaluate = (count: Count): number => (typeof count === 'number' ? count : count(read()))
  const requests = evaluate(limit.requests)
  const text = by === undefined ? addressOf(incomingRequest) : by(read())
  const sharedKey = hash('sha256', `${version.realmUri}\n${version.apiId}\n${digest}`, 'base64url')
  return {
    key: text === '' ? sharedKey : hash('sha256', `${sharedKey}\n${text}`, 'base64url'),
    sharedKey,
    tenant: version.resource?.split('/', 1)[0] ?? version.apiId,
    room: incomingRequest.identity === undefined ? 'anyone' : 'caller',
    requests,
    seconds,
    capacity: burst ?? requests,
    cost: evaluate(limit.cost),
  }
}

/** Empty where only a proxy's is known, which is that of many. */
const addressOf = ({ request, client }: LimitedRequest['incomingRequest']): string =>
  isAddressRead(request, client) ? (placeOfClient({ request, client }) ?? '') : ''

const report = (
  limits: readonly PreparedLimit[],
  takes: readonly LimitTake[],
  states: readonly (LimitState | undefined)[],
  { incomingRequest }: LimitedRequest,
): void => {
  const reports = limits.map(({ name, seconds }, at) => ({
    name,
    requests: takes[at]?.requests ?? 0,
    seconds,
    left: states[at],
  }))
  incomingRequest.rateLimit = limitFields(incomingRequest.rateLimit, reports)
}

const refusalOf = (
  limits: readonly PreparedLimit[],
  states: readonly (LimitState | undefined)[],
): CheckResult => {
  const waits = states.map((state) => (state?.isAllowed === false ? state.seconds : 0))
  const seconds = Math.max(0, ...waits)
  if (seconds === 0) return undefined
  return new GatewayError('svc.error.too_many_requests', 'Too many requests', {
    description: `Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
    headers: { 'retry-after': String(seconds) },
    reason: 'rate_limit',
    pointer: limits[waits.indexOf(seconds)]?.pointer,
  })
}

/** Letting requests through would be no limit. */
const unavailable = (cause: unknown): GatewayError =>
  new GatewayError('svc.error.overloaded', 'The gateway cannot count this request at present', {
    description: 'Try again in a second.',
    headers: { 'retry-after': '1' },
    cause,
  })
