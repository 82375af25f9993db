// Queues password hashes and runs two at once. Networks take turns, and addresses within them. When too many hashes wait,
// the newest one of the network and address with most is dropped, but half of the places are kept for callers who had a
// right password lately. Hashes share libuv's few threads with name resolution: eight at once make a lookup wait for 0.7 s.

import { BoundedMap } from '../../../base/bounded-map.ts'
import { FairQueue } from '../../../base/fair-queue.ts'

/** Who asks for a hash: none is served more often than another. */
export interface HashCaller {
  readonly network: string
  readonly place: string
  /** The user had a right password from there within the hour. */
  readonly isKnown: boolean
}

export interface HashQueue {
  /** @returns undefined: the task was dropped without being run */
  run<T>(task: () => Promise<T>, caller: HashCaller): Promise<T | undefined>
}

const MAX_AT_ONCE = 2
/** About 1.6 s of work. */
const MAX_WAITING = 64
/** Networks whose last turn is remembered: several times as many as can wait. */
const MAX_SERVED = 1000

interface Waiting {
  readonly start: () => Promise<unknown>
  readonly drop: () => void
}

export const createHashQueue = (): HashQueue => {
  const known = createNetworkQueues()
  const others = createNetworkQueues()
  let running = 0
  let wasKnown = false

  /** Known callers and others take turns too. */
  const takeNext = (): Waiting | undefined => {
    const [first, second] = wasKnown ? [others, known] : [known, others]
    const next = first.takeNext()
    wasKnown = (next === undefined ? second : first) === known
    return next ?? second.takeNext()
  }

  const start = (): void => {
    while (running < MAX_AT_ONCE) {
      const waiting = takeNext()
      if (waiting === undefined) return
      running++
      void waiting.start().finally(() => {
        running--
        start()
      })
    }
  }

  return {
    run: (task, caller) =>
      new Promise((resolve, reject) => {
        const queues = caller.isKnown ? known : others
        queues.add(caller, {
          start: () => task().then(resolve, reject),
          drop: () => {
            resolve(undefined)
          },
        })
        start()
        if (known.count() + others.count() <= MAX_WAITING) return
        const longer = others.count() > MAX_WAITING / 2 ? others : known
        longer.takeFromLongest()?.drop()
      }),
  }
}

interface NetworkQueues {
  add(caller: HashCaller, waiting: Waiting): void
  count(): number
  /** The first of the network whose turn it is. */
  takeNext(): Waiting | undefined
  /**
   * The last of the address with most, in the network with most; of several such networks the one whose turn was last,
   * so that a hundred that come back at once do not displace one that comes now and then. Of networks without a turn the
   * one that came last.
   */
  takeFromLongest(): Waiting | undefined
}

const createNetworkQueues = (): NetworkQueues => {
  /** By network, in the order of their turns; none is empty. In each the addresses take turns. */
  const queues = new Map<string, FairQueue<Waiting>>()
  const served = createServed()
  let count = 0

  const isBefore = (one: string, other: string): boolean => {
    const more = (queues.get(one)?.size ?? 0) - (queues.get(other)?.size ?? 0)
    return more === 0 ? served.turnOf(one) > served.turnOf(other) : more > 0
  }

  return {
    add: ({ network, place }, waiting) => {
      const queue = queues.get(network) ?? new FairQueue<Waiting>()
      queue.push(place, waiting)
      queues.set(network, queue)
      count++
    },
    count: () => count,
    takeNext: () => {
      const [first] = queues
      if (first === undefined) return undefined
      const [network, queue] = first
      const waiting = queue.shift()
      queues.delete(network)
      if (queue.size > 0) queues.set(network, queue)
      served.add(network)
      count--
      return waiting
    },
    takeFromLongest: () => {
      let longest: string | undefined
      for (const network of queues.keys())
        if (longest === undefined || !isBefore(longest, network)) longest = network
      const queue = longest === undefined ? undefined : queues.get(longest)
      const place = queue?.longest()
      if (longest === undefined || queue === undefined || place === undefined) return undefined
      const waiting = queue.newest(place)
      if (waiting !== undefined) queue.remove(place, waiting)
      if (queue.size === 0) queues.delete(longest)
      count--
      return waiting
    },
  }
}

interface Served {
  add(network: string): void
  /** The number of its last turn; 0 if it had none for long. */
  turnOf(network: string): number
}

const createServed = (): Served => {
  const last = new BoundedMap<string, number>(MAX_SERVED)
  let served = 0
  return {
    add: (network) => {
      served++
      last.set(network, served)
    },
    turnOf: (network) => last.get(network) ?? 0,
  }
}
