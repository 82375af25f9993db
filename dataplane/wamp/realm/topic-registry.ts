// Keeps all topics of a realm: it adds each follower to the topic that it shares with others, or creates that topic,
// within bounds. It notifies no follower within `follow()`.

import { guarded } from '../../../base/guarded.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { unavailableError, overloadedError, type UnavailableReason } from './unavailable.ts'
import { matchOf } from './topic-match.ts'
import { TopicSubscription, type TopicOwner, type TopicRealm } from './topic-subscription.ts'
import type { Follower, Following } from './wamp-client.ts'
import type { WampError, WampSession } from '../session/joined-session.ts'

const MAX_TOPICS = 10_000
const MAX_FOLLOWERS = 100_000

export class TopicRegistry {
  readonly #realm: TopicRealm
  readonly #topics = new Map<string, TopicSubscription>()
  readonly #owner: TopicOwner
  #followers = 0
  #home: WampSession | undefined

  constructor(realm: TopicRealm, unavailableReason: () => UnavailableReason) {
    this.#realm = realm
    this.#owner = {
      unavailable: () => unavailableError(unavailableReason(), realm.realmUri),
      onEnd: (topic) => {
        if (this.#topics.get(topic.key) === topic) this.#topics.delete(topic.key)
      },
      isReplaced: ({ key }) => this.#topics.has(key),
      onLeft: () => {
        this.#followers--
      },
    }
  }

  /** The topic is subscribed with the options of its first follower. */
  follow(topic: string, options: ValueMap, follower: Follower): Following {
    const key = JSON.stringify([topic, matchOf(options)])
    const home = this.#home
    if (home === undefined) return this.#rejectLater(follower, this.#owner.unavailable())
    const known = this.#topics.get(key)
    const overload = this.#overload(known !== undefined)
    if (overload !== undefined) return this.#rejectLater(follower, overload)
    this.#followers++
    if (known !== undefined) return { end: known.join(follower) }
    const made = new TopicSubscription(key, { topic, options }, this.#realm, this.#owner)
    this.#topics.set(key, made)
    const end = made.join(follower)
    made.moveTo(home)
    return { end }
  }

  moveTo(session: WampSession | undefined): void {
    this.#home = session
    for (const topic of [...this.#topics.values()]) topic.moveTo(session)
  }

  /** Notifies every follower of every topic, once, and ends all topics. */
  failAll(error: WampError): void {
    this.#home = undefined
    for (const topic of [...this.#topics.values()]) topic.fail(error)
  }

  #overload(isKnown: boolean): WampError | undefined {
    if (this.#followers >= MAX_FOLLOWERS)
      return overloadedError('followers of topics', MAX_FOLLOWERS)
    if (!isKnown && this.#topics.size >= MAX_TOPICS)
      return overloadedError('topics being followed', MAX_TOPICS)
    return undefined
  }

  #rejectLater(follower: Follower, error: WampError): Following {
    let isOver = false
    const notify = guarded(
      () => {
        follower.onFailure(error)
      },
      (cause) => {
        const { log, realmUri } = this.#realm
        log.error('a follower of a topic threw', { realm: realmUri, error: cause })
      },
    )
    queueMicrotask(() => {
      if (!isOver) notify()
    })
    return {
      end: () => {
        isOver = true
      },
    }
  }
}
