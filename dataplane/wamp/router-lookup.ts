// Names of routers in, their addresses out, one name at a time. A name whose servers do not answer keeps one of the
// two threads that a process has for names, for 10 to 20 s; a link dials every few seconds, so without this a
// single such router would take all other names of the process with it, upstreams' too.

import { ADDRCONFIG, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

type Answer = readonly { readonly address: string; readonly family: number }[]
type OnAnswer = (error: NodeJS.ErrnoException | null, addresses: Answer) => void

/** `dns.lookup`, or a stand-in. */
export type ResolveName = (
  hostname: string,
  options: { readonly all: true; readonly hints: number },
  callback: OnAnswer,
) => void

/** What took so long is known for so long: else a dial would give up before its name is known, each time. */
const KEPT_MS = 10_000
const SLOW_MS = 1000
const MOST_SLOW = 1000
/** Of one name; all but the newest have been given up by whoever dialled. */
const MOST_WAITING = 5000

interface Slow {
  readonly atMs: number
  /** None: it failed. */
  readonly addresses: Answer
}

/**
 * Whoever dials while a name is looked up gets that answer. Names that were slow the last time come last.
 *
 * @param now milliseconds, monotonic
 * @example connect({ host, port, lookup: createRouterLookup() })
 */
export const createRouterLookup = (
  resolve: ResolveName = lookup,
  now: () => number = () => performance.now(),
): LookupFunction => {
  /** In the order in which they were asked for; the one that is looked up among them. */
  const waiting = new Map<string, OnAnswer[]>()
  /** By name, those of long ago first. */
  const slow = new Map<string, Slow>()
  let isBusy = false

  const next = (): void => {
    const names = [...waiting.keys()]
    const name = names.find((quick) => !slow.has(quick)) ?? names[0]
    if (isBusy || name === undefined) return
    isBusy = true
    const startedMs = now()
    resolve(name, { all: true, hints: ADDRCONFIG }, (error, found) => {
      isBusy = false
      const addresses = error === null ? found : []
      slow.delete(name)
      if (now() - startedMs >= SLOW_MS) remember(name, { atMs: now(), addresses })
      const told = waiting.get(name) ?? []
      waiting.delete(name)
      next()
      for (const tell of told) tell(error, addresses)
    })
  }

  const remember = (name: string, seen: Slow): void => {
    slow.set(name, seen)
    for (const oldest of slow.size > MOST_SLOW ? slow.keys() : []) {
      slow.delete(oldest)
      return
    }
  }

  const ask = (name: string, onAnswer: OnAnswer): void => {
    const known = slow.get(name)
    if (known !== undefined && known.addresses.length > 0 && now() - known.atMs < KEPT_MS) {
      process.nextTick(onAnswer, null, known.addresses)
      return
    }
    const others = waiting.get(name)
    if (others === undefined) waiting.set(name, [onAnswer])
    else if (others.push(onAnswer) > MOST_WAITING) others.shift()?.(GIVEN_UP, [])
    next()
  }

  return (name, { all }, callback) => {
    ask(name, (error, addresses) => {
      const [first] = addresses
      if (error !== null || first === undefined) callback(error ?? NO_ADDRESS, '')
      else if (all === true) callback(null, [...addresses])
      else callback(null, first.address, first.family)
    })
  }
}

/** Nobody listens to it any more. */
const GIVEN_UP = new Error('too many connections wait for this name')

const NO_ADDRESS = new Error('this name has no address')
