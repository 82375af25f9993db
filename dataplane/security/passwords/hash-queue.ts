// Queues password hashes and runs two at once: addresses take turns, and when too many wait, the newest one of the
// address with most gives way. Hashes share libuv's few threads with name resolution: eight at once make a lookup
// wait for 0.7 s.

import { BoundedMap } from '../../../base/bounded-map.ts'

export interface HashQueue {
  /**
   * @param from the address of the caller: no address is served more often than another
   * @returns undefined where the task had to give way: it was not run
   */
  run<T>(task: () => Promise<T>, from: string): Promise<T | undefined>
}

const MAX_AT_ONCE = 2
/** About 1.6 s of work. */
const MAX_WAITING = 64
/** Addresses that had a turn: more than can wait several times over. */
const MAX_SERVED = 1000

interface Waiting {
  readonly start: () => Promise<unknown>
  readonly giveWay: () => void
}

export const createHashQueue = (): HashQueue => {
  const lines = createLines()
  let running = 0

  const next = (): void => {
    while (running < MAX_AT_ONCE) {
      const waiting = lines.takeNext()
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
        lines.add(from, {
          start: () => task().then(resolve, reject),
          giveWay: () => {
            resolve(undefined)
          },
        })
        next()
        if (lines.count() > MAX_WAITING) lines.takeFromLongest()?.giveWay()
      }),
  }
}

interface Lines {
  add(from: string, waiting: Waiting): void
  count(): number
  /** The first of the address whose turn it is. */
  takeNext(): Waiting | undefined
  /**
   * The last of the address with most. Of addresses with as many it is one that had a turn, and that lately: a hundred
   * that come back at once do not push out who comes now and then. Of those without a turn it is the one that came last.
   */
  takeFromLongest(): Waiting | undefined
}

const createLines = (): Lines => {
  /** In the order of their turns; none is empty. */
  const lines = new Map<string, Waiting[]>()
  const served = createServed()
  let count = 0

  const isBefore = (one: string, other: string): boolean => {
    const more = (lines.get(one)?.length ?? 0) - (lines.get(other)?.length ?? 0)
    return more === 0 ? served.turnOf(one) > served.turnOf(other) : more > 0
  }

  return {
    add: (from, waiting) => {
      const line = lines.get(from)
      if (line === undefined) lines.set(from, [waiting])
      else line.push(waiting)
      count++
    },
    count: () => count,
    takeNext: () => {
      const [first] = lines
      if (first === undefined) return undefined
      const [from, line] = first
      const waiting = line.shift()
      lines.delete(from)
      if (line.length > 0) lines.set(from, line)
      served.add(from)
      count--
      return waiting
    },
    takeFromLongest: () => {
      let longest: string | undefined
      for (const from of lines.keys())
        if (longest === undefined || !isBefore(longest, from)) longest = from
      if (longest === undefined) return undefined
      const line = lines.get(longest)
      const waiting = line?.pop()
      if (line?.length === 0) lines.delete(longest)
      count--
      return waiting
    },
  }
}

interface Served {
  add(from: string): void
  /** Which turn was its last; 0 where it had none for long. */
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
