// Decides from the results of requests which addresses get none for a while (passive health checks). It knows
// addresses as texts only, and depends only on the clock that is passed in.

/** The current addresses of an origin. */
export interface Members {
  readonly size: number
  has(address: string): boolean
}

export interface DetectorOptions {
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /**
   * Grows with each ejection and readmission in the process: a request that began before one says nothing about the
   * time after it.
   */
  readonly ejectionCounter: EjectionCounter
}

export interface EjectionCounter {
  count: number
}

export interface RequestResult {
  readonly address: string
  readonly isFailure: boolean
  /** Shown as the reason of an ejection. */
  readonly fault?: string | undefined
  /** For a failure to connect: how long the request would have waited; Infinity: waiting longer would not have helped. */
  readonly waitedMs?: number | undefined
  /** The count of `ejectionCounter` when the request was given its address. */
  readonly begunAt: number
}

export type EjectionCause = 'in a row' | 'rate' | 'probe' | 'reported'

export type EjectionChange =
  | { readonly kind: 'ejected'; readonly forMs: number; readonly why: EjectionCause }
  | { readonly kind: 'readmitted' }

/** Why an address gets no requests. */
export interface Ejection {
  /** When a request will try it again. */
  readonly untilMs: number
  readonly why: EjectionCause
  /** The fault of the last failure. */
  readonly fault: string | undefined
}

const FAILURES_IN_A_ROW = 5
const EJECTED_MS = 10_000
const LONGEST_EJECTED_MS = 300_000
/** While no other address can be reached, an address is tried again after this time, doubled each time. */
const ALONE_MS = 1000
const LONGEST_ALONE_MS = 10_000
/** One behind which nothing is, as the operator says, is tried more rarely. */
const LONGEST_WITHDRAWN_MS = 60_000
/** After so many times it waits for the longest time. */
const LOGGED_ALONE = 5
const MOST_DOUBLINGS = 5
const TIMES_THE_OTHERS = 3
/** Below this rate, three times the rate of the others is chance. */
const LEAST_RATE = 0.15
const LEAST_REQUESTS = 20
/** Two windows are counted. */
const WINDOW_MS = 5000
const WARM_MS = 10_000
const LEAST_SHARE = 0.1
const PROBE_MS = 10_000
/** A request that must not be repeated tries an address only if no other request came for this long. */
const UNREPEATABLE_MS = 10_000
const REMEMBERED_MS = 60_000
/** The bound of one origin; the set of its addresses is bounded, but they change. */
const MOST_ADDRESSES = 512

interface Health {
  failuresInRow: number
  /** The operator says that nothing is behind it. */
  isWithdrawn: boolean
  /** How long the attempts to connect since the last connection waited in vain: the longest five, longest first. */
  waits: readonly number[]
  /** Counts of this window and the one before. */
  counts: readonly [Counts, Counts]
  outUntilMs: number
  ejectedMs: number
  why: EjectionCause
  fault: string | undefined
  /** The number of ejections without five good minutes between. */
  ejections: number
  readmittedMs: number
  changedAt: number
  probedMs: number
}

interface Counts {
  requests: number
  failures: number
}

/**
 * @example
 * const detector = new OutlierDetector({ now: () => performance.now(), ejectionCounter: { count: 0 } })
 * detector.report({ address: '10.0.0.1', isFailure: true, begunAt: 0 }, new Set(['10.0.0.1', '10.0.0.2']))
 */
export class OutlierDetector {
  readonly #now: () => number
  readonly #ejections: EjectionCounter
  readonly #known = new Map<string, Health>()
  /** The ejected ones among the known addresses. */
  readonly #out = new Set<string>()
  #warmUntilMs = -Infinity
  #windowSinceMs: number
  #lastFailureMs: number

  constructor({ now, ejectionCounter }: DetectorOptions) {
    this.#now = now
    this.#ejections = ejectionCounter
    this.#windowSinceMs = now()
    this.#lastFailureMs = now()
  }

  /** Whether an address is ejected, or was readmitted so recently that it does not have its full share yet. */
  get isTroubled(): boolean {
    return this.#out.size > 0 || (this.#warmUntilMs > 0 && this.#now() < this.#warmUntilMs)
  }

  /** Whether it may be dropped: no address is ejected, and none has failed for a minute. */
  get isForgettable(): boolean {
    return this.#out.size === 0 && this.#now() - this.#lastFailureMs > REMEMBERED_MS
  }

