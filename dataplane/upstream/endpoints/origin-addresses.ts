// Tracks the addresses of one origin: a name is looked up when the first connection is opened and again in the
// background while it is used, so that requests wait only for the first lookup. A literal is its own address. If the
// name is a Service that the operator has reported, and resolves to that Service's own address, its Pods are used
// instead.

import { ADDRCONFIG } from 'node:dns'
import { isIP } from 'node:net'
import type { GoneCause, ServiceEndpoints } from '../../../language/wire/wire.ts'
import { DestinationError } from '../../destination-error.ts'
import type { Destination, FindAllowed } from '../destinations/allowed-addresses.ts'
import { type Address, Endpoint, EndpointSet } from './endpoint-set.ts'
import { type EndpointList, type ListedEndpoints, plainAddress } from './listed-endpoints.ts'

export interface AddressesOptions {
  readonly to: Destination
  readonly find: FindAllowed
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** How many addresses may currently be kept: of a lookup, or of a list of the operator. */
  readonly most: (of: 'lookup' | 'list') => number
  /** What the operator reports of it; if left out, nothing. */
  readonly listed?: ListedEndpoints | undefined
  /** Called when the set has changed. */
  readonly onChange: () => void
}

export interface GoneService {
  readonly cause: GoneCause
  /** Another object once the operator has reported something else. */
  readonly reported: ServiceEndpoints
}

/**
 * The interval of lookups. The system's resolver knows how long a result is valid, and asks a server only then.
 */
const REFRESH_MS = 10_000
const HURRIED_MS = 1000
/** Older addresses were not in use: they are looked up again before their next use, but not waited for long. */
const FRESH_MS = 30_000
const LOOKUP_MS = 250
/** The age up to which known addresses are used while lookups fail. */
const STALE_MS = 60_000
/** A lookup without a result after this time is no longer waited for. */
const LOST_MS = 30_000
/** The callers of all but the newest have given up. */
const MOST_WAITING = 5000
/**
 * How long the Service's own address is used after no Pod of a list has responded, unless the operator reports
 * others.
 */
const DOUBTED_MS = 10_000

export class OriginAddresses {
  readonly set = new EndpointSet()
  readonly isLiteral: boolean
  /** The operator says that nothing is behind them. */
  gone: GoneService | undefined
  readonly #options: AddressesOptions
  #waiting: Waiter[] = []
  /** The last good result, and its time. */
  #found: readonly Address[] = []
  #answeredMs = -Infinity
  #lookedUpMs = -Infinity
  #asking = 0
  #lookups = 0
  #list: EndpointList | undefined
  #seenVersion = -1
  #isListUsed = false
  #invalidUntilMs = -Infinity
  /** Endpoints of the list that have not responded since they failed. */
  readonly #failed = new Set<Endpoint>()

  constructor(options: AddressesOptions) {
    const { to, now } = options
    const family = isIP(to.hostname)
    this.#options = options
    this.isLiteral = family !== 0
    if (this.isLiteral) this.set.update([{ address: to.hostname, family }], now(), 1)
  }

  /** Looks them up again in the background if they are old. Call it with each request. */
  readonly touch = (nowMs: number): void => {
    this.#followList(nowMs)
    const isOld = nowMs - this.#lookedUpMs >= REFRESH_MS
    if (!this.isLiteral && this.set.size > 0 && isOld) this.#askUnlessAsking()
  }

