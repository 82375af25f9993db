// Queues password hashes and runs two at once. Addresses take turns, and when too many hashes wait, the newest one of the
// address with most is dropped. Hashes share libuv's few threads with name resolution: eight at once make a lookup wait
// for 0.7 s.

import { BoundedMap } from '../../../base/bounded-map.ts'

export interface HashQueue {
  /**
   * @param from the address of the caller: no address is served more often than another
   * @returns undefined: the task was dropped without being run
   */
  run<T>(task: () => Promise<T>, from: string): Promise<T | undefined>
}

const MAX_AT_ONCE = 2
/** About 1.6 s of work. */
const MAX_WAITING = 64
/** Addresses whose last turn is remembered: several times as many as can wait. */
const MAX_SERVED = 1000

interface Waiting {
  readonly start: () => Promise<unknown>
  readonly drop: () => void
}

export const createHashQueue = (): HashQueue => {
  const queues = createAddressQueues()
  let running = 0

  const next = (): void => {
    while (running < MAX_AT_ONCE) {
      const waiting = queues.takeNext()
      if (waiting === undefined) return
      running++
      void waiting.start().finally(() => {
        running--
        next()
      })
    }
  }

  return {
    run: (task, from) =>
      new Promise((resolve, reject) => {
        queues.add(from, {
          start: () => task().then(resolve, reject),
          drop: () => {
            resolve(undefined)
          },
        })
        next()
        if (queues.count() > MAX_WAITING) queues.takeFromLongest()?.drop()
      }),
  }
}

interface AddressQueues {
  add(from: string, waiting: Waiting): void
  count(): number
  /** The first of the address whose turn it is. */
  takeNext(): Waiting | undefined
  /**
   * The last of the address with most; of several such addresses the one whose turn was last, so that a hundred that come
   * back at once do not displace an address that comes now and then. Of addresses without a turn the one that came last.
   */
  takeFromLongest(): Waiting | undefined
}

const createAddressQueues = (): AddressQueues => {
  /** By address, in the order of their turns; none is empty. */
  const queues = new Map<string, Waiting[]>()
  const served = createServed()
  let count = 0

  const isBefore = (one: string, other: string): boolean => {
    const more = (queues.get(one)?.length ?? 0) - (queues.get(other)?.length ?? 0)
    return more === 0 ? served.turnOf(one) > served.turnOf(other) : more > 0
  }

  return {
    add: (from, waiting) => {
      const queue = queues.get(from)
      if (queue === undefined) queues.set(from, [waiting])
      else queue.push(waiting)
      count++
    },
    count: () => count,
    takeNext: () => {
      const [first] = queues
      if (first === undefined) return undefined
      const [from, queue] = first
      const waiting = queue.shift()
      queues.delete(from)
      if (queue.length > 0) queues.set(from, queue)
      served.add(from)
      count--
      return waiting
    },
    takeFromLongest: () => {
      let longest: string | undefined
      for (const from of queues.keys())
        if (longest === undefined || !isBefore(longest, from)) longest = from
      if (longest === undefined) return undefined
      const queue = queues.get(longest)
      const waiting = queue?.pop()
      if (queue?.length === 0) queues.delete(longest)
      count--
      return waiting
    },
  }
}

interface Served {
  add(from: string): void
  /** The number of its last turn; 0 if it had none for long. */
  turnOf(from: string): number
}

const createServed = (): Served => {
  const last = new BoundedMap<string, number>(MAX_SERVED)
  let served = 0
  return {
    add: (from) => {
      served++
      last.set(from, served)
    },
    turnOf: (from) => last.get(from) ?? 0,
  }
}
