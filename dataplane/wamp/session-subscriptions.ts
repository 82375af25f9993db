// Subscriptions of a session: EVENT messages come in, handlers are told. An event of a subscription that is
// not there (any more) is nobody's.

import type { ValueMap } from '../../spec/expression/value.ts'
import type { Asking } from './session-calls.ts'
import { payloadAt } from './session-payload.ts'
import type { Requests } from './session-requests.ts'
import type { SessionHold, WampEvent } from './wamp-session.ts'
import { MESSAGE, type WampMessage } from './wire.ts'

export interface Subscriptions {
  subscribe(
    topic: string,
    options: ValueMap,
    onEvent: (event: WampEvent) => void,
  ): Promise<SessionHold>
  onEvent(message: WampMessage): void
  /** The router has ended it by itself; false: there is none of that id. */
  onRevoked(subscriptionId: number): boolean
  end(): void
}

interface Subscriber {
  readonly topic: string
  readonly onEvent: (event: WampEvent) => void
}

export const createSubscriptions = (asking: Asking, requests: Requests): Subscriptions => {
  const { autobahn, guard } = asking
  /** A router gives the same topic and match the same id. */
  const subscribers = new Map<number, Set<Subscriber>>()

  const release = (id: number, subscriber: Subscriber, subscription: unknown): Promise<void> => {
    const others = subscribers.get(id)
    if (others?.delete(subscriber) !== true) return Promise.resolve()
    if (others.size > 0) {
      // Sends nothing: autobahn only counts down.
      autobahn.unsubscribe(subscription)
      return Promise.resolve()
    }
    subscribers.delete(id)
    return requests.ask(
      MESSAGE.unsubscribe,
      () => autobahn.unsubscribe(subscription),
      () => undefined,
    )
  }

  return {
    subscribe: (topic, options, onEvent) =>
      requests.ask(
        MESSAGE.subscribe,
        () => autobahn.subscribe(topic, nothing, options),
        (answer, outcome) => {
          const id = answer[2] as number
          const subscriber = { topic, onEvent }
          const others = subscribers.get(id)
          if (others === undefined) subscribers.set(id, new Set([subscriber]))
          else others.add(subscriber)
          let released: Promise<void> | undefined
          return { id, release: () => (released ??= release(id, subscriber, outcome.value)) }
        },
      ),

    onEvent: (message) => {
      const [, id, publicationId, given] = message as readonly [number, number, number, ValueMap]
      const payload = payloadAt(message, 4)
      for (const { topic, onEvent } of subscribers.get(id) ?? []) {
        const details = typeof given['topic'] === 'string' ? given : { ...given, topic }
        guard(() => {
          onEvent({ publicationId, ...payload, details })
        })
      }
    },

    onRevoked: (id) => subscribers.delete(id),

    end: () => {
      subscribers.clear()
    },
  }
}

const nothing = (): void => undefined
