// Defines the interface of the bridge for the actions: one client per realm, which is there whatever its router does.
// It knows nothing of HTTP.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { SessionState } from '../../../language/wire/wire.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type {
  CallHandler,
  CallRequest,
  InvocationHandler,
  PendingCall,
  WampEvent,
  WampFault,
} from '../session/joined-session.ts'
import type { Payload } from '../protocol/messages.ts'

export interface WampClient {
  /** What a call's `timeout` option may be sent as; undefined: not at all. */
  readonly callTimeoutUnit: 'ms' | 's' | undefined
  /**
   * Waits while no session is joined and one is being opened: an attempt is under way, or the first one after the end
   * of a session is due. `onOver` runs once: a session has joined, none is to come, or `longestMs` are over; then
   * operations succeed or fail as at any time.
   *
   * @returns undefined: there is nothing to wait for, and `onOver` is not called
   */
  awaitSession(longestMs: number, onOver: () => void): SessionWait | undefined
  /**
   * @throws WampFault, unsent: `wamp.error.no_such_realm` (the realm is gone, or the router does not know it),
   * `wamp.error.net_failure` (no router, or it is away, or it does not let us join)
   */
  call(request: CallRequest, handler: CallHandler): PendingCall
  /** Rejects with a WampFault. */
  publish(topic: string, payload: Payload, options: ValueMap): Promise<{ publicationId: number }>
  /** Joins the router subscription of that topic and match, or makes it. Ends with `end()` of what it returns. */
  follow(topic: string, options: ValueMap, follower: Follower): Following
  /** Kept over reconnects until released; the handler runs for every invocation. Rejects with a WampFault. */
  register(registration: Registration): Promise<DurableHandle>
  /** Like `follow`, kept until released, for callbacks. Rejects with a WampFault. */
  subscribe(subscription: Subscription): Promise<DurableHandle>
  /** False: nobody holds such an id in this realm. Asks the other processes of the gateway too. */
  release(kind: DurableKind, id: number): Promise<boolean>
}

export interface SessionWait {
  /** `onOver` is not called any more. Idempotent. */
  cancel(): void
}

export interface Registration {
  readonly procedure: string
  readonly options: ValueMap
  readonly handler: InvocationHandler
  /** For listings: origin and path of the callback. */
  readonly callback: string
}

export interface Subscription {
  readonly topic: string
  readonly options: ValueMap
  readonly onEvent: (event: WampEvent) => void
  /** It is released, or ends with its realm: nothing more is to become of events that still wait. */
  readonly onEnd: () => void
  /** For listings: origin and path of the callback. */
  readonly callback: string
}

export type DurableKind = 'registration' | 'subscription'

/** Ids are the gateway's own, so that they outlive a reconnect; whole numbers up to 2^53. */
export interface DurableHandle {
  readonly id: number
}

/** Who follows a topic. `onFollowed` or `onFailure` comes first; after `onFailure` nothing comes. */
export interface Follower {
  /** The router has acknowledged; once. */
  onFollowed(subscriptionId: number): void
  /** The same object for all followers of the topic. */
  onEvent(event: WampEvent): void
  /** The router is away: events may be missed from here on … */
  onInterrupted(): void
  /** … to here. */
  onResumed(): void
  onFailure(fault: WampFault): void
}

export interface Following {
  /** Nothing is told any more; the last one ends the router subscription. Idempotent. */
  end(): void
}

/** What is held for callbacks, as the management listener lists it. */
export interface DurableListing {
  readonly kind: DurableKind
  readonly id: number
  readonly uri: string
  readonly match: string
  /** Origin and path of the callback; never its query or user info. */
  readonly callback: string
  /** False while the router is away, or refuses it. */
  readonly isActive: boolean
}

export interface RealmBridgeStatus {
  readonly realmUri: string
  readonly sessions: readonly SessionState[]
  readonly held: readonly DurableListing[]
}

/** What a change of what is served means to the bridge; a `ServingChange` is one. */
export interface BridgeChange {
  /** A document without active versions uses no realm. */
  readonly put: readonly {
    readonly id: string
    readonly realmUri: string
    readonly versions: readonly unknown[]
  }[]
  readonly remove: readonly string[]
  readonly realms: { readonly put: readonly RealmRecord[]; readonly delete: readonly string[] }
}

/** Every serving process has one. */
export interface WampBridge {
  clientOf(realmUri: string): WampClient
  /**
   * Which realms there are and which documents use them: sessions open with the first active document of a realm
   * that has a router and close with the last; a changed router record opens new ones. Returns at once.
   */
  follow(change: BridgeChange): void
  status(): readonly RealmBridgeStatus[]
  /** Releases what this process holds; false when it does not. */
  releaseHere(realmUri: string, kind: DurableKind, id: number): Promise<boolean>
  /** Ends every session, says GOODBYE; within two seconds. */
  close(): Promise<void>
}
