// Opens, replaces and closes the links of one realm as its record and the number of documents that use it require, and
// decides on which session its topics and registrations live. It never blocks, and throws only at callers that ask for
// a session.

import { isDeepStrictEqual } from 'node:util'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { BridgeSetup } from './bridge-setup.ts'
import type { RunningInvocations } from './durable/invocations.ts'
import { DurableRegistry } from './durable/registry.ts'
import { obstacleFault, type Obstacle } from './unavailable.ts'
import { planLinks, type RealmPlan } from './link-plan.ts'
import { RealmPool } from './session-pool.ts'
import type { Retirement } from './retirement.ts'
import { RouterRequestLimiter } from './router-request-limiter.ts'
import { SessionWaits } from './session-waits.ts'
import { TopicRegistry } from './topic-registry.ts'
import type { RealmBridgeStatus, SessionWait } from './wamp-client.ts'
import type { WampFault, WampSession } from '../session/joined-session.ts'

export interface RealmParts {
  readonly setup: BridgeSetup
  readonly retirement: Retirement
  readonly invocations: RunningInvocations
}

export class RealmBridge {
  readonly uri: string
  readonly topics: TopicRegistry
  readonly held: DurableRegistry
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
  /** Opened for a changed record; takes the place of `#serving` when it has joined, or can't. */
  #next: RealmPool | undefined
  #handover: NodeJS.Timeout | undefined
  /** Where topics and registrations live: one joined session of `#serving`. */
  #home: WampSession | undefined

  constructor(uri: string, { setup, retirement, invocations }: RealmParts) {
    this.uri = uri
    this.#setup = setup
    this.#retirement = retirement
    this.#waits = new SessionWaits(uri, setup.log)
    const obstacle = (): Obstacle => this.#obstacle()
    const { log, times, random } = setup
    // Of their own: a procedure that moves to another session is not to be gone for as long as all topics take.
    const [forTopics, forHeld] = [newTurns(setup), newTurns(setup)]
    this.topics = new TopicRegistry(
      { log, times, random, requestLimiter: forTopics, realmUri: uri },
      obstacle,
    )
    const heldRealm = { realmUri: uri, setup, requestLimiter: forHeld, invocations }
    this.held = new DurableRegistry(heldRealm, this.topics, obstacle)
  }

  /** Nothing is known of it any more, nothing of it is open. */
  get isIdle(): boolean {
    return this.record === undefined && this.documents === 0
  }

  /** Opens, replaces or closes links, as `record` and `documents` now have it. */
  settle(): void {
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
    this.settle()
  }

  /** Who comes while all links pause after a failure does not wait (behaviour §4). */
  awaitSession(longestMs: number, onOver: () => void): SessionWait | undefined {
    if (this.#isJoined || longestMs <= 0) return undefined
    if (!this.#pools().some(({ isOpening }) => isOpening)) return undefined
    return this.#waits.add(longestMs, onOver)
  }

  /** @throws WampFault, unsent: no session is joined */
  session(): WampSession {
    const session = this.#serving?.pick()
    if (session === undefined) throw this.fault()
    return session
  }

  fault(): WampFault {
    return obstacleFault(this.#obstacle(), this.uri)
  }

  status(): RealmBridgeStatus | undefined {
    const pool = this.#next ?? this.#serving
    if (pool === undefined) return undefined
    return { realmUri: this.uri, sessions: pool.states(), held: this.held.listings() }
  }

  #openLinks(plan: RealmPlan): void {
    const { log, times } = this.#setup
    log.info('opening sessions with a router', { realm: this.uri, pool: plan.pool })
    const pool = new RealmPool(this.#setup, plan)
    const replaced = this.#next
    this.#next = pool
    pool.open({
      onJoined: () => {
        this.#considerHandover()
        this.#settleHome()
        this.#considerWaits()
      },
      onLost: (session) => {
        this.#lose(session)
      },
      onState: () => {
        this.#considerHandover()
        this.#setup.noteStatus()
      },
      onBackOff: () => {
        this.#considerWaits()
      },
    })
    if (replaced !== undefined) this.#retirement.retire(replaced)
    clearTimeout(this.#handover)
    this.#handover = setTimeout(() => {
      if (this.#next === pool) this.#handOver(pool)
    }, times.handoverMs).unref()
    this.#considerHandover()
  }

  /** Until the new links have joined, or have failed to, the old ones serve. */
  #considerHandover(): void {
    const next = this.#next
    if (next === undefined) return
    if (!this.#isJoined || next.joined.length > 0 || !next.isHopeful) this.#handOver(next)
  }

  #handOver(next: RealmPool): void {
    clearTimeout(this.#handover)
    const before = this.#serving
    this.#serving = next
    this.#next = undefined
    this.#settleHome()
    if (before !== undefined) this.#retirement.retire(before)
    this.#considerWaits()
  }

  #closeLinks(): void {
    const fault = this.fault()
    this.#setup.log.info('closing the sessions with a router', {
      realm: this.uri,
      reason: fault.message,
    })
    clearTimeout(this.#handover)
    const pools = [this.#serving, this.#next]
    this.#serving = undefined
    this.#next = undefined
    this.#home = undefined
    this.held.dropAll(fault)
    this.topics.failAll(fault)
    for (const pool of pools) if (pool !== undefined) this.#retirement.retire(pool)
    this.#considerWaits()
  }

  /**
   * A router that has served is waited for through attempts that fail: it restarts. One that never did, or that says no,
   * would only keep its callers waiting.
   */
  #considerWaits(): void {
    const isWorthIt = (pool: RealmPool): boolean =>
      pool.isOpening || (pool.hasJoined && refusalOf(pool) === undefined)
    if (this.#isJoined || !this.#pools().some(isWorthIt)) this.#waits.tellAll()
  }

  get #isJoined(): boolean {
    return (this.#serving?.joined.length ?? 0) > 0
  }

  #pools(): readonly RealmPool[] {
    return [this.#serving, this.#next].filter((pool) => pool !== undefined)
  }

  #lose(session: WampSession): void {
    if (session === this.#home) this.#moveHome(undefined)
    this.#considerHandover()
    this.#settleHome()
  }

  #settleHome(): void {
    const joined = this.#serving?.joined ?? []
    if (this.#home !== undefined && joined.includes(this.#home)) return
    const home = joined[0]
    if (home !== this.#home) this.#moveHome(home)
  }

  /** Topics first: what is held looks at them. */
  #moveHome(home: WampSession | undefined): void {
    this.#home = home
    this.topics.moveTo(home)
    this.held.moveTo(home)
  }

  #obstacle(): Obstacle {
    if (this.#isClosed) return 'closed'
    if (this.record === undefined) return 'no-realm'
    if (planLinks(this.record) === undefined) return 'no-router'
    if (this.documents === 0) return 'unused'
    return refusalOf(this.#serving) ?? 'away'
  }
}

const newTurns = ({ times }: BridgeSetup): RouterRequestLimiter =>
  new RouterRequestLimiter(times.acknowledgeMs)

const refusalOf = (pool: RealmPool | undefined): 'unknown-to-router' | 'refused' | undefined => {
  const refused = pool?.states().filter(({ state }) => state === 'refused') ?? []
  if (refused.length === 0) return undefined
  return refused.some(({ reason }) => reason?.startsWith('wamp.error.no_such_realm'))
    ? 'unknown-to-router'
    : 'refused'
}
