// Opens, replaces and closes the links of one realm as its record and the number of documents that use it require, and
// decides on which session its topics and registrations live. It never blocks, and throws only at callers that ask for
// a session.

import { isDeepStrictEqual } from 'node:util'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { BridgeSetup } from './bridge-setup.ts'
import type { RunningInvocations } from './durable/invocations.ts'
import { DurableRegistry } from './durable/registry.ts'
import { unavailableError, type UnavailableReason } from './unavailable.ts'
import { planLinks, type RealmPlan } from './link-plan.ts'
import { RealmPool } from './session-pool.ts'
import type { Retirement } from './retirement.ts'
import { RouterRequestLimiter } from './router-request-limiter.ts'
import { SessionWaits } from './session-waits.ts'
import { TopicRegistry } from './topic-registry.ts'
import type { RealmBridgeStatus, SessionWait } from './wamp-client.ts'
import type { WampError, WampSession } from '../session/joined-session.ts'

export interface RealmDeps {
  readonly setup: BridgeSetup
  readonly retirement: Retirement
  readonly invocations: RunningInvocations
}

export class RealmBridge {
  readonly uri: string
  readonly topics: TopicRegistry
  readonly durable: DurableRegistry
  /** Undefined: the realm is gone, or was never there. */
  record: RealmRecord | undefined
  documents = 0
  readonly #setup: BridgeSetup
  readonly #retirement: Retirement
  readonly #waits: SessionWaits
  #isClosed = false
  #plan: RealmPlan | undefined
  /** Takes calls. */
  #serving: RealmPool | undefined
  /** Opened for a changed record; replaces `#serving` when it has joined, or has failed to. */
  #next: RealmPool | undefined
  #handover: NodeJS.Timeout | undefined
  /** Where topics and registrations live: one joined session of `#serving`. */
  #home: WampSession | undefined

  constructor(uri: string, { setup, retirement, invocations }: RealmDeps) {
    this.uri = uri
    this.#setup = setup
    this.#retirement = retirement
    this.#waits = new SessionWaits(uri, setup.log)
    const unavailableReason = (): UnavailableReason => this.#unavailableReason()
    const { log, times, random } = setup
    // Two limiters: a procedure that moves to another session must not wait until all topics have moved.
    const [forTopics, forDurable] = [createLimiter(setup), createLimiter(setup)]
    this.topics = new TopicRegistry(
      { log, times, random, requestLimiter: forTopics, realmUri: uri },
      unavailableReason,
    )
    const durableRealm = { realmUri: uri, setup, requestLimiter: forDurable, invocations }
    this.durable = new DurableRegistry(durableRealm, this.topics, unavailableReason)
  }

  /** It has neither a record nor a document, and no open link. */
  get isIdle(): boolean {
    return this.record === undefined && this.documents === 0
  }

