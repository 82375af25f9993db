// A WAMP world without a router: a client that writes down what it is asked and answers when told to, and a
// performer that knows nothing else.

import { Limiter } from '../../../../base/limiter.ts'
import { createPerformer } from '../../../../dataplane/actions/action-table.ts'
import type { CallbackPoster } from '../../../../dataplane/actions/wamp/callback/poster.ts'
import type { CallbackRules } from '../../../../dataplane/actions/wamp/callback/url.ts'
import type { ForwardEnvironment } from '../../../../dataplane/actions/forward/forward.ts'
import type { Perform } from '../../../../dataplane/actions/performer.ts'
import type { WampEnvironment } from '../../../../dataplane/actions/wamp/environment.ts'
import { createDeadlines, type Deadlines } from '../../../../dataplane/deadlines.ts'
import type {
  Follower,
  DurableHandle,
  DurableKind,
  Registration,
  Subscription,
  WampClient,
} from '../../../../dataplane/wamp/realm/wamp-client.ts'
import {
  peerError,
  type WampError,
  type CallHandler,
  type CallRequest,
  type WampEvent,
  type WampErrorOptions,
  type WampResult,
} from '../../../../dataplane/wamp/session/joined-session.ts'
import type { Payload } from '../../../../dataplane/wamp/protocol/messages.ts'
import type { ValueMap } from '../../../../language/expression/value.ts'
import { STATUS_CODES } from '../../../../language/compile/status-codes.ts'
import { compiledPath } from '../../../language/documents.ts'
import { SYSTEM_CLOCK } from '../../../../base/clock.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { probeExchange, type Probe, type ProbeOptions } from '../exchange-probe.ts'

export const wampError = (uri: string, more: Omit<WampErrorOptions, 'uri'> = {}): WampError =>
  peerError(uri, `it was ${uri}`, more)

export const resultOf = (more: Partial<WampResult> = {}): WampResult => ({
  requestId: 7,
  args: [],
  kwargs: {},
  details: {},
  ...more,
})

export const eventOf = (more: Partial<WampEvent> = {}): WampEvent => ({
  publicationId: 11,
  args: [],
  kwargs: {},
  details: { topic: 'com.acme.topic' },
  ...more,
})

interface PendingPromise<T> {
  resolve(value: T): void
  reject(error: unknown): void
}

export interface FakeCall {
  readonly request: CallRequest
  readonly handler: CallHandler
  isCancelled: boolean
}

export interface FakeFollow {
  readonly topic: string
  readonly options: ValueMap
  readonly follower: Follower
  isEnded: boolean
}

export interface FakeWait {
  readonly longestMs: number
  readonly onOver: () => void
  isCancelled: boolean
}

/** Everything that was asked of it, in order; nothing is answered but by the test. */
export class FakeClient implements WampClient {
  callTimeoutUnit: 'ms' | 's' | undefined = undefined
  readonly calls: FakeCall[] = []
  readonly follows: FakeFollow[] = []
  readonly published: (PendingPromise<{ publicationId: number }> & {
    readonly topic: string
    readonly payload: Payload
    readonly options: ValueMap
  })[] = []
  readonly registered: (PendingPromise<DurableHandle> & Registration)[] = []
  readonly subscribed: (PendingPromise<DurableHandle> & Subscription)[] = []
  readonly released: (PendingPromise<boolean> & {
    readonly kind: DurableKind
    readonly id: number
  })[] = []
  /** Thrown by the next calls, one each. */
  readonly throws: unknown[] = []
  /** A session is being opened. */
  isOpening = false
  readonly waits: FakeWait[] = []

  awaitSession(longestMs: number, onOver: () => void) {
    if (!this.isOpening || longestMs === 0) return undefined
    const wait: FakeWait = { longestMs, onOver, isCancelled: false }
    this.waits.push(wait)
    return {
      cancel: () => {
        wait.isCancelled = true
      },
    }
  }

  call(request: CallRequest, handler: CallHandler) {
    const call: FakeCall = { request, handler, isCancelled: false }
    this.calls.push(call)
    if (this.throws.length > 0) throw this.throws.shift()
    return {
      cancel: () => {
        call.isCancelled = true
      },
    }
  }

  publish(topic: string, payload: Payload, options: ValueMap) {
    return new Promise<{ publicationId: number }>((resolve, reject) => {
      this.published.push({ topic, payload, options, resolve, reject })
    })
  }

  follow(topic: string, options: ValueMap, follower: Follower) {
    const follow: FakeFollow = { topic, options, follower, isEnded: false }
    this.follows.push(follow)
    return {
      end: () => {
        follow.isEnded = true
      },
    }
  }

  register(registration: Registration) {
    return new Promise<DurableHandle>((resolve, reject) => {
      this.registered.push({ ...registration, resolve, reject })
    })
  }

  subscribe(subscription: Subscription) {
    return new Promise<DurableHandle>((resolve, reject) => {
      this.subscribed.push({ ...subscription, resolve, reject })
    })
  }

  release(kind: DurableKind, id: number) {
    return new Promise<boolean>((resolve, reject) => {
      this.released.push({ kind, id, resolve, reject })
    })
  }
}

export interface ExchangeOptions extends ProbeOptions {
  readonly request?: Readonly<Record<string, unknown>>
  readonly security?: ValueMap
  readonly statusCodes?: ValueMap
}

/** An exchange of an operation with the gateway's own status codes. */
export const exchangeOf = (options: ExchangeOptions = {}): Probe => {
  const { request, security = {}, statusCodes = STATUS_CODES, ...rest } = options
  const exchange = probeExchange(request, rest)
  exchange.context.security = security
  exchange.context.status_codes = statusCodes
  return exchange
}

export interface World {
  readonly client: FakeClient
  readonly calls: Limiter
  readonly deadlines: Deadlines
  readonly perform: Perform
}

export interface WorldOptions {
  readonly poolSize?: number
  readonly callTimeoutMs?: number
  readonly rules?: CallbackRules | undefined
  readonly callbacks?: Partial<CallbackPoster>
  /** Instead of the one that writes down. */
  readonly client?: WampClient
}

const NO_CALLBACKS: CallbackPoster = {
  invocations: () => () => Promise.reject(new Error('nothing is posted here')),
  events: () => ({ onEvent: () => undefined, onEnd: () => undefined }),
}

/** A performer of `action`, compiled from a document, in a world of its own. */
export const worldOf = (
  action: object,
  options: WorldOptions = {},
  operation: object = {},
  version: Readonly<Record<string, unknown>> = {},
): World => {
  const paths = { '/x': { post: { action, ...operation } } }
  const { post } = compiledPath({ version, paths }).operations
  if (post === undefined) throw new Error('there is no POST')
  const client = new FakeClient()
  const calls = new Limiter(options.poolSize ?? 200)
  const deadlines = createDeadlines(5)
  const rules = 'rules' in options ? options.rules : { callback_origins: ['https://hooks.acme'] }
  const wamp: WampEnvironment = {
    realmUri: 'com.acme',
    client: () => options.client ?? client,
    calls,
    callTimeoutMs: () => options.callTimeoutMs ?? 60_000,
    deadlines,
    callbacks: { ...NO_CALLBACKS, ...options.callbacks },
    realm: () => rules,
    clock: { ...createManualClock({ random: () => 0 }), after: SYSTEM_CLOCK.after },
  }
  const perform = createPerformer(post, { forward: {} as ForwardEnvironment, wamp })
  return { client, calls, deadlines, perform }
}
