// Shares one router subscription of a topic (a URI and a match) among all its followers, on the current session. It
// never copies an event, and an error that one follower throws does not reach another.

import { guarded } from '../../../base/guarded.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { BridgeTimes } from './bridge-setup.ts'
import { SessionRetry } from './durable/retry.ts'
import { releaseHold } from './release.ts'
import { asWampError, isSessionLoss } from './unavailable.ts'
import type { RouterRequestLimiter } from './router-request-limiter.ts'
import type { Follower } from './wamp-client.ts'
import type { SessionHold, WampEvent, WampError, WampSession } from '../session/joined-session.ts'

export interface TopicRealm {
  readonly log: Log
  readonly times: BridgeTimes
  readonly random: () => number
  readonly requestLimiter: RouterRequestLimiter
  readonly realmUri: string
}

export interface TopicOwner {
  /** Why nothing can be subscribed at the moment. */
  unavailable(): WampError
  /** It has no follower any more, or the router has rejected it: a later follower creates a new topic. */
  onEnd(topic: TopicSubscription): void
  /** Another topic of the same key has replaced it. */
  isReplaced(topic: TopicSubscription): boolean
  /** One follower fewer. */
  onLeft(): void
}

interface FollowerEntry {
  readonly follower: Follower
  /** It was notified by `onFollowed`, and not by `onFailure`. */
  isFollowing: boolean
}

/** One SUBSCRIBE on one session. */
interface SubscribeAttempt {
  readonly session: WampSession
  hold: SessionHold | undefined
  /** Resolves when the response has been processed; never rejects. */
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
  /** Sent, not acknowledged yet. */
  #pending: SubscribeAttempt | undefined
  /** The acknowledged subscription, from which events come. */
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

  /** Notifies no follower before it returns. @returns a function that ends this follower */
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

  /** Moves to another session, which may be the first one; undefined: no session is joined. */
  moveTo(session: WampSession | undefined): void {
    this.#retry.reset()
    if (this.#followers.size === 0) this.#end()
    else if (session === undefined) this.#interrupt()
    else this.#subscribe(session)
  }

  /** Notifies every follower and ends the topic. */
  fail(error: WampError): void {
    const entries = [...this.#followers]
    this.#end()
    for (const entry of entries) this.#dismiss(entry, error)
  }

  #subscribe(session: WampSession): void {
    const attempt: SubscribeAttempt = { session, hold: undefined, settled: Promise.resolve() }
    this.#pending = attempt
    attempt.settled = this.#realm.requestLimiter
      .run(
        () => this.#sendSubscribe(attempt),
        (hold) => {
          this.#discard(hold)
        },
      )
      .then(
        (hold) => {
          this.#acknowledge(attempt, hold)
        },
        (error: unknown) => {
          this.#reject(attempt, asWampError(error))
        },
      )
  }

  /** The permit may come when a later attempt has replaced this one. */
  #sendSubscribe(attempt: SubscribeAttempt): Promise<SessionHold> {
    if (this.#pending !== attempt) return Promise.reject(this.#owner.unavailable())
    return attempt.session.subscribe(this.#topic, this.#options, (event) => {
      this.#receive(attempt, event)
    })
  }

  /** Events may arrive in one piece with the acknowledgement: they wait until the followers were notified of it. */
  #receive(attempt: SubscribeAttempt, event: WampEvent): void {
    if (this.#live === attempt) this.#deliver(event)
    else if (this.#pending === attempt)
      void attempt.settled.then(() => {
        if (this.#live === attempt) this.#deliver(event)
      })
  }

  #deliver(event: WampEvent): void {
    Object.freeze(event)
    const pass = (follower: Follower): void => {
      follower.onEvent(event)
    }
    for (const entry of this.#followers) if (entry.isFollowing) this.#notify(entry, pass)
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
        this.#notify(entry, (follower) => {
          follower.onResumed()
        })
    }
    if (this.#followers.size === 0) this.#startLinger()
  }

  #reject(attempt: SubscribeAttempt, error: WampError): void {
    if (this.#pending !== attempt) return
    this.#pending = undefined
    const waiting = [...this.#followers].filter(({ isFollowing }) => !isFollowing)
    if (!isSessionLoss(error) || waiting.length === this.#followers.size) {
      this.fail(error)
      return
    }
    // The session has ended, and the next one is being opened: only followers that never followed fail.
    for (const entry of waiting) this.#dismiss(entry, error)
  }

  /** The router has revoked it: another SUBSCRIBE is acknowledged, or rejected with a reason. */
  #lose(attempt: SubscribeAttempt): void {
    if (this.#live !== attempt) return
    this.#live = undefined
    if (this.#followers.size === 0) {
      this.#end()
      return
    }
    this.#notifyInterrupted()
    // Otherwise another session is about to get it.
    if (this.#pending !== undefined) return
    const isFirst = this.#retry.schedule(() => {
      this.#subscribe(attempt.session)
    })
    const { log, realmUri } = this.#realm
    if (isFirst)
      log.warn('a subscription was revoked by the router; it is subscribed again', {
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
      if (!entry.isFollowing) this.#dismiss(entry, this.#owner.unavailable())
    this.#notifyInterrupted()
    if (this.#followers.size === 0) this.#end()
  }

  #notifyInterrupted(): void {
    if (this.#isInterrupted) return
    this.#isInterrupted = true
    for (const entry of this.#followers)
      if (entry.isFollowing)
        this.#notify(entry, (follower) => {
          follower.onInterrupted()
        })
  }

  #admit(entry: FollowerEntry, attempt: SubscribeAttempt | undefined): void {
    const id = attempt?.hold?.id
    if (id === undefined || entry.isFollowing || !this.#followers.has(entry)) return
    entry.isFollowing = true
    this.#notify(entry, (follower) => {
      follower.onFollowed(id)
    })
  }

  #dismiss(entry: FollowerEntry, error: WampError): void {
    if (!this.#followers.delete(entry)) return
    this.#owner.onLeft()
    this.#notify(entry, (follower) => {
      follower.onFailure(error)
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
      // Not while a SUBSCRIBE waits for its response: the UNSUBSCRIBE would overtake the next follower's.
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

  /**
   * The hold came too late. A session has one of each topic: it is not released while another SUBSCRIBE may be pending.
   */
  #discard(hold: SessionHold): void {
    if (!this.#owner.isReplaced(this)) this.#release(hold)
    else setTimeout(this.#release, 2 * this.#realm.times.acknowledgeMs, hold).unref()
  }

  readonly #release = (hold: SessionHold | undefined): void => {
    void releaseHold(hold, this.#realm)
  }

  readonly #notify = guarded(
    (entry: FollowerEntry, call: (follower: Follower) => void) => {
      call(entry.follower)
    },
    (error) => {
      const { log, realmUri } = this.#realm
      log.error('a follower of a topic threw', { realm: realmUri, topic: this.#topic, error })
    },
  )
}
