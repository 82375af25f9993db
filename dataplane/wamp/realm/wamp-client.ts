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
  WampError,
} from '../session/joined-session.ts'
import type { Payload } from '../protocol/messages.ts'

export interface WampClient {
  /** The unit in which a call's `timeout` option is sent; undefined: it is not sent. */
  readonly callTimeoutUnit: 'ms' | 's' | undefined
  /**
   * Waits while no session is joined and one is being opened: an attempt is in progress, or the first one after the end
   * of a session is due. `onOver` is called once: a session has joined, none is expected, or `longestMs` have passed;
   * from then on operations succeed or fail as at any time.
   *
   * @returns undefined: there is nothing to wait for, and `onOver` is not called
   */
  awaitSession(longestMs: number, onOver: () => void): SessionWait | undefined
  /**
   * @throws WampError, unsent: `wamp.error.no_such_realm` (the realm is gone, or the router does not know it),
   * `wamp.error.net_failure` (no router, or it cannot be reached, or it does not let us join)
   */
  call(request: CallRequest, handler: CallHandler): PendingCall
  /** Rejects with a WampError. */
  publish(topic: string, payload: Payload, options: ValueMap): Promise<{ publicationId: number }>
  /** Joins the router subscription of that topic and match, or creates it. The result's `end()` ends it. */
  follow(topic: string, options: ValueMap, follower: Follower): Following
  /**
   * Durable: registered in every session until released; the handler runs for every invocation. Rejects with a
   * WampError.
   */
  register(registration: Registration): Promise<DurableHandle>
  /** Like `follow`, but durable, for callbacks. Rejects with a WampError. */
  subscribe(subscription: Subscription): Promise<DurableHandle>
  /** False: no process of the gateway has such an id in this realm. */
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
  /** It is released, or ends with its realm: events that still wait are to be dropped. */
  readonly onEnd: () => void
  /** For listings: origin and path of the callback. */
  readonly callback: string
}

export type DurableKind = 'registration' | 'subscription'

/** Ids are the gateway's own, so that they outlive a reconnect; whole numbers up to 2^53. */
export interface DurableHandle {
  readonly id: number
}

/** A follower of a topic. `onFollowed` or `onFailure` is called first; after `onFailure` nothing is. */
export interface Follower {
  /** The router has acknowledged; once. */
  onFollowed(subscriptionId: number): void
  /** The same object for all followers of the topic. */
  onEvent(event: WampEvent): void
  /** The router cannot be reached: events may be missed from here on … */
  onInterrupted(): void
  /** … to here. */
  onResumed(): void
  onFailure(error: WampError): void
}

export interface Following {
  /** The follower is not notified any more; the last one ends the router subscription. Idempotent. */
  end(): void
}

/** A durable registration or subscription, as the management listener lists it. */
export interface DurableListing {
  readonly kind: DurableKind
  readonly id: number
  readonly uri: string
  readonly match: string
  /** Origin and path of the callback; never its query or user info. */
  readonly callback: string
  /** False while the router cannot be reached, or rejects it. */
  readonly isActive: boolean
}

export interface RealmBridgeStatus {
  readonly realmUri: string
  readonly sessions: readonly SessionState[]
  readonly durable: readonly DurableListing[]
}

/** The part of a `ServingChange` that the bridge reads. */
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
  /** Releases a registration or subscription of this process; false: it has none of that id. */
  releaseHere(realmUri: string, kind: DurableKind, id: number): Promise<boolean>
  /** Ends every session with GOODBYE, within two seconds. */
  close(): Promise<void>
}
