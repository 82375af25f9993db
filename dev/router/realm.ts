// Passes each message of the sessions of one realm to its broker or dealer, unless its URI is denied. Knows nothing of
// how sessions join.

import { ownValue } from '../../language/expression/lookup.ts'
import { MESSAGE } from '../../dataplane/wamp/protocol/messages.ts'
import { type Broker, createBroker } from './broker.ts'
import type { RoutedMessage } from './client-message.ts'
import { createDealer, type Dealer } from './dealer.ts'
import { errorMessage } from './router-message.ts'
import type { RealmOptions } from './router-options.ts'
import { answerMeta } from './session-meta.ts'
import type { Session } from './session.ts'
import type { RouterDeps } from './router-deps.ts'
import { drawId } from './wamp-id.ts'

export interface Realm {
  readonly options: RealmOptions
  readonly members: ReadonlyMap<number, Session>
  join(session: Session): void
  /** Idempotent. */
  leave(session: Session): void
  /** @throws ProtocolViolation */
  route(session: Session, message: RoutedMessage): void
}

export const createRealm = (options: RealmOptions, deps: RouterDeps): Realm => {
  const { randomBytes, schedule } = deps
  const members = new Map<number, Session>()
  const broker = createBroker(() => drawId(randomBytes))
  const dealer = createDealer({
    drawBelow: (limit) => randomBytes(4).readUInt32BE() % limit,
    schedule,
  })
  return {
    options,
    members,
    join(session) {
      members.set(session.id, session)
    },
    leave(session) {
      if (!members.delete(session.id)) return
      broker.forget(session)
      dealer.forget(session)
    },
    route(session, message) {
      if (isDenied(options.deny ?? [], message)) refuse(session, message)
      else dispatch({ broker, dealer, members }, session, message)
    },
  }
}

interface Parts {
  readonly broker: Broker
  readonly dealer: Dealer
  readonly members: ReadonlyMap<number, Session>
}

const dispatch = (parts: Parts, session: Session, message: RoutedMessage): void => {
  const { broker, dealer } = parts
  switch (message.type) {
    case 'publish':
      broker.publish(session, message)
      return
    case 'subscribe':
      broker.subscribe(session, message)
      return
    case 'unsubscribe':
      broker.unsubscribe(session, message)
      return
    case 'call': {
      const response = answerMeta(session, message, parts.members)
      if (response === undefined) dealer.call(session, message)
      else session.send(response)
      return
    }
    case 'cancel':
      dealer.cancel(session, message)
      return
    case 'register':
      dealer.register(session, message)
      return
    case 'unregister':
      dealer.unregister(session, message)
      return
    case 'yield':
      dealer.yield(session, message)
      return
    case 'error':
      dealer.error(session, message)
  }
}

/** For messages that name a URI which the sender has chosen. */
const DENIABLE = {
  publish: MESSAGE.publish,
  subscribe: MESSAGE.subscribe,
  call: MESSAGE.call,
  register: MESSAGE.register,
} as const

type Deniable = Extract<RoutedMessage, { readonly type: keyof typeof DENIABLE }>

const isDenied = (prefixes: readonly string[], message: RoutedMessage): message is Deniable =>
  Object.hasOwn(DENIABLE, message.type) &&
  prefixes.some((prefix) => 'uri' in message && message.uri.startsWith(prefix))

const refuse = (session: Session, message: Deniable): void => {
  const isAwaited = message.type !== 'publish' || ownValue(message.options, 'acknowledge') === true
  if (!isAwaited) return
  const asked = DENIABLE[message.type]
  session.send(errorMessage(asked, message.request, 'wamp.error.not_authorized'))
}
