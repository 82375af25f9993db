// Queues the tasks of a callback: a fixed number run at once and the others wait in order, bounded by their number
// and by the bytes that they hold. A task without room is rejected.

import type { Holding } from '../../../memory/memory-budget.ts'

export interface Line {
  /**
   * undefined: there is no place left, and the task will not run.
   * @param bytes that it holds until it is done; who is alone may hold any number
   */
  run<T>(bytes: number, task: () => Promise<T>): Promise<T> | undefined
}

export interface LineBounds {
  /** Tasks that run at once. */
  readonly places: number
  readonly maxWaiting: number
  /** Of those that run and those that wait, together. */
  readonly maxBytes: number
  /** Pays for what is held. */
  readonly memory: Holding
}

/** @example createLine({ places: 1, maxWaiting: 256, maxBytes: 2 ** 26, memory }) // one after the other, in order */
export const createLine = ({ places, maxWaiting, maxBytes, memory }: LineBounds): Line => {
  const waiting: (() => void)[] = []
  let running = 0
  let queuedBytes = 0

  const enter = (): Promise<void> => {
    if (running === places) return new Promise((resolve) => waiting.push(resolve))
    running++
    return Promise.resolve()
  }
  const leave = (): void => {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }

  return {
    run(bytes, task) {
      if (running === places && waiting.length >= maxWaiting) return undefined
      if (running > 0 && queuedBytes + bytes > maxBytes) return undefined
      if (!memory.reserve(bytes)) return undefined
      queuedBytes += bytes
      return enter()
        .then(task)
        .finally(() => {
          queuedBytes -= bytes
          memory.subtract(bytes)
          leave()
        })
    },
  }
}
