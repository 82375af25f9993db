// Gives work that takes long its turns: one piece at a time, of one document after the other, and in between as much time
// for everything else as the piece took. What takes little never comes here.

import { FairQueue } from '../base/fair-queue.ts'

/** Bodies of more bytes are decoded, and what is made of them is evaluated, in turns: that may take a millisecond. */
export const LARGE_BODY_BYTES = 64 * 1024

export interface Turns {
  /** @param work must not throw; true: there is more of it, for the next turn of the document */
  run(document: string, work: () => boolean): void
}

export interface TurnTools {
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** Calls back later; with 0 as soon as everything that waits for the event loop had its turn. */
  readonly pause: (ms: number, callback: () => void) => void
}

const SYSTEM: TurnTools = {
  now: () => performance.now(),
  pause: (ms, callback) => {
    if (ms === 0) setImmediate(callback)
    else setTimeout(callback, ms)
  },
}

/** After a shorter piece others have one turn of the event loop. */
const SHORT_MS = 5
/** A longer piece is work of a kind that can't be divided. */
const LONGEST_REST_MS = 200

/**
 * It has no bound of its own: what waits is a request, and their number has one.
 * @example turns.run('orders', () => pieces.next().done !== true)
 */
export const createTurns = ({ now, pause }: TurnTools = SYSTEM): Turns => {
  const queue = new FairQueue<() => boolean>()
  let isWaiting = false

  const next = (): void => {
    const document = queue.takeTurn()
    const work = document === undefined ? undefined : queue.oldest(document)
    if (document === undefined || work === undefined) {
      isWaiting = false
      return
    }
    const before = now()
    let isMore = false
    try {
      isMore = work()
    } finally {
      if (!isMore) queue.remove(document, work)
      const ms = now() - before
      pause(ms <= SHORT_MS ? 0 : Math.min(ms, LONGEST_REST_MS), next)
    }
  }

  return {
    run: (document, work) => {
      queue.push(document, work)
      if (isWaiting) return
      isWaiting = true
      pause(0, next)
    },
  }
}