  /** Opens, replaces or closes links, as `record` and `documents` now have it. */
  updateLinks(): void {
    const plan =
      this.#isClosed || this.documents === 0 || this.record === undefined
        ? undefined
        : planLinks(this.record)
    if (isDeepStrictEqual(plan, this.#plan)) return
    this.#plan = plan
    if (plan === undefined) this.#closeLinks()
    else this.#openLinks(plan)
    this.#setup.noteStatus()
  }

  close(): void {
    this.#isClosed = true
    this.updateLinks()
  }

  /** An operation does not wait if all links are backing off after a failure (behaviour §4). */
  awaitSession(longestMs: number, onOver: () => void): SessionWait | undefined {
    if (this.#isJoined || longestMs <= 0) return undefined
    if (!this.#pools().some(({ isOpening }) => isOpening)) return undefined
    return this.#waits.add(longestMs, onOver)
  }

  /** @throws WampError, unsent: no session is joined */
  session(): WampSession {
    const session = this.#serving?.pick()
    if (session === undefined) throw this.unavailable()
    return session
  }

  unavailable(): WampError {
    return unavailableError(this.#unavailableReason(), this.uri)
  }

  status(): RealmBridgeStatus | undefined {
    const pool = this.#next ?? this.#serving
    if (pool === undefined) return undefined
    return { realmUri: this.uri, sessions: pool.states(), durable: this.durable.listings() }
  }

  #openLinks(plan: RealmPlan): void {
    const { log, times } = this.#setup
    log.info('opening sessions with a router', { realm: this.uri, pool: plan.pool })
    const pool = new RealmPool(this.#setup, plan)
    const replaced = this.#next
    this.#next = pool
    pool.open({
      onJoined: () => {
        this.#handOverIfDue()
        this.#chooseHome()
        this.#endWaitsIfDue()
      },
      onLost: (session) => {
        this.#lose(session)
      },
      onState: () => {
        this.#handOverIfDue()
        this.#setup.noteStatus()
      },
      onBackOff: () => {
        this.#endWaitsIfDue()
      },
    })
    if (replaced !== undefined) this.#retirement.retire(replaced)
    clearTimeout(this.#handover)
    this.#handover = setTimeout(() => {
      if (this.#next === pool) this.#handOver(pool)
    }, times.handoverMs).unref()
    this.#handOverIfDue()
  }

  /** Until the new links have joined, or have failed to, the old ones serve. */
  #handOverIfDue(): void {
    const next = this.#next
    if (next === undefined) return
    if (!this.#isJoined || next.joined.length > 0 || !next.isHopeful) this.#handOver(next)
  }

  #handOver(next: RealmPool): void {
    clearTimeout(this.#handover)
    const before = this.#serving
    this.#serving = next
    this.#next = undefined
    this.#chooseHome()
    if (before !== undefined) this.#retirement.retire(before)
    this.#endWaitsIfDue()
  }

  #closeLinks(): void {
    const error = this.unavailable()
    this.#setup.log.info('closing the sessions with a router', {
      realm: this.uri,
      reason: error.message,
    })
    clearTimeout(this.#handover)
    const pools = [this.#serving, this.#next]
    this.#serving = undefined
    this.#next = undefined
    this.#home = undefined
    this.durable.dropAll(error)
    this.topics.failAll(error)
    for (const pool of pools) if (pool !== undefined) this.#retirement.retire(pool)
    this.#endWaitsIfDue()
  }

  /**
   * Operations wait through failed attempts for a router that has served before, as it restarts. One that never did, or
   * that rejects the gateway, would only keep callers waiting.
   */
  #endWaitsIfDue(): void {
    const isWorthIt = (pool: RealmPool): boolean =>
      pool.isOpening || (pool.hasJoined && rejectionOf(pool) === undefined)
    if (this.#isJoined || !this.#pools().some(isWorthIt)) this.#waits.notifyAll()
  }

  get #isJoined(): boolean {
    return (this.#serving?.joined.length ?? 0) > 0
  }

  #pools(): readonly RealmPool[] {
    return [this.#serving, this.#next].filter((pool) => pool !== undefined)
  }

  #lose(session: WampSession): void {
    if (session === this.#home) this.#moveHome(undefined)
    this.#handOverIfDue()
    this.#chooseHome()
  }

  #chooseHome(): void {
    const joined = this.#serving?.joined ?? []
    if (this.#home !== undefined && joined.includes(this.#home)) return
    const home = joined[0]
    if (home !== this.#home) this.#moveHome(home)
  }

  /** Topics first: durable subscriptions follow them. */
  #moveHome(home: WampSession | undefined): void {
    this.#home = home
    this.topics.moveTo(home)
    this.durable.moveTo(home)
  }

  #unavailableReason(): UnavailableReason {
    if (this.#isClosed) return 'closed'
    if (this.record === undefined) return 'no-realm'
    if (planLinks(this.record) === undefined) return 'no-router'
    if (this.documents === 0) return 'unused'
    return rejectionOf(this.#serving) ?? 'away'
  }
}

const createLimiter = ({ times }: BridgeSetup): RouterRequestLimiter =>
  new RouterRequestLimiter(times.acknowledgeMs)

const rejectionOf = (pool: RealmPool | undefined): 'unknown-to-router' | 'refused' | undefined => {
  const rejected = pool?.states().filter(({ state }) => state === 'refused') ?? []
  if (rejected.length === 0) return undefined
  return rejected.some(({ reason }) => reason?.startsWith('wamp.error.no_such_realm'))
    ? 'unknown-to-router'
    : 'refused'
}
