// Pools the connections to one origin. It spreads requests over the addresses, and over the connections to each, of
// which it takes the longest idle one; it opens new ones if there is none. Each connection carries one request at a
// time, so that a request can abort its connection while it is still connecting. The limiters bound how many there
// are.

import type { ServiceEndpoints } from '../../language/wire/wire.ts'
import {
  type Connection,
  type ConnectionEvents,
  destroyConnection,
  openConnection,
} from './connection.ts'
import type { Connector } from './destinations/connector.ts'
import type { Endpoint } from './endpoints/endpoint-set.ts'
import type { OriginAddresses } from './endpoints/origin-addresses.ts'
import type { OriginHealth, RealmFailure, SharedFailure } from './endpoints/origin-health.ts'
import type { OpenClient } from './http1/client.ts'
import type { IdleConnections } from './idle-connections.ts'
import type { OriginRecord } from './origin-ledger.ts'
import type { EjectionCounter } from './endpoints/outlier-detector.ts'
import { type NotTriedCause, NotTriedError } from './failure-cause.ts'
import { isIdempotent } from './retry.ts'
import type { UpstreamRequest } from './upstream.ts'

export interface PoolClock {
  /** Monotonic, milliseconds. */
  readonly now: () => number
  readonly random: () => number
}

export interface PoolOptions {
  readonly origin: string
  readonly openClient: OpenClient
  readonly connector: Connector
  readonly addresses: OriginAddresses
  readonly health: OriginHealth
  readonly record: OriginRecord
  readonly ejectionCounter: EjectionCounter
  /** The idle connections of all pools. */
  readonly idleConnections: IdleConnections<Connection>
  readonly clock: PoolClock
  /** Milliseconds in which the event loop ran. */
  readonly heardMs: () => number
  /** Idle connections are closed after this time, or a second or two before the time that the upstream names. */
  readonly keepAliveMs: number
  /** A connection gets no new request after this time, or up to a quarter earlier; 0: no bound. */
  readonly maxAgeMs: number
  /** Called when no connection is left. */
  readonly onEmpty: () => void
}

/** What the request is that a connection is taken for. */
export type TakenFor = Pick<UpstreamRequest, 'realm' | 'after' | 'method' | 'connectTimeoutMs'>

/**
 * After this many consecutive responses that indicate a fault a connection is closed, as the next may reach another
 * instance.
 */
const BAD_RESPONSES = 3
/** If no connection is better, each that is closed doubles the number for the next. */
const MOST_BAD_RESPONSES = 96

/** The share of its lifetime that a connection may lose, so that not all are renewed at once. */
const EARLIER = 0.25

/** How many addresses of each family one connection tries. */
const TRIED_OF_FAMILY = 2

export class OriginPool implements ConnectionEvents {
  /** The record of the origin. */
  readonly record: OriginRecord
  readonly #options: PoolOptions
  readonly #all = new Set<Connection>()
  /** Idle connections by known endpoint, the longest idle first. */
  readonly #idle = new Map<Endpoint, Connection[]>()
  #isClosing = false
  #badResponses = BAD_RESPONSES
  /** The report by which nothing is behind the addresses. */
  #goneBy: ServiceEndpoints | undefined
  #withdrawn: readonly Endpoint[] = []

  constructor(options: PoolOptions) {
    this.#options = options
    this.record = options.record
  }

  /**
   * If the request comes after another attempt, another address is taken or, if there is none, a new connection.
   * @param isNew it must not have served a request
   */
  take({ realm, after, method, connectTimeoutMs }: TakenFor, isNew = false): Connection {
    const { addresses, clock, ejectionCounter } = this.#options
    const nowMs = clock.now()
    this.record.counts.requests++
    addresses.touch(nowMs)
    const avoid = isNew ? undefined : after?.endpoint
    const { endpoint, probed } = this.#choose({ realm, avoid, method }, nowMs)
    // Chosen although it should be avoided: there is no other, but a new connection may lead elsewhere.
    const idle =
      isNew || endpoint === undefined || endpoint === avoid || this.#isGone(endpoint)
        ? undefined
        : this.#takeIdle(endpoint, nowMs)
    const connection = idle ?? this.#open(nowMs)
    connection.isReused = idle !== undefined
    connection.isBusy = true
    connection.isValidated = false
    connection.realm = realm
    connection.avoid = avoid
    connection.method = method
    connection.connectTimeoutMs = connectTimeoutMs
    connection.probed = probed
    connection.expectedError = undefined
    connection.begunAt = ejectionCounter.count
    this.assign(connection, endpoint)
    return connection
  }

  /** Call it when the request is over and the connection may serve another. */
  giveBack(connection: Connection): void {
    const { endpoint, client } = connection
    const isKept = !this.#isClosing && client.isReusable && endpoint?.isKnown === true
    if (!isKept || this.#isBad(connection)) {
      this.drop(connection)
      return
    }
    this.#leave(connection)
    const idle = this.#idle.get(endpoint)
    if (idle === undefined) this.#idle.set(endpoint, [connection])
    else idle.push(connection)
    this.#options.idleConnections.add(connection, this)
  }

