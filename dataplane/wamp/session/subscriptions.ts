// Keeps the subscriptions of a session, and passes each EVENT to its handlers. An event of a subscription that does not
// exist (any more) is dropped.

import { once } from '../../../base/once.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { RequestDeps } from './calls.ts'
import { payloadAt } from './payload.ts'
import type { Requests } from './requests.ts'
import { createRevocation } from './revocation.ts'
import type { SessionHold, WampEvent } from './joined-session.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'

export interface Subscriptions {
  subscribe(
    topic: string,
    options: ValueMap,
    onEvent: (event: WampEvent) => void,
  ): Promise<SessionHold>
  onEvent(message: WampMessage): void
  /** UNSUBSCRIBED without a request of ours. One for a subscription that we have just ended is ignored. */
  onRevoked(subscriptionId: number, message: WampMessage): void
  end(): void
}

interface Subscriber {
  readonly topic: string
  readonly onEvent: (event: WampEvent) => void
  readonly onRevoked: () => void
}

export const createSubscriptions = (deps: RequestDeps, requests: Requests): Subscriptions => {
  const { peer, guard } = deps
  /** The subscribers of each id: a router gives the same topic and match the same one. */
  const subscribers = new Map<number, Set<Subscriber>>()

  const release = (id: number, subscriber: Subscriber, subscription: unknown): Promise<void> => {
    const others = subscribers.get(id)
    if (others?.delete(subscriber) !== true) return Promise.resolve()
    if (others.size > 0) {
      // Sends nothing: autobahn only counts down.
      peer.session.unsubscribe(subscription)
      return Promise.resolve()
    }
    subscribers.delete(id)
    return requests.send(
      MESSAGE.unsubscribe,
      () => peer.session.unsubscribe(subscription),
      () => undefined,
    )
  }

  return {
    subscribe: (topic, options, onEvent) =>
      requests.send(
        MESSAGE.subscribe,
        () => peer.session.subscribe(topic, nothing, options),
        (response, subscription) => {
          const id = response[2] as number
          const { revoked, onRevoked } = createRevocation()
          const subscriber = { topic, onEvent, onRevoked }
          const others = subscribers.get(id)
          if (others === undefined) subscribers.set(id, new Set([subscriber]))
          else others.add(subscriber)
          return {
            id,
            revoked,
            release: once(() => release(id, subscriber, subscription)),
          }
        },
      ),

    onEvent: (message) => {
      const [, id, publicationId, eventDetails] = message as readonly [
        number,
        number,
        number,
        ValueMap,
      ]
      const payload = payloadAt(message, 4)
      for (const { topic, onEvent } of subscribers.get(id) ?? []) {
        const details =
          typeof eventDetails['topic'] === 'string' ? eventDetails : { ...eventDetails, topic }
        guard(() => {
          onEvent({ publicationId, ...payload, details })
        })
      }
    },

    onRevoked: (id, message) => {
      const revoked = subscribers.get(id)
      if (revoked === undefined) return
      subscribers.delete(id)
      peer.receive(message)
      for (const { onRevoked } of revoked) onRevoked()
    },

    end: () => {
      subscribers.clear()
    },
  }
}

const nothing = (): void => undefined
