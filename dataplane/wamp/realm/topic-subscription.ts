// Shares one router subscription of a topic (a URI and a match) among all its followers, on the current session. It
// never copies an event, and an error that one follower throws does not reach another.

import { guarded } from '../../../base/guarded.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { BridgeTimes } from './bridge-setup.ts'
import { SessionRetry } from './durable/retry.ts'
import { releaseHold } from './release.ts'
import { asFault, isLoss } from './unavailable.ts'
import type { RouterRequestLimiter } from './router-request-limiter.ts'
import type { Follower } from './wamp-client.ts'
import type { SessionHold, WampEvent, WampFault, WampSession } from '../session/joined-session.ts'

export interface TopicRealm {
  readonly log: Log
  readonly times: BridgeTimes
  readonly random: () => number
  readonly requestLimiter: RouterRequestLimiter
  readonly realmUri: string
}

export interface TopicOwner {
  /** Why nothing can be subscribed at the moment. */
  obstacle(): WampFault
  /** Nobody follows any more, or the router has refused: a later follower makes a new topic. */
  onEnd(topic: TopicSubscription): void
  /** Another topic of the same key has taken its place. */
  isReplaced(topic: TopicSubscription): boolean
  /** One follower fewer. */
  onLeft(): void
}

interface FollowerEntry {
  readonly follower: Follower
  /** Has heard `onFollowed`, and nothing final. */
  isFollowing: boolean
}

/** One SUBSCRIBE on one session. */
interface SubscribeAttempt {
  readonly session: WampSession
  hold: SessionHold | undefined
  /** After the answer has been dealt with; never rejects. */
  settled: Promise<void>
}

export class TopicSubscription {
  readonly key: string
  readonly #topic: string
  readonly #options: ValueMap
  readonly #realm: TopicRealm
  readonly #owner: TopicOwner
  readonly #retry: SessionRetry
  readonly #followers = new Set<FollowerEntry>()
  /** Asked, not answered yet. */
  #pending: SubscribeAttempt | undefined
  /** Where events come from. */
  #live: SubscribeAttempt | undefined
  #isInterrupted = false
  #linger: NodeJS.Timeout | undefined

  constructor(
    key: string,
    subscription: { readonly topic: string; readonly options: ValueMap },
    realm: TopicRealm,
    owner: TopicOwner,
  ) {
    this.key = key
    this.#topic = subscription.topic
    this.#options = subscription.options
    this.#realm = realm
    this.#owner = owner
    this.#retry = new SessionRetry(realm)
  }

