// Implements the client of a realm that the actions use. There is one for any uri, whatever becomes of the realm, and
// it has no state of its own.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { RealmBridge } from './realm-bridge.ts'
import type {
  Follower,
  Following,
  DurableHandle,
  DurableKind,
  Registration,
  SessionWait,
  Subscription,
  WampClient,
} from './wamp-client.ts'
import type { CallHandler, CallRequest, PendingCall } from '../session/joined-session.ts'
import type { Payload } from '../protocol/messages.ts'

export interface ClientDeps {
  /** The realm as of now; one without a record where there is none. */
  find(realmUri: string): RealmBridge
  release(realmUri: string, kind: DurableKind, id: number): Promise<boolean>
}

/** A class, since one is made for a request: two fields instead of a closure for every method. */
export class BridgeClient implements WampClient {
  readonly #realmUri: string
  readonly #deps: ClientDeps

  constructor(realmUri: string, deps: ClientDeps) {
    this.#realmUri = realmUri
    this.#deps = deps
  }

  get callTimeoutUnit(): 'ms' | 's' | undefined {
    return this.#realm().record?.router?.call_timeout_unit
  }

  awaitSession(longestMs: number, onOver: () => void): SessionWait | undefined {
    return this.#realm().awaitSession(longestMs, onOver)
  }

  call(request: CallRequest, handler: CallHandler): PendingCall {
    return this.#realm().session().call(request, handler)
  }

  async publish(
    topic: string,
    payload: Payload,
    options: ValueMap,
  ): Promise<{ publicationId: number }> {
    return this.#realm().session().publish(topic, payload, options)
  }

  follow(topic: string, options: ValueMap, follower: Follower): Following {
    return this.#realm().topics.follow(topic, options, follower)
  }

  register(registration: Registration): Promise<DurableHandle> {
    return this.#realm().durable.register(registration)
  }

  subscribe(subscription: Subscription): Promise<DurableHandle> {
    return this.#realm().durable.subscribe(subscription)
  }

  release(kind: DurableKind, id: number): Promise<boolean> {
    return this.#deps.release(this.#realmUri, kind, id)
  }

  #realm(): RealmBridge {
    return this.#deps.find(this.#realmUri)
  }
}
