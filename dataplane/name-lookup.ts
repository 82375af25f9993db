// Looks up the addresses of routers, upstreams and identity providers. A name whose servers do not respond occupies
// one of the two threads that a process has for lookups, for 10 to 20 s; without the bounds here three requests to
// one such name would block all other names of the process.

import { ADDRCONFIG, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { BoundedMap } from '../base/bounded-map.ts'

type Addresses = readonly { readonly address: string; readonly family: number }[]
type OnResult = (error: NodeJS.ErrnoException | null, addresses: Addresses) => void

/** `dns.lookup`, or a stand-in. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true; readonly family?: number; readonly hints?: number },
  callback: OnResult,
) => void

/** As many lookups as libuv runs at once: half of its four threads. */
const AT_ONCE = 2
/** The other thread is left to names that resolve quickly. */
const SLOW_AT_ONCE = 1
/**
 * How long a slow result is cached: otherwise a connection attempt would time out before its name is known, each
 * time.
 */
const KEPT_MS = 10_000
const SLOW_MS = 1000
const MOST_SLOW = 1000
/** For one name; the callers of all but the newest have given up. */
const MOST_WAITING = 5000
const MOST_NAMES = 10_000

interface Slow {
  readonly atMs: number
  /** Empty: the lookup failed. */
  readonly addresses: Addresses
}

/**
 * Resolves to all addresses of the families that this machine has, whatever the options say. Calls for a name that is
 * being looked up share its result. Names that were slow the last time come last, and one at a time. It never calls
 * back synchronously.
 *
 * @param now milliseconds, monotonic
 * @example const names = createNameLookup()
 */
export const createNameLookup = (
  resolve: Resolve = lookup,
  now: () => number = () => performance.now(),
): Resolve => {
  /** In the order of the calls; without those that are being looked up. */
  const waiting = new Map<string, OnResult[]>()
  const lookedUp = new Map<string, OnResult[]>()
  /** The names whose look-up takes long. */
  const slow = new BoundedMap<string, Slow>(MOST_SLOW)
  let slowLookedUp = 0

  const nextName = (): string | undefined => {
    if (lookedUp.size >= AT_ONCE) return undefined
    for (const name of waiting.keys()) if (!slow.has(name)) return name
    const [first] = waiting.keys()
    return slowLookedUp < SLOW_AT_ONCE ? first : undefined
  }

  const next = (): void => {
    const name = nextName()
    const callbacks = name === undefined ? undefined : waiting.get(name)
    if (name === undefined || callbacks === undefined) return
    waiting.delete(name)
    lookedUp.set(name, callbacks)
    const wasSlow = slow.has(name)
    if (wasSlow) slowLookedUp++
    const startedMs = now()
    resolve(name, { all: true, hints: ADDRCONFIG }, (error, found) => {
      if (wasSlow) slowLookedUp--
      lookedUp.delete(name)
      const addresses = error === null ? found : []
      slow.delete(name)
      if (now() - startedMs >= SLOW_MS) slow.set(name, { atMs: now(), addresses })
      next()
      for (const callback of callbacks) callback(error, addresses)
    })
  }

  return (name, _options, callback) => {
    const known = slow.get(name)
    if (known !== undefined && known.addresses.length > 0 && now() - known.atMs < KEPT_MS) {
      process.nextTick(callback, null, known.addresses)
      return
    }
    const others = lookedUp.get(name) ?? waiting.get(name)
    if (others !== undefined) {
      if (others.push(callback) > MOST_WAITING) others.shift()?.(GIVEN_UP, [])
      return
    }
    if (waiting.size >= MOST_NAMES) {
      process.nextTick(callback, TOO_MANY, [])
      return
    }
    waiting.set(name, [callback])
    next()
  }
}

/** For callers that have given up. */
const GIVEN_UP = new Error('too many connections wait for this name')

const TOO_MANY = new Error('too many names wait to be looked up')

const NO_ADDRESS = new Error('this name has no address')

/** In the form that sockets take. */
export const socketLookup =
  (resolve: Resolve): LookupFunction =>
  (name, { all }, callback) => {
    resolve(name, { all: true }, (error, addresses) => {
      const [first] = addresses
      if (error !== null || first === undefined) callback(error ?? NO_ADDRESS, '')
      else if (all === true) callback(null, [...addresses])
      else callback(null, first.address, first.family)
    })
  }
