// Orders what waits to be told: Warnings before what is Normal, and namespaces in turns. It never holds more than its
// bound; at it, the namespace with the most gives way.

import { FairQueue } from '../../../base/fair-queue.ts'
import type { Series } from './series.ts'

const MAX_QUEUED = 1000

export class EventQueue {
  /** By namespace. */
  #warnings = new FairQueue<Series>()
  #normal = new FairQueue<Series>()

  get size(): number {
    return this.#warnings.size + this.#normal.size
  }

  /** @returns what has lost its place for it, perhaps itself; undefined where there was room */
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

/** Of the namespace that has the most. */
const dropNewest = (queue: FairQueue<Series>): Series | undefined => {
  const namespace = queue.longest()
  const series = namespace === undefined ? undefined : queue.newest(namespace)
  if (namespace !== undefined && series !== undefined) queue.remove(namespace, series)
  return series
}