  /** Call it when this one does not respond: they may have changed. */
  readonly invalidate = (endpoint: Endpoint): void => {
    const nowMs = this.#options.now()
    if (!this.isLiteral && nowMs - this.#lookedUpMs >= HURRIED_MS) this.#askUnlessAsking()
    if (!this.#isListUsed || !this.set.members.includes(endpoint)) return
    this.#failed.add(endpoint)
    if (this.#failed.size < this.set.size) return
    this.#invalidUntilMs = nowMs + DOUBTED_MS
    this.#settle(false)
  }

  /** Call it when this one responds. */
  readonly trust = (endpoint: Endpoint): void => {
    if (this.#failed.size > 0) this.#failed.delete(endpoint)
  }

  /** If none of a Service's Pods responds: its own addresses, for one request each. Empty if there is no list. */
  readonly lastResort = (): readonly Endpoint[] => {
    if (!this.#isListUsed) return []
    return this.#found.map((each) => {
      const endpoint = new Endpoint(each, this.#options.now(), -Infinity)
      // A connection to it is closed after its request.
      endpoint.isKnown = false
      return endpoint
    })
  }

  /** Never calls back synchronously. Without an error the set has a member. */
  readonly whenKnown = (callback: (error: Error | null) => void): void => {
    const isKnown = this.set.size > 0
    const isFresh = isKnown && this.#options.now() - this.#answeredMs < FRESH_MS
    if (this.isLiteral || isFresh) {
      process.nextTick(callback, null)
      return
    }
    const waiter: Waiter = { callback, timer: undefined }
    // A slow lookup does not delay requests that can use known addresses.
    if (isKnown) waiter.timer = setTimeout(settle, LOOKUP_MS, waiter, null).unref()
    this.#waiting.push(waiter)
    if (this.#waiting.length > MOST_WAITING) settle(this.#waiting.shift(), GIVEN_UP)
    this.#askUnlessAsking()
  }

  #askUnlessAsking(): void {
    const { now } = this.#options
    if (this.#asking !== 0 && now() - this.#lookedUpMs < LOST_MS) return
    this.#lookedUpMs = now()
    const id = ++this.#lookups
    this.#asking = id
    this.#options.find(this.#options.to, { all: true, hints: ADDRCONFIG }, (error, found) => {
      // A later lookup has replaced it.
      if (this.#asking !== id) return
      this.#asking = 0
      this.#take(error, found)
    })
  }

  #take(error: Error | null, found: readonly Address[] | null): void {
    const nowMs = this.#options.now()
    const isStale = nowMs - this.#answeredMs > STALE_MS && !this.#isListUsed
    if (found !== null) {
      this.#answeredMs = nowMs
      this.#found = found
    } else if (isDenial(error) || isStale) this.#found = []
    // The guard's rules may have changed.
    this.#list = this.#options.listed?.validate()
    this.#settle(found !== null)
    const waiting = this.#waiting
    this.#waiting = []
    for (const waiter of waiting) settle(waiter, this.set.size > 0 ? null : error)
  }

  #followList(nowMs: number): void {
    const { listed } = this.#options
    if (listed === undefined) return
    const isLookupDue = nowMs >= this.#invalidUntilMs && this.#invalidUntilMs !== -Infinity
    if (listed.version === this.#seenVersion && !isLookupDue) return
    this.#seenVersion = listed.version
    const isNews = listed.reported !== this.#list?.reported
    if (!isNews && !isLookupDue) return
    this.#invalidUntilMs = -Infinity
    this.#list = listed.validate()
    this.#settle(false)
  }

  /** Updates the members to what is known now. @param isFound a lookup has given addresses */
  #settle(isFound: boolean): void {
    const { now, most, onChange } = this.#options
    const wasListUsed = this.#isListUsed
    const list = this.#goodList()
    this.#isListUsed = list !== undefined
    this.gone = this.#goneService()
    if (list !== undefined) this.set.replace(list, now(), most('list'))
    else if (this.#found.length === 0) this.set.clear()
    else if (wasListUsed) this.set.replace(this.#found, now(), most('lookup'))
    else if (isFound) this.set.update(this.#found, now(), most('lookup'))
    for (const each of this.#failed) if (!each.isKnown) this.#failed.delete(each)
    onChange()
  }

  /** The list, if the name resolves to the Service here: elsewhere the same name may be another host. */
  #goodList(): readonly Address[] | undefined {
    const { endpoints = [] } = this.#list ?? {}
    const isInvalidated = this.#options.now() < this.#invalidUntilMs
    return endpoints.length > 0 && this.#isMeant() && !isInvalidated ? endpoints : undefined
  }

  #goneService(): GoneService | undefined {
    const { gone: cause, reported } = this.#list ?? {}
    const isGone = cause !== undefined && reported !== undefined && this.#isMeant()
    return isGone ? { cause, reported } : undefined
  }

  #isMeant(): boolean {
    const { serviceAddresses } = this.#list ?? {}
    return (
      this.#found.length > 0 &&
      this.#found.every(({ address }) => serviceAddresses?.has(plainAddress(address)) === true)
    )
  }
}

interface Waiter {
  /** undefined: it was called already. */
  callback: ((error: Error | null) => void) | undefined
  timer: NodeJS.Timeout | undefined
}

const settle = (waiter: Waiter | undefined, error: Error | null): void => {
  const callback = waiter?.callback
  if (waiter === undefined || callback === undefined) return
  waiter.callback = undefined
  clearTimeout(waiter.timer)
  process.nextTick(callback, error)
}

const isDenial = (error: Error | null): boolean => error instanceof DestinationError

const GIVEN_UP = new Error('too many connections wait for this name')