  /** 0: ejected. 1: a full share; less for some seconds after the readmission. */
  shareOf(address: string): number {
    if (this.#out.has(address)) return 0
    const health = this.#known.get(address)
    return health === undefined ? 1 : shareAfter(this.#now() - health.readmittedMs)
  }

  /** undefined: it is not ejected. */
  ejectionOf(address: string): Ejection | undefined {
    const health = this.#out.has(address) ? this.#known.get(address) : undefined
    if (health === undefined) return undefined
    const { outUntilMs: untilMs, why, fault } = health
    return { untilMs, why, fault }
  }

  /**
   * Whether no connection to it may be tried: it was ejected, and since the last connection five attempts have failed
   * that would have waited at least as long. A document with a short `connect_timeout` proves nothing to others.
   */
  isUnreachable(address: string, connectTimeoutMs: number): boolean {
    const health = this.#out.has(address) ? this.#known.get(address) : undefined
    const patienceMs = health === undefined ? 0 : patienceOf(health)
    return patienceMs > 0 && connectTimeoutMs <= patienceMs
  }

  /**
   * Whether it was ejected for long enough, and no other request is trying it.
   * @param isRepeatable of the request that would try it
   */
  isDue(address: string, isRepeatable: boolean): boolean {
    const health = this.#out.has(address) ? this.#known.get(address) : undefined
    if (health === undefined) return false
    const waitMs = isRepeatable ? 0 : UNREPEATABLE_MS
    if (this.#now() < health.outUntilMs + waitMs) return false
    return this.#now() - health.probedMs >= PROBE_MS
  }

  /**
   * Takes an address out of use because of what the operator says. Should that be wrong by now, as the operator may be
   * away, a request that tries it finds out.
   */
  withdraw(address: string, fault: string): EjectionChange | undefined {
    const health = this.#healthOf(address)
    if (health.isWithdrawn) return undefined
    health.isWithdrawn = true
    health.fault = fault
    health.ejections = 0
    return this.#eject(address, health, 'reported', new Set())
  }

  /** The operator does not say that any more. */
  restore(address: string): EjectionChange | undefined {
    const health = this.#known.get(address)
    if (health?.isWithdrawn !== true) return undefined
    health.isWithdrawn = false
    return this.#out.has(address) ? this.#readmit(address, health) : undefined
  }

  /** When a request may try it although it is ejected, as no other address can be reached. */
  dueAlone(address: string): number {
    const health = this.#out.has(address) ? this.#known.get(address) : undefined
    if (health === undefined) return -Infinity
    // A document may wait for its connection for as long as it likes, but not in the way of all others.
    return health.probedMs === -Infinity
      ? health.ejectedMs + aloneMs(health)
      : health.probedMs + PROBE_MS
  }

  /** The next result decides; without one within ten seconds another request may try. */
  beginProbe(address: string): void {
    const health = this.#known.get(address)
    if (health !== undefined) health.probedMs = this.#now()
  }

  /** Call it when the request that tried it is over, with or without a result. */
  endProbe(address: string): void {
    const health = this.#known.get(address)
    if (health !== undefined) health.probedMs = -Infinity
  }

  /** Call it for a new connection that requests can use. */
  onConnected(address: string): EjectionChange | undefined {
    const health = this.#known.get(address)
    if (health === undefined || (health.waits.length === 0 && !health.isWithdrawn)) return undefined
    const wasUnreachable = patienceOf(health) > 0 && this.#out.has(address)
    health.waits = []
    health.isWithdrawn = false
    return wasUnreachable ? this.#readmit(address, health) : undefined
  }

  report(result: RequestResult, members: Members): EjectionChange | undefined {
    const { address, isFailure, begunAt } = result
    this.#turnWindow()
    if (isFailure) this.#lastFailureMs = this.#now()
    const health = this.#healthOf(address)
    if (begunAt < health.changedAt) return undefined
    if (isFailure) noteFailure(health, result)
    const isOut = this.#out.has(address)
    if (isOut && this.#now() < health.outUntilMs && health.probedMs === -Infinity) return undefined
    if (!isOut) count(health, isFailure)
    if (!isFailure) return isOut ? this.#readmit(address, health) : undefined
    return isOut
      ? this.#eject(address, health, 'probe', members)
      : this.#ejectIfBad(address, health, members)
  }

  #ejectIfBad(address: string, health: Health, members: Members): EjectionChange | undefined {
    // What can't be reached is of no use, however few addresses are left.
    const isUnreachable = patienceOf(health) > 0
    const why = isUnreachable || health.failuresInRow >= FAILURES_IN_A_ROW ? 'in a row' : 'rate'
    const isBad = why === 'in a row' || this.#isOutlier(health)
    if (!isBad || !(isUnreachable || this.#mayEject(members))) return undefined
    return this.#eject(address, health, why, members)
  }

  /** Readmits surplus ejections if the origin has fewer addresses than before. */
  matchEndpoints(members: Members): void {
    let left = Math.floor(members.size / 2)
    const surplus: [string, Health][] = []
    for (const address of this.#out) {
      const health = this.#known.get(address)
      if (!members.has(address) || health === undefined) continue
      if (patienceOf(health) > 0) left--
      else surplus.push([address, health])
    }
    for (const [address, health] of surplus) if (left-- <= 0) this.#readmit(address, health)
  }

  #healthOf(address: string): Health {
    const health = this.#known.get(address)
    if (health !== undefined) return health
    const fresh = freshHealth()
    this.#known.set(address, fresh)
    if (this.#known.size > MOST_ADDRESSES) {
      const [oldest = ''] = this.#known.keys()
      this.#known.delete(oldest)
      this.#out.delete(oldest)
    }
    return fresh
  }

  #turnWindow(): void {
    const ageMs = this.#now() - this.#windowSinceMs
    if (ageMs < WINDOW_MS) return
    this.#windowSinceMs = this.#now()
    for (const health of this.#known.values())
      health.counts = [newCounts(), ageMs < 2 * WINDOW_MS ? health.counts[0] : newCounts()]
  }

  #isOutlier(health: Health): boolean {
    const own = sumOf([health])
    if (own.failures < FAILURES_IN_A_ROW || own.requests < LEAST_REQUESTS) return false
    const all = sumOf(this.#known.values())
    const requests = all.requests - own.requests
    if (requests < LEAST_REQUESTS) return false
    const rate = own.failures / own.requests
    const others = (all.failures - own.failures) / requests
    return rate >= LEAST_RATE && rate >= TIMES_THE_OTHERS * others
  }

  #mayEject(members: Members): boolean {
    return this.#countOut(members) + 1 <= Math.floor(members.size / 2)
  }

  #countOut(members: Members): number {
    let outNow = 0
    for (const address of this.#out) if (members.has(address)) outNow++
    return outNow
  }

  /** @returns undefined: it was tried again in vain, and waits as long as before */
  #eject(
    address: string,
    health: Health,
    why: EjectionCause,
    members: Members,
  ): EjectionChange | undefined {
    const wasGood = why !== 'probe' && this.#now() - health.readmittedMs > LONGEST_EJECTED_MS
    const before = wasGood ? 0 : Math.min(health.ejections, MOST_DOUBLINGS)
    const forMs = Math.min(EJECTED_MS * 2 ** before, LONGEST_EJECTED_MS)
    health.ejections = before + 1
    health.ejectedMs = this.#now()
    health.outUntilMs = this.#now() + forMs
    health.why = why
    this.#restart(health)
    this.#out.add(address)
    if (patienceOf(health) === 0 || this.#countOut(members) < members.size)
      return { kind: 'ejected', forMs, why }
    // Otherwise an upstream that stays away would be logged every ten seconds.
    const isNews = why !== 'probe' || (before < LOGGED_ALONE && !health.isWithdrawn)
    return isNews ? { kind: 'ejected', forMs: aloneMs(health), why } : undefined
  }

  #readmit(address: string, health: Health): EjectionChange {
    health.readmittedMs = this.#now()
    this.#warmUntilMs = this.#now() + WARM_MS
    this.#restart(health)
    this.#out.delete(address)
    return { kind: 'readmitted' }
  }

  #restart(health: Health): void {
    health.failuresInRow = 0
    health.counts = [newCounts(), newCounts()]
    health.probedMs = -Infinity
    health.changedAt = ++this.#ejections.count
  }
}

/** The share of an address this many milliseconds after its readmission: it grows for ten seconds. */
export const shareAfter = (ms: number): number =>
  ms >= WARM_MS ? 1 : LEAST_SHARE + (1 - LEAST_SHARE) * Math.max(0, ms / WARM_MS)

const count = (health: Health, isFailure: boolean): void => {
  health.counts[0].requests++
  if (isFailure) health.counts[0].failures++
  health.failuresInRow = isFailure ? health.failuresInRow + 1 : 0
}

/** The longest `connect_timeout` with which connecting has failed five times running; 0: there is none. */
const patienceOf = ({ waits, isWithdrawn }: Health): number =>
  isWithdrawn ? Infinity : (waits[FAILURES_IN_A_ROW - 1] ?? 0)

const noteFailure = (health: Health, { fault, waitedMs }: RequestResult): void => {
  health.fault = fault
  if (waitedMs === undefined) return
  const waits = [...health.waits, waitedMs].sort((left, right) => right - left)
  health.waits = waits.slice(0, FAILURES_IN_A_ROW)
}

const aloneMs = ({ ejections, isWithdrawn }: Health): number =>
  isWithdrawn
    ? Math.min(EJECTED_MS * 2 ** (ejections - 1), LONGEST_WITHDRAWN_MS)
    : Math.min(ALONE_MS * 2 ** (ejections - 1), LONGEST_ALONE_MS)

const newCounts = (): Counts => ({ requests: 0, failures: 0 })

const freshHealth = (): Health => ({
  failuresInRow: 0,
  isWithdrawn: false,
  waits: [],
  counts: [newCounts(), newCounts()],
  outUntilMs: 0,
  ejectedMs: 0,
  why: 'in a row',
  fault: undefined,
  ejections: 0,
  readmittedMs: -Infinity,
  changedAt: 0,
  probedMs: -Infinity,
})

const sumOf = (healths: Iterable<Health>): Counts => {
  const sum = newCounts()
  for (const { counts } of healths)
    for (const { requests, failures } of counts) {
      sum.requests += requests
      sum.failures += failures
    }
  return sum
}
