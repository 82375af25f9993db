// Keeps one topic followed for a callback until it is released. Once the router has acknowledged it, a later rejection
// does not end it: the topic is followed again after a back-off.

import type { DurableItem } from './item.ts'
import type { DurableRealm } from './registration.ts'
import { SessionRetry } from './retry.ts'
import type { TopicRegistry } from '../topic-registry.ts'
import { matchOf } from '../topic-match.ts'
import type { Following, Subscription } from '../wamp-client.ts'
import type { WampError, WampSession } from '../../session/joined-session.ts'

export class DurableSubscription implements DurableItem {
  readonly kind = 'subscription'
  readonly uri: string
  readonly match: string
  readonly callback: string
  readonly #subscription: Subscription
  readonly #realm: DurableRealm
  readonly #topics: TopicRegistry
  readonly #retry: SessionRetry
  #following: Following | undefined
  #isActive = false
  #isEnded = false
  #isUnavailable = false
  /** Settles with the first acknowledgement or failure; undefined afterwards. */
  #started: PromiseWithResolvers<undefined> | undefined

  constructor(subscription: Subscription, realm: DurableRealm, topics: TopicRegistry) {
    this.uri = subscription.topic
    this.match = matchOf(subscription.options)
    this.callback = subscription.callback
    this.#subscription = subscription
    this.#realm = realm
    this.#topics = topics
    this.#retry = new SessionRetry(realm.setup)
  }

  get isActive(): boolean {
    return this.#isActive
  }

  async start(): Promise<void> {
    const started = Promise.withResolvers<undefined>()
    this.#started = started
    this.#follow()
    await started.promise
  }

  /** The shared topic moves by itself; one that was rejected there follows again at once. */
  moveTo(session: WampSession | undefined): void {
    this.#isUnavailable = session === undefined
    this.#retry.reset()
    if (session !== undefined && this.#following === undefined && !this.#isEnded) this.#follow()
  }

  end(error: WampError): Promise<void> {
    this.#isEnded = true
    this.#subscription.onEnd()
    this.#isActive = false
    this.#retry.reset()
    this.#following?.end()
    this.#following = undefined
    this.#started?.reject(error)
    this.#started = undefined
    return Promise.resolve()
  }

  #follow(): void {
    const { topic, options, onEvent } = this.#subscription
    this.#following = this.#topics.follow(topic, options, {
      onFollowed: () => {
        this.#started?.resolve(undefined)
        this.#started = undefined
        this.#retry.succeed()
        this.#setActive(true)
      },
      onEvent,
      onInterrupted: () => {
        this.#setActive(false)
      },
      onResumed: () => {
        this.#setActive(true)
      },
      onFailure: (error) => {
        this.#fail(error)
      },
    })
  }

  #fail(error: WampError): void {
    this.#following = undefined
    this.#setActive(false)
    if (this.#started !== undefined) {
      this.#started.reject(error)
      this.#started = undefined
      return
    }
    if (this.#isEnded || this.#isUnavailable) return
    const isFirst = this.#retry.schedule(() => {
      this.#follow()
    })
    if (isFirst) this.#logRejection(error)
  }

  #setActive(isActive: boolean): void {
    if (this.#isActive === isActive) return
    this.#isActive = isActive
    this.#realm.setup.noteStatus()
  }

  #logRejection(error: WampError): void {
    const { realmUri, setup } = this.#realm
    setup.log.warn('a durable subscription was rejected; it is retried', {
      realm: realmUri,
      topic: this.uri,
      error,
    })
  }
}
