// Tracks the health of an origin's addresses from the results of requests, and reduces their shares of the traffic.
// Failed connections count for all users of the origin; responses that indicate a fault count only for the realm that
// got them, so that no tenant can eject an address for others. It holds no connections.

import type { GoneCause } from '../../../language/wire/wire.ts'
import type { Endpoint, EndpointSet, ShareOf } from './endpoint-set.ts'
import {
  type Ejection,
  OutlierDetector,
  type EjectionCounter,
  type EjectionChange,
} from './outlier-detector.ts'

/** Faults that concern all users of an origin. */
export type SharedFailure = 'refused' | 'unreachable' | 'connect_timeout' | 'tls' | 'reset'
/** Faults that concern the realm whose request it was. */
export type RealmFailure = 'status' | 'timeout' | 'malformed'

export interface HealthEvent {
  readonly origin: string
  /** With its port if that is not the origin's. */
  readonly address: string
  /** undefined: for all users of the origin. */
  readonly realm: string | undefined
  readonly change: EjectionChange
  readonly fault: SharedFailure | RealmFailure | GoneCause | undefined
}

export interface RequestReport {
  readonly endpoint: Endpoint
  readonly realm: string | undefined
  /** undefined: a response that does not indicate a fault. */
  readonly fault: SharedFailure | RealmFailure | undefined
  /** How long a failure to connect took; see `RequestResult`. */
  readonly waitedMs?: number | undefined
  /** `ejections.count` when the request was given its address. */
  readonly begunAt: number
}

export interface HealthOptions {
  readonly now: () => number
  readonly onEvent: (event: HealthEvent) => void
}

export type EndpointState = 'healthy' | 'ejected' | 'ejected_for_realms'

/** The bound for all origins together; each has a bounded number of addresses. */
const MOST_REALM_DETECTORS = 500

/** The faults that count for all users of an origin. */
export const SHARED_FAILURES = {
  refused: true,
  unreachable: true,
  connect_timeout: true,
  tls: true,
  reset: true,
  status: false,
  timeout: false,
  malformed: false,
} as const satisfies Record<SharedFailure | RealmFailure, boolean>

/** One per process. */
export class HealthRegistry {
  readonly now: () => number
  readonly onEvent: (event: HealthEvent) => void
  readonly ejectionCounter: EjectionCounter = { count: 0 }
  readonly #origins = new Map<string, OriginHealth>()
  /** The origins that have a detector, by its realm; the oldest first. */
  readonly #realms = new Map<string, Set<OriginHealth>>()
  #detectors = 0

  constructor({ now, onEvent }: HealthOptions) {
    this.now = now
    this.onEvent = onEvent
  }

  /**
   * Call `release` when it is no longer used.
   * @param tlsId of a client certificate: a realm with a wrong one must not eject addresses for others
   */
  acquire(origin: string, tlsId?: string): OriginHealth {
    const key = tlsId === undefined ? origin : `${origin} ${tlsId}`
    const health = this.#origins.get(key) ?? new OriginHealth(origin, this, key)
    this.#origins.set(key, health)
    health.users++
    return health
  }

  release(health: OriginHealth): void {
    if (--health.users > 0) return
    this.#origins.delete(health.key)
    for (const realm of health.realms.keys()) this.dropDetector(health, realm)
  }

  /** How many detectors of realms there are, for all origins. */
  get size(): number {
    return this.#detectors
  }

