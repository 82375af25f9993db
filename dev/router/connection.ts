// Handles the messages of one connected client, from HELLO to GOODBYE, and its part in a realm's routing. Knows nothing
// of sockets or serializers; a violation by one client ends that client alone.

import { MESSAGE, type WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { isList } from '../../language/expression/value.ts'
import { type Challenge, openEntry, type UserMethod } from './authenticators.ts'
import {
  type ClientMessage,
  type Hello,
  ProtocolViolation,
  readClientMessage,
} from './client-message.ts'
import { announcedFeatures, welcomeMessage } from './features.ts'
import type { Realm } from './realm.ts'
import { abortMessage, goodbyeMessage } from './router-message.ts'
import type { Identity, Session } from './session.ts'
import type { RouterDeps } from './router-deps.ts'
import { drawId } from './wamp-id.ts'

/** Towards the client. */
export interface Outlet {
  /** See Session.send. */
  send(message: WampMessage): boolean
  /** Ends after what was sent has gone out; idempotent. */
  close(): void
}

/** From the client. */
export interface Inlet {
  receive(message: WampMessage): void
  /** The received bytes could not be read. */
  refuse(why: string): void
  /** The router ends it. */
  end(reason: string, message?: string): void
  /** The connection is gone; idempotent. */
  gone(): void
}

/** For HELLO, and again for the response to a challenge. */
const HANDSHAKE_MS = 5000

export interface ConnectionNeeds {
  readonly realms: ReadonlyMap<string, Realm>
  readonly deps: RouterDeps
  readonly outlet: Outlet
  /** Called once, when no more messages are received from the client or sent to it. */
  readonly onOver: () => void
}

export const openConnection = (needs: ConnectionNeeds): Inlet => new Connection(needs)

interface Asked {
  readonly hello: Hello
  readonly realm: Realm
  readonly sessionId: number
}

type State =
  | { readonly kind: 'new' }
  | { readonly kind: 'challenged'; readonly asked: Asked; readonly challenge: Challenge }
  | { readonly kind: 'joined'; readonly realm: Realm; readonly session: Session }
  | { readonly kind: 'over' }

class Connection implements Inlet {
  readonly #needs: ConnectionNeeds
  #state: State = { kind: 'new' }
  #stopTimer: () => void

  constructor(needs: ConnectionNeeds) {
    this.#needs = needs
    this.#stopTimer = this.#expect('HELLO')
  }

  receive(message: WampMessage): void {
    try {
      this.#take(readClientMessage(message))
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error
      this.refuse(error.message)
    }
  }

  refuse(why: string): void {
    this.#finish(abortMessage('wamp.error.protocol_violation', why))
  }

  end(reason: string, message?: string): void {
    const isJoined = this.#state.kind === 'joined'
    this.#finish(isJoined ? goodbyeMessage(reason, message) : abortMessage(reason, message))
  }

  gone(): void {
    this.#finish()
  }

  #take(message: ClientMessage): void {
    const state = this.#state
    if (state.kind === 'over') return
    if (message.type === 'abort') {
      this.#finish()
      return
    }
    if (state.kind === 'new') this.#greet(message)
    else if (state.kind === 'challenged') this.#check(state.asked, state.challenge, message)
    else this.#route(state.realm, state.session, message)
  }

  #greet(message: ClientMessage): void {
    if (message.type !== 'hello') throw new ProtocolViolation('HELLO must come first')
    const realm = this.#needs.realms.get(message.realm)
    if (realm === undefined) {
      const shown = JSON.stringify(message.realm.slice(0, 255))
      this.#finish(abortMessage('wamp.error.no_such_realm', `there is no realm ${shown}`))
      return
    }
    if (announcedFeatures(message.details).roles.size === 0) {
      this.#finish(abortMessage('wamp.error.no_such_role', 'HELLO announces no role of a client'))
      return
    }
    this.#enter({ hello: message, realm, sessionId: drawId(this.#needs.deps.randomBytes) })
  }

  #enter(asked: Asked): void {
    const { details } = asked.hello
    const methods = ownValue(details, 'authmethods')
    const authid = ownValue(details, 'authid')
    const entry = openEntry(
      asked.realm.options,
      isList(methods) && methods.length > 0 ? methods : ['anonymous'],
      { sessionId: asked.sessionId, authid: typeof authid === 'string' ? authid : '' },
      this.#needs.deps,
    )
    if (entry === undefined) this.#deny('the realm has none of these authentication methods')
    else if (entry.kind === 'admitted') this.#join(asked, entry.identity)
    else this.#challenge(asked, entry.method, entry.challenge)
  }

  #challenge(asked: Asked, method: UserMethod, challenge: Challenge): void {
    this.#state = { kind: 'challenged', asked, challenge }
    this.#stopTimer()
    this.#stopTimer = this.#expect('AUTHENTICATE')
    this.#needs.outlet.send([MESSAGE.challenge, method, challenge.extra])
  }

  #check(asked: Asked, challenge: Challenge, message: ClientMessage): void {
    if (message.type !== 'authenticate') throw new ProtocolViolation('AUTHENTICATE must come now')
    const identity = challenge.check(message.signature)
    if (identity === undefined) this.#deny('the response to the challenge is wrong')
    else this.#join(asked, identity)
  }

  #deny(why: string): void {
    this.#finish(abortMessage('wamp.error.authentication_failed', why))
  }

  #join({ hello, realm, sessionId }: Asked, identity: Identity): void {
    this.#stopTimer()
    const session: Session = {
      id: sessionId,
      identity,
      features: announcedFeatures(hello.details).features,
      send: (message) => this.#needs.outlet.send(message),
      end: (reason, message) => {
        this.end(reason, message)
      },
    }
    this.#state = { kind: 'joined', realm, session }
    this.#needs.outlet.send(welcomeMessage(session))
    realm.join(session)
  }

  #route(realm: Realm, session: Session, message: ClientMessage): void {
    const { type } = message
    if (type === 'goodbye') {
      this.#finish(goodbyeMessage('wamp.close.goodbye_and_out'))
      return
    }
    if (type === 'hello' || type === 'authenticate' || type === 'abort')
      throw new ProtocolViolation(`${type.toUpperCase()} after the session was opened`)
    realm.route(session, message)
  }

  #finish(lastWord?: WampMessage): void {
    const state = this.#state
    if (state.kind === 'over') return
    this.#state = { kind: 'over' }
    this.#stopTimer()
    if (lastWord !== undefined) this.#needs.outlet.send(lastWord)
    this.#needs.outlet.close()
    if (state.kind === 'joined') state.realm.leave(state.session)
    this.#needs.onOver()
  }

  #expect(what: string): () => void {
    return this.#needs.deps.schedule(HANDSHAKE_MS, () => {
      this.refuse(`${what} did not come in time`)
    })
  }
}