  /** Call it when the request failed or was aborted: the connection cannot be used any more. */
  drop(connection: Connection): void {
    this.#leave(connection)
    this.#forget(connection)
    destroyLater(connection)
  }

  /** Closes idle connections now, the others when their request is over. */
  close(): void {
    this.#isClosing = true
    for (const idle of [...this.#idle.values()]) for (const each of [...idle]) this.drop(each)
  }

  count(): Readonly<Record<'connected' | 'running' | 'queued', number>> {
    const counts = { connected: 0, running: 0, queued: 0 }
    for (const { isConnected, isBusy } of this.#all) {
      if (isConnected) counts.connected++
      if (isBusy) counts[isConnected ? 'running' : 'queued']++
    }
    return counts
  }

  /** The addresses of the origin. */
  get addresses(): OriginAddresses {
    return this.#options.addresses
  }

  get health(): OriginHealth {
    return this.#options.health
  }

  /** Call it when the addresses have changed. */
  onAddresses(): void {
    this.#followGone()
    this.#options.health.matchEndpoints(this.#options.addresses.set)
    for (const [endpoint, idle] of this.#idle) {
      if (endpoint.isKnown) continue
      this.#idle.delete(endpoint)
      for (const each of idle) this.drop(each)
    }
  }

  /** All gateways alike serve nothing from a Service that is gone, also those with connections to its own address. */
  #isGone(endpoint: Endpoint): boolean {
    const { addresses, health } = this.#options
    return addresses.gone !== undefined && health.stateOf(endpoint) === 'ejected'
  }

  #followGone(): void {
    const { addresses, health } = this.#options
    const { gone } = addresses
    // Once a request has got through nevertheless, the same report is not believed again.
    if (gone?.reported === this.#goneBy) return
    this.#goneBy = gone?.reported
    for (const each of this.#withdrawn) health.restore(each)
    this.#withdrawn = gone === undefined ? [] : addresses.set.members
    if (gone !== undefined) for (const each of this.#withdrawn) health.withdraw(each, gone.cause)
  }

  /** Call it when the head of a response has arrived. */
  onStatus(connection: Connection, statusCode: number): void {
    const isBad = statusCode >= 502 && statusCode <= 504
    connection.badResponses = isBad ? connection.badResponses + 1 : 0
    if (!isBad) {
      connection.hasServed = true
      this.#badResponses = BAD_RESPONSES
    }
    this.record.onResponse(statusCode, connection.realm)
    this.assess(connection, isBad ? 'status' : undefined)
  }

  /** Records the result of a request for the health of its address, once for each request. */
  assess(connection: Connection, fault: SharedFailure | RealmFailure | undefined): void {
    const { endpoint, realm: own, begunAt, connectTimeoutMs } = connection
    const { set } = this.#options.addresses
    // An endpoint that is not known any more needs no record.
    if (connection.isValidated || endpoint?.isKnown !== true) return
    connection.isValidated = true
    const waitedMs = fault === 'connect_timeout' ? connectTimeoutMs : undefined
    // No realm can do without the only address.
    const realm = set.size > 1 ? own : undefined
    this.#options.health.report({ endpoint, realm, fault, begunAt, waitedMs }, set)
  }

  candidates(connection: Connection): readonly Endpoint[] | Error {
    const { addresses, clock } = this.#options
    addresses.touch(clock.now())
    const { members } = addresses.set
    // It was chosen when the connection was taken, unless the addresses were not known or have changed since.
    if (connection.endpoint === undefined || !members.includes(connection.endpoint)) {
      this.#endProbe(connection)
      const { endpoint, probed } = this.#choose(connection, clock.now())
      this.assign(connection, endpoint)
      connection.probed = probed
    }
    const reachable = this.#reachable(connection)
    if (reachable.length > 0) return reachable
    const probed = this.#options.health.findLastProbe(members)
    const [first] = members
    // They may have changed.
    if (first !== undefined) addresses.invalidate(first)
    const gone = addresses.gone && new NotTriedError(addresses.gone.cause)
    if (probed === undefined) return gone ?? new NotTriedError(this.#whyNotTried(first))
    connection.probed = probed
    connection.expectedError = gone
    return [probed]
  }

  #whyNotTried(endpoint: Endpoint | undefined): NotTriedCause {
    const [ejection] = endpoint === undefined ? [] : this.#options.health.ejectionsOf(endpoint)
    return ejection?.fault === 'connect_timeout' ? 'connect_timeout' : 'refused'
  }

  /** The endpoints to try, the first one first; none if all can't be reached. */
  #reachable(connection: Connection): readonly Endpoint[] {
    const { addresses, clock, health } = this.#options
    const { members } = addresses.set
    const { avoid, probed, connectTimeoutMs } = connection
    const isReachable = (each: Endpoint): boolean =>
      each === probed || !health.isUnreachable(each, connectTimeoutMs)
    const lastResort = addresses.lastResort().slice(0, 1).filter(isReachable)
    const usable = members.filter(isReachable)
    const first = usable.find((each) => each === connection.endpoint) ?? usable[0]
    if (first === undefined || members.length === 1) return [...usable, ...lastResort]
    const start = Math.floor(clock.random() * usable.length)
    const others = [...usable.slice(start), ...usable.slice(0, start)].filter(
      (each) => each !== first && each !== avoid && health.stateOf(each) !== 'ejected',
    )
    const ofFamily = (isSame: boolean): readonly Endpoint[] =>
      others.filter(({ family }) => (family === first.family) === isSame)
    return [
      first,
      ...ofFamily(true).slice(0, TRIED_OF_FAMILY - 1),
      ...ofFamily(false).slice(0, TRIED_OF_FAMILY),
      ...lastResort,
    ]
  }

  assign(connection: Connection, endpoint: Endpoint | undefined): void {
    this.#discount(connection)
    connection.endpoint = endpoint
    if (endpoint === undefined || !connection.isBusy) return
    connection.isCounted = true
    endpoint.outstanding++
  }

  /** The request may continue with another address. */
  onAttemptFailed(connection: Connection, fault: SharedFailure, isSlow: boolean): void {
    const { endpoint, begunAt } = connection
    const { set } = this.#options.addresses
    if (endpoint === undefined) return
    const waitedMs = isSlow ? Infinity : undefined
    if (endpoint.isKnown)
      this.#options.health.report({ endpoint, realm: undefined, fault, begunAt, waitedMs }, set)
    this.#options.addresses.invalidate(endpoint)
  }

  onConnected({ endpoint }: Connection): void {
    if (endpoint !== undefined) this.#options.addresses.trust(endpoint)
  }

  onUsable({ endpoint }: Connection): void {
    if (endpoint !== undefined) this.#options.health.onConnected(endpoint)
  }

  onDisconnected(connection: Connection): void {
    // A busy one reports it to its request, or reconnects for one that it was just given.
    if (!connection.isBusy) this.#forget(connection)
  }

  #choose(
    { realm, avoid, method }: Pick<Connection, 'realm' | 'avoid' | 'method'>,
    nowMs: number,
  ): Pick<Connection, 'endpoint' | 'probed'> {
    const { addresses, health, clock } = this.#options
    const { set } = addresses
    if (set.size <= 1) return { endpoint: set.members[0], probed: undefined }
    const shares = health.sharesFor(realm)
    const probed = shares && health.findProbe(set, realm, avoid, isIdempotent(method))
    const endpoint = probed ?? set.choose({ random: clock.random, shares, avoid, nowMs })
    return { endpoint, probed }
  }

  #takeIdle(endpoint: Endpoint, nowMs: number): Connection | undefined {
    const idle = this.#idle.get(endpoint)
    for (let next = idle?.shift(); next !== undefined; next = idle?.shift()) {
      this.#options.idleConnections.delete(next)
      if (nowMs < next.dueMs) return next
      // Not `drop`: without any connection the pool would be removed, but it is about to open one.
      this.#all.delete(next)
      destroyLater(next)
    }
    return undefined
  }

