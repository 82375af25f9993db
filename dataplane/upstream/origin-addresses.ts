// Knows the addresses of one origin: a name is looked up when the first connection is opened and again in the
// background while it is used, so that requests wait for no lookup but the first. A literal is what it says.

import { ADDRCONFIG } from 'node:dns'
import { isIP } from 'node:net'
import type { Destination, FindAllowed } from './allowed-addresses.ts'
import { EndpointSet } from './endpoint-set.ts'

export interface AddressesOptions {
  readonly to: Destination
  readonly find: FindAllowed
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** How many addresses may be kept at present. */
  readonly most: () => number
  /** The set has changed. */
  readonly onChange: () => void
}

export interface OriginAddresses {
  readonly set: EndpointSet
  readonly isLiteral: boolean
  /** Looks them up anew in the background where they are old. To be called with each request. */
  readonly touch: (nowMs: number) => void
  /** No address answers: they may have changed. */
  readonly hurry: () => void
  /** Never calls back at once. No error: the set has a member. */
  readonly whenKnown: (callback: (error: Error | null) => void) => void
}

/**
 * What a name stands for is asked for so often. The system's resolver knows how long an answer holds, and asks a server
 * only then.
 */
const REFRESH_MS = 10_000
const HURRIED_MS = 1000
/** What is older was not in use: it is looked up anew before it is, but not for long. */
const FRESH_MS = 30_000
const LOOKUP_MS = 250
/** Without an answer; what is known is used meanwhile. */
const STALE_MS = 60_000
/** A lookup that is not answered for so long is not waited for. */
const LOST_MS = 30_000
/** All but the newest have been given up by whoever connected. */
const MOST_WAITING = 5000

export const createOriginAddresses = (options: AddressesOptions): OriginAddresses => {
  const { to, find, now } = options
  const set = new EndpointSet()
  const isLiteral = isIP(to.hostname) !== 0
  let waiting: Waiter[] = []
  /** Of the last good answer. */
  let answeredMs = -Infinity
  let askedMs = -Infinity
  let asking = 0
  let asked = 0

  const take = (error: Error | null, found: Parameters<EndpointSet['update']>[0] | null): void => {
    if (found !== null) {
      answeredMs = now()
      set.update(found, now(), options.most())
    } else if (isDenial(error) || now() - answeredMs > STALE_MS) set.clear()
    options.onChange()
    const told = waiting
    waiting = []
    for (const waiter of told) tell(waiter, set.size > 0 ? null : error)
  }

  const ask = (): void => {
    askedMs = now()
    const id = ++asked
    asking = id
    find(to, { all: true, hints: ADDRCONFIG }, (error, found) => {
      // A later one has taken its place.
      if (asking !== id) return
      asking = 0
      take(error, found)
    })
  }

  const askUnlessAsking = (): void => {
    if (asking === 0 || now() - askedMs >= LOST_MS) ask()
  }

  if (isLiteral) set.update([{ address: to.hostname, family: isIP(to.hostname) }], now(), 1)

  return {
    set,
    isLiteral,
    touch(nowMs) {
      if (!isLiteral && set.size > 0 && nowMs - askedMs >= REFRESH_MS) askUnlessAsking()
    },
    hurry() {
      if (!isLiteral && now() - askedMs >= HURRIED_MS) askUnlessAsking()
    },
    whenKnown(callback) {
      const isKnown = set.size > 0
      if (isLiteral || (isKnown && now() - answeredMs < FRESH_MS)) {
        process.nextTick(callback, null)
        return
      }
      const waiter: Waiter = { callback, timer: undefined }
      // A slow lookup holds up nobody who can do without.
      if (isKnown) waiter.timer = setTimeout(tell, LOOKUP_MS, waiter, null).unref()
      waiting.push(waiter)
      if (waiting.length > MOST_WAITING) tell(waiting.shift(), GIVEN_UP)
      askUnlessAsking()
    },
  }
}

interface Waiter {
  /** undefined: it was told. */
  callback: ((error: Error | null) => void) | undefined
  timer: NodeJS.Timeout | undefined
}

const tell = (waiter: Waiter | undefined, error: Error | null): void => {
  const callback = waiter?.callback
  if (waiter === undefined || callback === undefined) return
  waiter.callback = undefined
  clearTimeout(waiter.timer)
  process.nextTick(callback, error)
}

const isDenial = (error: Error | null): boolean => error?.name === 'DestinationDenied'

const GIVEN_UP = new Error('too many connections wait for this name')
