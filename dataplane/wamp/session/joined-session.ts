// Defines the interface of one session that has joined a router, and of the link that keeps one joined. Everything that
// waits is settled exactly once: by the router, by its caller, or by the end of the session.

import type { Value, ValueMap } from '../../../language/expression/value.ts'
import type { SessionState } from '../../../language/wire/wire.ts'
import type { TransportTarget } from '../protocol/transport.ts'
import type { Payload } from '../protocol/messages.ts'

/** What became of an operation that failed: an ERROR of the router, or our own word for it. */
export class WampFault extends Error {
  /** `wamp.error.no_such_procedure`, an application's own, … */
  readonly uri: string
  readonly args: readonly Value[]
  readonly kwargs: ValueMap
  readonly details: ValueMap
  /** False: the router cannot have seen the request. */
  readonly wasSent: boolean

  constructor(uri: string, message: string, more: Partial<WampFaultMore> = {}) {
    super(message, { cause: more.cause })
    this.name = 'WampFault'
    this.uri = uri
    this.args = more.args ?? []
    this.kwargs = more.kwargs ?? {}
    this.details = more.details ?? {}
    this.wasSent = more.wasSent ?? true
  }
}

export interface WampFaultMore extends Payload {
  readonly details: ValueMap
  readonly wasSent: boolean
  readonly cause: unknown
}

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
  onFailure(fault: WampFault): void
  /** There: progressive results are asked for. Any number of times before the end. */
  onProgress?(result: WampResult): void
}

export interface PendingCall {
  /** CANCEL `killnowait` is sent; the late answer is dropped; the handler hears nothing more. Idempotent. */
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

/** Rejects with a WampFault, which becomes the ERROR; anything else becomes `wamp.error.runtime_error`. */
export type InvocationHandler = (invocation: Invocation) => Promise<Payload>

/** One joined session. After its end every operation fails at once with `wamp.error.net_failure`, unsent. */
export interface WampSession {
  readonly id: number
  /** @throws WampFault (unsent) when the session has ended or the message can't be encoded */
  call(request: CallRequest, handler: CallHandler): PendingCall
  /** Acknowledged. Rejects with a WampFault. */
  publish(topic: string, payload: Payload, options: ValueMap): Promise<{ publicationId: number }>
  /** Rejects with a WampFault. The subscription ends with the session. */
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
  /** Resolves when the router has ended it by itself, in a session that goes on; else it stays open. */
  readonly revoked: Promise<void>
  /** Rejects with a WampFault; done already when the session has ended. */
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
  /** Every address has been tried in vain: the next attempt comes after a pause. `state` may be the same as before. */
  onBackOff(): void
}

/** Keeps one session joined: reconnects for ever, with back-off and fail-over. */
export interface Link {
  readonly state: SessionState
  readonly session: WampSession | undefined
  /**
   * Between an attempt that failed and the next one. Not in the pause after the end of a session, a second at most: what
   * comes after it is a first attempt.
   */
  readonly isBackingOff: boolean
  /** Says GOODBYE, waits for the answer no longer than a second; no reconnect after. Never rejects. */
  close(): Promise<void>
}

export type OpenLink = (options: LinkOptions, observer: LinkObserver) => Link
