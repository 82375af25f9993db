// Orders the Events that wait to be sent: Warnings before Normal ones, and one namespace after the other. It never has more
// than its bound; when it is full, the namespace with the most Events loses one.

import { FairQueue } from '../../../base/fair-queue.ts'
import type { Series } from './series.ts'

const MAX_QUEUED = 1000

export class EventQueue {
  /** Warnings wait by namespace, which take turns. */
  #warnings = new FairQueue<Series>()
  #normal = new FairQueue<Series>()

  get size(): number {
    return this.#warnings.size + this.#normal.size
  }

  /** @returns the series that was dropped to make room, perhaps this one; undefined if there was room */
  push(series: Series): Series | undefined {
    const queue = series.facts.type === 'Warning' ? this.#warnings : this.#normal
    queue.push(series.facts.regarding.namespace, series)
    if (this.size <= MAX_QUEUED) return undefined
    return dropNewest(this.#normal.size > 0 ? this.#normal : this.#warnings)
  }

  shift(): Series | undefined {
    return this.#warnings.shift() ?? this.#normal.shift()
  }

  clear(): void {
    this.#warnings = new FairQueue()
    this.#normal = new FairQueue()
  }
}

/** Removes the newest series of the namespace that has the most. */
const dropNewest = (queue: FairQueue<Series>): Series | undefined => {
  const namespace = queue.longest()
  const series = namespace === undefined ? undefined : queue.newest(namespace)
  if (namespace !== undefined && series !== undefined) queue.remove(namespace, series)
  return series
}