  /** If there are too many, the realm that has most loses its oldest. */
  addDetector(health: OriginHealth, realm: string): OutlierDetector {
    if (this.#detectors >= MOST_REALM_DETECTORS / 2) this.#dropForgettable()
    if (this.#detectors >= MOST_REALM_DETECTORS) this.#dropOfLargest()
    const detector = new OutlierDetector(this)
    const origins = this.#realms.get(realm) ?? new Set()
    this.#realms.set(realm, origins.add(health))
    health.realms.set(realm, detector)
    this.#detectors++
    return detector
  }

  dropDetector(health: OriginHealth, realm: string): void {
    if (!health.realms.delete(realm)) return
    this.#detectors--
    const origins = this.#realms.get(realm)
    origins?.delete(health)
    if (origins?.size === 0) this.#realms.delete(realm)
  }

  #dropForgettable(): void {
    for (const health of this.#origins.values())
      for (const [realm, detector] of health.realms)
        if (detector.isForgettable) this.dropDetector(health, realm)
  }

  #dropOfLargest(): void {
    let largest: readonly [string, Set<OriginHealth>] | undefined
    for (const each of this.#realms) if (each[1].size > (largest?.[1].size ?? 0)) largest = each
    const [oldest] = largest?.[1] ?? []
    if (largest !== undefined && oldest !== undefined) this.dropDetector(oldest, largest[0])
  }
}

export class OriginHealth {
  readonly origin: string
  /** In the registry. */
  readonly key: string
  /** The number of pools that use it. */
  users = 0
  readonly realms = new Map<string, OutlierDetector>()
  readonly #registry: HealthRegistry
  /** Created at the first fault. */
  #shared: OutlierDetector | undefined

  constructor(origin: string, registry: HealthRegistry, key: string) {
    this.origin = origin
    this.key = key
    this.#registry = registry
  }

  /** No address of it has failed. */
  get isBlank(): boolean {
    return this.#shared === undefined && this.realms.size === 0
  }

  /** For `Choice.shares`; undefined: all addresses have their full share for this realm. */
  sharesFor(realm: string | undefined): readonly ShareOf[] | undefined {
    const shared = this.#shared?.isTroubled === true ? this.#shared : undefined
    const detector = this.#detectorOf(realm)
    const own = detector?.isTroubled === true ? detector : undefined
    if (shared === undefined && own === undefined) return undefined
    const shareOfShared: ShareOf = ({ key }) => shared?.shareOf(key) ?? 1
    const shareOfOwn: ShareOf = ({ key }) => own?.shareOf(key) ?? 1
    const shareOfReachable: ShareOf = ({ key }) => (shared?.isUnreachable(key, 0) === true ? 0 : 1)
    return [
      (each) => Math.min(shareOfShared(each), shareOfOwn(each)),
      shareOfShared,
      shareOfReachable,
    ]
  }

  /** Whether a request that would wait so long must not try to connect to it. */
  isUnreachable({ key }: Endpoint, connectTimeoutMs: number): boolean {
    return this.#shared?.isUnreachable(key, connectTimeoutMs) === true
  }

  /** Call it when the operator says that nothing is behind it. */
  withdraw({ key }: Endpoint, fault: GoneCause): void {
    this.#shared ??= new OutlierDetector(this.#registry)
    this.#notify(key, this.#shared.withdraw(key, fault), { fault })
  }

  /** Call it when the operator does not say that any more. */
  restore({ key }: Endpoint): void {
    this.#notify(key, this.#shared?.restore(key), {})
  }

  /** Finds the address that a request should try where none can be reached. */
  findLastProbe(endpoints: readonly Endpoint[]): Endpoint | undefined {
    let next: { readonly endpoint: Endpoint; readonly dueMs: number } | undefined
    for (const endpoint of endpoints) {
      const dueMs = this.#shared?.dueAlone(endpoint.key) ?? -Infinity
      if (next === undefined || dueMs < next.dueMs) next = { endpoint, dueMs }
    }
    if (next === undefined || next.dueMs > this.#registry.now()) return undefined
    this.#shared?.beginProbe(next.endpoint.key)
    return next.endpoint
  }

  /** Call it when the request that tried the address is over. */
  endProbe({ key }: Endpoint, realm: string | undefined): void {
    this.#shared?.endProbe(key)
    this.#detectorOf(realm)?.endProbe(key)
  }

  /** Call it for a new connection that requests can use. */
  onConnected({ key }: Endpoint): void {
    this.#notify(key, this.#shared?.onConnected(key), {})
  }

  /** An ejected address that this request should try. */
  findProbe(
    set: EndpointSet,
    realm: string | undefined,
    avoid: Endpoint | undefined,
    isRepeatable: boolean,
  ): Endpoint | undefined {
    const own = this.#detectorOf(realm)
    for (const endpoint of set.members) {
      if (endpoint === avoid) continue
      const due = [this.#shared, own].filter(
        (each) => each?.isDue(endpoint.key, isRepeatable) === true,
      )
      // Ejected by one and not due for the other: not usable.
      const isOut = [this.#shared, own].some(
        (each) => each !== undefined && !due.includes(each) && each.shareOf(endpoint.key) === 0,
      )
      if (due.length === 0 || isOut) continue
      for (const each of due) each?.beginProbe(endpoint.key)
      return endpoint
    }
    return undefined
  }

  report(result: RequestReport, set: EndpointSet): void {
    const { fault } = result
    const isShared = fault !== undefined && SHARED_FAILURES[fault]
    if (isShared) this.#shared ??= new OutlierDetector(this.#registry)
    if (this.#shared !== undefined)
      this.#reportTo(this.#shared, { ...result, realm: undefined }, set)
    if (isShared || result.realm === undefined) return
    const known = this.realms.get(result.realm)
    if (known === undefined && fault === undefined) return
    this.#reportTo(known ?? this.#registry.addDetector(this, result.realm), result, set)
  }

  /** Call it when the addresses of the origin have changed. */
  matchEndpoints(set: EndpointSet): void {
    this.#shared?.matchEndpoints(set)
    for (const detector of this.realms.values()) detector.matchEndpoints(set)
  }

  /** Ejections for all requests first, then for realms. */
  ejectionsOf({ key }: Endpoint): readonly (Ejection & { readonly realm: string | undefined })[] {
    const detectors = [[undefined, this.#shared] as const, ...this.realms]
    return detectors.flatMap(([realm, detector]) => {
      const ejection = detector?.ejectionOf(key)
      return ejection === undefined ? [] : [{ ...ejection, realm }]
    })
  }

  /** The share for all requests, ignoring ejections for single realms. */
  sharedShareOf({ key }: Endpoint): number {
    return this.#shared?.shareOf(key) ?? 1
  }

  stateOf({ key }: Endpoint): EndpointState {
    if (this.#shared?.shareOf(key) === 0) return 'ejected'
    for (const detector of this.realms.values())
      if (detector.shareOf(key) === 0) return 'ejected_for_realms'
    return 'healthy'
  }

  #detectorOf(realm: string | undefined): OutlierDetector | undefined {
    return realm === undefined || this.realms.size === 0 ? undefined : this.realms.get(realm)
  }

  #reportTo(detector: OutlierDetector, report: RequestReport, set: EndpointSet): void {
    const { endpoint, realm, fault, begunAt, waitedMs } = report
    const address = endpoint.key
    const isFailure = fault !== undefined && SHARED_FAILURES[fault] === (realm === undefined)
    const change = detector.report({ address, isFailure, begunAt, fault, waitedMs }, set)
    this.#notify(address, change, { realm, fault })
  }

  #notify(
    address: string,
    change: EjectionChange | undefined,
    { realm, fault }: Partial<Pick<HealthEvent, 'realm' | 'fault'>>,
  ): void {
    if (change !== undefined)
      this.#registry.onEvent({ origin: this.origin, address, realm, change, fault })
  }
}
