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

const MAX_AT_ONCE = 2
/** About 1.6 s of work. */
const MAX_WAITING = 64
/** Networks whose last turn is remembered: several times as many as can wait. */
const MAX_SERVED = 1000

interface Waiting {
  readonly start: () => Promise<unknown>
  readonly drop: () => void
}

export class HashQueue {
  readonly #known = new NetworkQueue()
  readonly #others = new NetworkQueue()
  #running = 0
  #wasKnown = false

  /** @returns undefined: the task was dropped without being run */
  run<T>(task: () => Promise<T>, caller: HashCaller): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const queue = caller.isKnown ? this.#known : this.#others
      queue.add(caller, {
        start: () => task().then(resolve, reject),
        drop: () => {
          resolve(undefined)
        },
      })
      this.#start()
      if (this.#known.size + this.#others.size <= MAX_WAITING) return
      const longer = this.#others.size > MAX_WAITING / 2 ? this.#others : this.#known
      longer.takeFromLongest()?.drop()
    })
  }

  #start(): void {
    while (this.#running < MAX_AT_ONCE) {
      const waiting = this.#takeNext()
      if (waiting === undefined) return
      this.#running++
      void waiting.start().finally(() => {
        this.#running--
        this.#start()
      })
    }
  }

  /** Known callers and others take turns too. */
  #takeNext(): Waiting | undefined {
    const [first, second] = this.#wasKnown
      ? [this.#others, this.#known]
      : [this.#known, this.#others]
    const next = first.takeNext()
    this.#wasKnown = (next === undefined ? second : first) === this.#known
    return next ?? second.takeNext()
  }
}

class NetworkQueue {
  /** What waits of each network; networks take turns. */
  readonly #networks = new FairQueue<Waiting>()
  /** The queue of each network, whose addresses take turns. */
  readonly #places = new Map<string, FairQueue<Waiting>>()
  readonly #lastTurns = new BoundedMap<string, number>(MAX_SERVED)
  #turns = 0

  get size(): number {
    return this.#networks.size
  }

  add({ network, place }: HashCaller, waiting: Waiting): void {
    const places = this.#places.get(network) ?? new FairQueue<Waiting>()
    this.#places.set(network, places)
    places.push(place, waiting)
    this.#networks.push(network, waiting)
  }

  /** The first of the network whose turn it is. */
  takeNext(): Waiting | undefined {
    const network = this.#networks.takeTurn()
    if (network === undefined) return undefined
    this.#turns++
    this.#lastTurns.set(network, this.#turns)
    return this.#removed(network, this.#places.get(network)?.shift())
  }

  /**
   * The last of the address with most, in the network with most; of several such networks the one whose turn was last,
   * so that a hundred that come back at once do not displace one that comes now and then. Of networks without a turn the
   * one that came last.
   */
  takeFromLongest(): Waiting | undefined {
    const network = this.#networks.longest((each) => this.#lastTurns.get(each) ?? 0)
    if (network === undefined) return undefined
    const places = this.#places.get(network)
    const place = places?.longest()
    const waiting = place === undefined ? undefined : places?.newest(place)
    if (place !== undefined && waiting !== undefined) places?.remove(place, waiting)
    return this.#removed(network, waiting)
  }

  #removed(network: string, waiting: Waiting | undefined): Waiting | undefined {
    if (waiting !== undefined) this.#networks.remove(network, waiting)
    if (this.#places.get(network)?.size === 0) this.#places.delete(network)
    return waiting
  }
}
