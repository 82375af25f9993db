// Routes messages of publishers and subscribers: sends EVENTs and replies to the sessions they are for. Keeps the
// subscriptions of one realm, never an event.

import { MESSAGE, type WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { Publish, Subscribe, Unsubscribe } from './client-message.ts'
import { isMatchPolicy, isPattern, type MatchPolicy, PatternTable } from './pattern-match.ts'
import { errorMessage, payloadTail } from './router-message.ts'
import { disclosed, type Session } from './session.ts'

export const BROKER_FEATURES: ValueMap = {
  pattern_based_subscription: true,
  publisher_exclusion: true,
  publisher_identification: true,
}

export interface Broker {
  subscribe(subscriber: Session, message: Subscribe): void
  unsubscribe(subscriber: Session, message: Unsubscribe): void
  publish(publisher: Session, message: Publish): void
  /** The session has left. */
  forget(session: Session): void
}

interface Subscription {
  readonly id: number
  readonly topic: string
  readonly match: MatchPolicy
  readonly subscribers: Set<Session>
}

/** @param drawPublicationId a new id for each publication */
export const createBroker = (drawPublicationId: () => number): Broker =>
  new SubscriptionBroker(drawPublicationId)

class SubscriptionBroker implements Broker {
  readonly #drawPublicationId: () => number
  readonly #byPattern = new PatternTable<Subscription>()
  readonly #byId = new Map<number, Subscription>()
  #lastId = 0

  constructor(drawPublicationId: () => number) {
    this.#drawPublicationId = drawPublicationId
  }

  subscribe(subscriber: Session, { request, options, uri }: Subscribe): void {
    const match = ownValue(options, 'match') ?? 'exact'
    if (!isMatchPolicy(match)) {
      const args = ['match must be exact, prefix or wildcard']
      const error = 'wamp.error.invalid_argument'
      subscriber.send(errorMessage(MESSAGE.subscribe, request, error, args))
      return
    }
    if (!isPattern(uri, match)) {
      subscriber.send(invalidUri(MESSAGE.subscribe, request, uri))
      return
    }
    const subscription = this.#byPattern.get(match, uri) ?? this.#open(match, uri)
    subscription.subscribers.add(subscriber)
    subscriber.send([MESSAGE.subscribed, request, subscription.id])
  }

  unsubscribe(subscriber: Session, { request, subscription: id }: Unsubscribe): void {
    const subscription = this.#byId.get(id)
    const isReleased = subscription !== undefined && this.#release(subscription, subscriber)
    const error = 'wamp.error.no_such_subscription'
    subscriber.send(
      isReleased
        ? [MESSAGE.unsubscribed, request]
        : errorMessage(MESSAGE.unsubscribe, request, error),
    )
  }

  publish(publisher: Session, message: Publish): void {
    const isAcknowledged = ownValue(message.options, 'acknowledge') === true
    if (!isPattern(message.uri, 'exact')) {
      if (!isAcknowledged) return
      publisher.send(invalidUri(MESSAGE.publish, message.request, message.uri))
      return
    }
    const publicationId = this.#drawPublicationId()
    for (const subscription of this.#byPattern.all(message.uri)) {
      deliver(publisher, message, subscription, publicationId)
    }
    if (isAcknowledged) publisher.send([MESSAGE.published, message.request, publicationId])
  }

  forget(session: Session): void {
    for (const subscription of this.#byId.values()) this.#release(subscription, session)
  }

  #open(match: MatchPolicy, topic: string): Subscription {
    const subscription = { id: ++this.#lastId, topic, match, subscribers: new Set<Session>() }
    this.#byPattern.set(match, topic, subscription)
    this.#byId.set(subscription.id, subscription)
    return subscription
  }

  #release(subscription: Subscription, subscriber: Session): boolean {
    if (!subscription.subscribers.delete(subscriber)) return false
    if (subscription.subscribers.size === 0) {
      this.#byPattern.delete(subscription.match, subscription.topic)
      this.#byId.delete(subscription.id)
    }
    return true
  }
}

/** An event that can't be encoded for a subscriber is dropped silently, as WAMP has no message for that. */
const deliver = (
  publisher: Session,
  { uri, options, ...payload }: Publish,
  subscription: Subscription,
  publicationId: number,
): void => {
  const topic = subscription.match === 'exact' ? {} : { topic: uri }
  const isDisclosed = ownValue(options, 'disclose_me') === true
  const event = (details: ValueMap): WampMessage => [
    MESSAGE.event,
    subscription.id,
    publicationId,
    details,
    ...payloadTail(payload),
  ]
  for (const subscriber of subscription.subscribers) {
    if (subscriber === publisher && ownValue(options, 'exclude_me') !== false) continue
    const knowsPublishers = subscriber.features.has('subscriber.publisher_identification')
    const from = isDisclosed && knowsPublishers ? disclosed('publisher', publisher) : {}
    subscriber.send(event({ ...topic, ...from }))
  }
}

const invalidUri = (asked: number, request: number, uri: string): WampMessage =>
  errorMessage(asked, request, 'wamp.error.invalid_uri', [
    `${JSON.stringify(uri.slice(0, 255))} is no URI: no empty part, blank or # is allowed`,
  ])