  #open(nowMs: number): Connection {
    const { origin, openClient, connector, keepAliveMs, maxAgeMs, addresses, clock, heardMs } =
      this.#options
    const connection = openConnection(
      {
        origin,
        openClient,
        connector,
        keepAliveMs,
        dueMs: maxAgeMs === 0 ? Infinity : nowMs + maxAgeMs * (1 - EARLIER * clock.random()),
        whenKnown: addresses.whenKnown,
        heardMs,
      },
      this,
    )
    this.#all.add(connection)
    return connection
  }

  #isBad({ badResponses, hasServed }: Connection): boolean {
    // Others work: one that never did gets no two further requests.
    const isWorse = !hasServed && badResponses > 0 && this.#badResponses === BAD_RESPONSES
    if (!isWorse && badResponses < this.#badResponses) return false
    this.#badResponses = Math.min(2 * this.#badResponses, MOST_BAD_RESPONSES)
    return true
  }

  #leave(connection: Connection): void {
    connection.isBusy = false
    this.#discount(connection)
    this.#endProbe(connection)
  }

  #endProbe(connection: Connection): void {
    const { probed, realm } = connection
    if (probed !== undefined) this.#options.health.endProbe(probed, realm)
    connection.probed = undefined
  }

  #discount(connection: Connection): void {
    if (connection.isCounted && connection.endpoint !== undefined) connection.endpoint.outstanding--
    connection.isCounted = false
  }

  #forget(connection: Connection): void {
    const { endpoint } = connection
    const idle = endpoint && this.#idle.get(endpoint)
    const at = idle?.lastIndexOf(connection) ?? -1
    if (at >= 0) idle?.splice(at, 1)
    this.#options.idleConnections.delete(connection)
    if (!this.#all.delete(connection) || this.#all.size > 0) return
    this.#idle.clear()
    this.#options.onEmpty()
  }
}

const destroyLater = (connection: Connection): void => {
  // The client may be in the middle of its own bookkeeping.
  queueMicrotask(() => {
    destroyConnection(connection)
  })
}
