// Keeps all topics of a realm: it adds each follower to the topic that it shares with others, or creates that topic,
// within bounds. It notifies no follower within `follow()`.

import { guarded } from '../../../base/guarded.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { obstacleFault, overloadFault, type Obstacle } from './unavailable.ts'
import { matchOf } from './topic-match.ts'
import { TopicSubscription, type TopicOwner, type TopicRealm } from './topic-subscription.ts'
import type { Follower, Following } from './wamp-client.ts'
import type { WampFault, WampSession } from '../session/joined-session.ts'

const MAX_TOPICS = 10_000
const MAX_FOLLOWERS = 100_000

export class TopicRegistry {
  readonly #realm: TopicRealm
  readonly #topics = new Map<string, TopicSubscription>()
  readonly #owner: TopicOwner
  #followers = 0
  #home: WampSession | undefined

  constructor(realm: TopicRealm, obstacle: () => Obstacle) {
    this.#realm = realm
    this.#owner = {
      obstacle: () => obstacleFault(obstacle(), realm.realmUri),
      onEnd: (topic) => {
        if (this.#topics.get(topic.key) === topic) this.#topics.delete(topic.key)
      },
      isReplaced: ({ key }) => this.#topics.has(key),
      onLeft: () => {
        this.#followers--
      },
    }
  }

  /** The options of a topic's first follower are those that the router is asked with. */
  follow(topic: string, options: ValueMap, follower: Follower): Following {
    const key = JSON.stringify([topic, matchOf(options)])
    const home = this.#home
    if (home === undefined) return this.#refuseLater(follower, this.#owner.obstacle())
    const known = this.#topics.get(key)
    const refusal = this.#refusal(known !== undefined)
    if (refusal !== undefined) return this.#refuseLater(follower, refusal)
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

  /** Every follower of every topic hears of it, once; what they followed is over. */
  failAll(fault: WampFault): void {
    this.#home = undefined
    for (const topic of [...this.#topics.values()]) topic.fail(fault)
  }

  #refusal(isKnown: boolean): WampFault | undefined {
    if (this.#followers >= MAX_FOLLOWERS) return overloadFault('followers of topics', MAX_FOLLOWERS)
    if (!isKnown && this.#topics.size >= MAX_TOPICS)
      return overloadFault('topics being followed', MAX_TOPICS)
    return undefined
  }

  #refuseLater(follower: Follower, fault: WampFault): Following {
    let isOver = false
    const notify = guarded(
      () => {
        follower.onFailure(fault)
      },
      (error) => {
        const { log, realmUri } = this.#realm
        log.error('a follower of a topic threw', { realm: realmUri, error })
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