  /** Tells nothing within the call. What it returns ends this follower. */
  join(follower: Follower): () => void {
    clearTimeout(this.#linger)
    const entry: FollowerEntry = { follower, isFollowing: false }
    this.#followers.add(entry)
    if (this.#live !== undefined)
      queueMicrotask(() => {
        this.#admit(entry, this.#live)
      })
    return () => {
      this.#leave(entry)
    }
  }

  /** To another session, which may be the first one; undefined: the router is away. */
  moveTo(session: WampSession | undefined): void {
    this.#retry.reset()
    if (this.#followers.size === 0) this.#end()
    else if (session === undefined) this.#interrupt()
    else this.#subscribe(session)
  }

  /** Everybody hears of it; it is over. */
  fail(fault: WampFault): void {
    const entries = [...this.#followers]
    this.#end()
    for (const entry of entries) this.#dismiss(entry, fault)
  }

  #subscribe(session: WampSession): void {
    const attempt: SubscribeAttempt = { session, hold: undefined, settled: Promise.resolve() }
    this.#pending = attempt
    attempt.settled = this.#realm.requestLimiter
      .run(
        () => this.#ask(attempt),
        (hold) => {
          this.#discard(hold)
        },
      )
      .then(
        (hold) => {
          this.#acknowledge(attempt, hold)
        },
        (error: unknown) => {
          this.#refuse(attempt, asFault(error))
        },
      )
  }

  /** Its turn may come when a later attempt has taken its place. */
  #ask(attempt: SubscribeAttempt): Promise<SessionHold> {
    if (this.#pending !== attempt) return Promise.reject(this.#owner.obstacle())
    return attempt.session.subscribe(this.#topic, this.#options, (event) => {
      this.#receive(attempt, event)
    })
  }

  /** Events may come in one piece with the acknowledgement: they wait until the followers have heard of that. */
  #receive(attempt: SubscribeAttempt, event: WampEvent): void {
    if (this.#live === attempt) this.#deliver(event)
    else if (this.#pending === attempt)
      void attempt.settled.then(() => {
        if (this.#live === attempt) this.#deliver(event)
      })
  }

  #deliver(event: WampEvent): void {
    Object.freeze(event)
    const hand = (follower: Follower): void => {
      follower.onEvent(event)
    }
    for (const entry of this.#followers) if (entry.isFollowing) this.#tell(entry, hand)
  }

  #acknowledge(attempt: SubscribeAttempt, hold: SessionHold): void {
    if (this.#pending !== attempt) {
      this.#discard(hold)
      return
    }
    const before = this.#live
    const wasInterrupted = this.#isInterrupted
    attempt.hold = hold
    this.#pending = undefined
    this.#live = attempt
    this.#isInterrupted = false
    this.#retry.succeed()
    void hold.revoked.then(() => {
      this.#lose(attempt)
    })
    this.#release(before?.hold)
    for (const entry of this.#followers) {
      if (!entry.isFollowing) this.#admit(entry, attempt)
      else if (wasInterrupted)
        this.#tell(entry, (follower) => {
          follower.onResumed()
        })
    }
    if (this.#followers.size === 0) this.#startLinger()
  }

  #refuse(attempt: SubscribeAttempt, fault: WampFault): void {
    if (this.#pending !== attempt) return
    this.#pending = undefined
    const waiting = [...this.#followers].filter(({ isFollowing }) => !isFollowing)
    if (!isLoss(fault) || waiting.length === this.#followers.size) {
      this.fail(fault)
      return
    }
    // The session has ended under it, the next one is on its way: only who never followed gives up.
    for (const entry of waiting) this.#dismiss(entry, fault)
  }

  /** The router has revoked it: asked again, it says yes, or why not. */
  #lose(attempt: SubscribeAttempt): void {
    if (this.#live !== attempt) return
    this.#live = undefined
    if (this.#followers.size === 0) {
      this.#end()
      return
    }
    this.#tellInterrupted()
    // Else another session is about to have it.
    if (this.#pending !== undefined) return
    const isFirst = this.#retry.schedule(() => {
      this.#subscribe(attempt.session)
    })
    const { log, realmUri } = this.#realm
    if (isFirst)
      log.warn('a subscription was revoked by the router; it is made again', {
        realm: realmUri,
        topic: this.#topic,
      })
  }

  #interrupt(): void {
    this.#pending = undefined
    const before = this.#live
    this.#live = undefined
    this.#release(before?.hold)
    for (const entry of this.#followers)
      if (!entry.isFollowing) this.#dismiss(entry, this.#owner.obstacle())
    this.#tellInterrupted()
    if (this.#followers.size === 0) this.#end()
  }

  #tellInterrupted(): void {
    if (this.#isInterrupted) return
    this.#isInterrupted = true
    for (const entry of this.#followers)
      if (entry.isFollowing)
        this.#tell(entry, (follower) => {
          follower.onInterrupted()
        })
  }

  #admit(entry: FollowerEntry, attempt: SubscribeAttempt | undefined): void {
    const id = attempt?.hold?.id
    if (id === undefined || entry.isFollowing || !this.#followers.has(entry)) return
    entry.isFollowing = true
    this.#tell(entry, (follower) => {
      follower.onFollowed(id)
    })
  }

  #dismiss(entry: FollowerEntry, fault: WampFault): void {
    if (!this.#followers.delete(entry)) return
    this.#owner.onLeft()
    this.#tell(entry, (follower) => {
      follower.onFailure(fault)
    })
  }

  #leave(entry: FollowerEntry): void {
    if (!this.#followers.delete(entry)) return
    this.#owner.onLeft()
    if (this.#followers.size === 0) this.#startLinger()
  }

  #startLinger(): void {
    clearTimeout(this.#linger)
    this.#linger = setTimeout(() => {
      // Not while a SUBSCRIBE waits for its answer: the UNSUBSCRIBE would overtake the next follower's.
      if (this.#followers.size === 0 && this.#pending === undefined) this.#end()
    }, this.#realm.times.lingerMs).unref()
  }

  #end(): void {
    clearTimeout(this.#linger)
    this.#retry.reset()
    const hold = this.#live?.hold
    this.#pending = undefined
    this.#live = undefined
    this.#owner.onEnd(this)
    this.#release(hold)
  }

  /** It came too late. A session has one of each topic: not while another's SUBSCRIBE may wait for its answer. */
  #discard(hold: SessionHold): void {
    if (!this.#owner.isReplaced(this)) this.#release(hold)
    else setTimeout(this.#release, 2 * this.#realm.times.acknowledgeMs, hold).unref()
  }

  readonly #release = (hold: SessionHold | undefined): void => {
    void releaseHold(hold, this.#realm)
  }

  readonly #tell = guarded(
    (entry: FollowerEntry, say: (follower: Follower) => void) => {
      say(entry.follower)
    },
    (error) => {
      const { log, realmUri } = this.#realm
      log.error('a follower of a topic threw', { realm: realmUri, topic: this.#topic, error })
    },
  )
}
