// Defines the interface of one session that has joined a router, and of the link that keeps one joined. Everything that
// waits is settled exactly once: by the router, by its caller, or by the end of the session.

import { CodedError } from '../../../base/coded-error.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import type { SessionState } from '../../../language/wire/wire.ts'
import type { TransportTarget } from '../protocol/transport.ts'
import type { Payload } from '../protocol/messages.ts'

/** `peer_error`: of the router, a callee or a callback; the others are URIs of the gateway's own errors. */
export type WampErrorCode =
  | 'peer_error'
  | 'svc.error.bad_gateway'
  | 'svc.error.overloaded'
  | 'svc.error.timeout'
  | 'wamp.error.canceled'
  | 'wamp.error.invalid_argument'
  | 'wamp.error.invalid_uri'
  | 'wamp.error.net_failure'
  | 'wamp.error.no_such_realm'
  | 'wamp.error.no_such_registration'
  | 'wamp.error.no_such_subscription'
  | 'wamp.error.not_authorized'
  | 'wamp.error.runtime_error'

/** Why an operation failed: an ERROR of the router, or an error of the gateway itself. */
export class WampError extends CodedError<WampErrorCode> {
  /** The code, or what the peer sent: `wamp.error.no_such_procedure`, a URI of an application, … */
  readonly uri: string
  readonly args: readonly Value[]
  readonly kwargs: ValueMap
  readonly details: ValueMap
  /** False: the router cannot have seen the request. */
  readonly wasSent: boolean

  constructor(code: WampErrorCode, message: string, more: WampErrorOptions = {}) {
    super(code, message, { cause: more.cause })
    this.uri = more.uri ?? code
    this.args = more.args ?? []
    this.kwargs = more.kwargs ?? {}
    this.details = more.details ?? {}
    this.wasSent = more.wasSent ?? true
  }
}

export interface WampErrorOptions extends Partial<Payload> {
  /** The URI of a peer error. */
  readonly uri?: string
  readonly details?: ValueMap
  readonly wasSent?: boolean
  readonly cause?: unknown
}

/** The error that a router, a callee or a callback responded with. */
export const peerError = (
  uri: string,
  message: string,
  more: Omit<WampErrorOptions, 'uri'> = {},
): WampError => new WampError('peer_error', message, { ...more, uri })

export interface CallRequest extends Payload {
  readonly procedure: string
  /** As they go to the router; `receive_progress` is set by us where the handler takes progress. */
  readonly options: ValueMap
}

export interface WampResult extends Payload {
  readonly requestId: number
  readonly details: ValueMap
}

/** Exactly one of `onResult` and `onFailure`, once, unless the call is cancelled. Never within `call()` itself. */
export interface CallHandler {
  onResult(result: WampResult): void
  onFailure(error: WampError): void
  /** If present, progressive results are requested; called any number of times before the end. */
  onProgress?(result: WampResult): void
}

export interface PendingCall {
  /** CANCEL `killnowait` is sent; a late response is dropped, and the handler is not called any more. Idempotent. */
  cancel(): void
}

export interface WampEvent extends Payload {
  readonly publicationId: number
  /** With `topic`, the URI that was published to, also for exact subscriptions. */
  readonly details: ValueMap
}

export interface Invocation extends Payload {
  /** With `procedure`, the URI that was called, also for exact registrations. */
  readonly details: ValueMap
}

/** Rejects with a WampError, which becomes the ERROR; anything else becomes `wamp.error.runtime_error`. */
export type InvocationHandler = (invocation: Invocation) => Promise<Payload>

/** One joined session. After its end every operation fails at once with `wamp.error.net_failure`, unsent. */
export interface WampSession {
  readonly id: number
  /** @throws WampError (unsent) when the session has ended or the message can't be encoded */
  call(request: CallRequest, handler: CallHandler): PendingCall
  /** Acknowledged. Rejects with a WampError. */
  publish(topic: string, payload: Payload, options: ValueMap): Promise<{ publicationId: number }>
  /** Rejects with a WampError. The subscription ends with the session. */
  subscribe(
    topic: string,
    options: ValueMap,
    onEvent: (event: WampEvent) => void,
  ): Promise<SessionHold>
  register(procedure: string, options: ValueMap, handler: InvocationHandler): Promise<SessionHold>
  readonly pendingCalls: number
}

/** A subscription or registration of one session. */
export interface SessionHold {
  /** The router's id. */
  readonly id: number
  /** Resolves when the router has ended it by itself while the session goes on; otherwise it never settles. */
  readonly revoked: Promise<void>
  /** Rejects with a WampError; resolves at once if the session has ended. */
  release(): Promise<void>
}

export interface SessionAuth {
  readonly method: 'anonymous' | 'ticket' | 'wampcra' | 'cryptosign'
  readonly authid?: string
  readonly secret?: string
}

export interface LinkOptions {
  readonly realmUri: string
  /** Tried in turn; at least one. */
  readonly urls: readonly string[]
  readonly target: Omit<TransportTarget, 'url'>
  readonly auth: SessionAuth
}

export interface LinkObserver {
  /** A new session, at the first join and after each reconnect. */
  onJoined(session: WampSession): void
  /** It ended; what was pending has been settled before. Another follows in time, unless the link is closed. */
  onLost(): void
  /** `state` has changed. */
  onState(): void
  /** Every address has failed: the next attempt comes after a back-off. `state` may be the same as before. */
  onBackOff(): void
}

/** Keeps one session joined: reconnects for ever, with back-off and fail-over. */
export interface Link {
  readonly state: SessionState
  readonly session: WampSession | undefined
  /**
   * Between an attempt that failed and the next one. Not in the back-off after the end of a session, which is a second
   * at most: a first attempt follows it.
   */
  readonly isBackingOff: boolean
  /** Sends GOODBYE, waits at most a second for the response, and does not reconnect. Never rejects. */
  close(): Promise<void>
}

export type OpenLink = (options: LinkOptions, observer: LinkObserver) => Link
