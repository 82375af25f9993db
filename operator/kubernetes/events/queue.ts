// Orders the Events that wait to be sent: Warnings before Normal ones, and namespaces in turns. It never holds more
// than its bound; when it is full, the namespace with the most Events loses one.

import { FairQueue } from '../../../compiler/fair-queue.ts'
import type { Series } from './series.ts'

const MAX_QUEUED = 1000

export class EventQueue {
  readonly #lanes = { Warning: new Lane(), Normal: new Lane() }

  get size(): number {
    return this.#lanes.Warning.size + this.#lanes.Normal.size
  }

  /** @returns the series that was dropped for it, perhaps itself; undefined where there was room */
  push(series: Series): Series | undefined {
    this.#lanes[series.facts.type].push(series)
    if (this.size <= MAX_QUEUED) return undefined
    const { Warning, Normal } = this.#lanes
    return Normal.size > 0 ? Normal.dropLast() : Warning.dropLast()
  }

  shift(): Series | undefined {
    return this.#lanes.Warning.shift() ?? this.#lanes.Normal.shift()
  }

  clear(): void {
    this.#lanes.Warning = new Lane()
    this.#lanes.Normal = new Lane()
  }
}

const groupOf = ({ facts }: Series): string => facts.regarding.namespace

class Lane {
  readonly #queue = new FairQueue<Series>()
  /** By namespace; none is empty. */
  readonly #waiting = new Map<string, Set<Series>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  push(series: Series): void {
    const group = groupOf(series)
    this.#queue.push(group, series)
    const waiting = this.#waiting.get(group)
    if (waiting === undefined) this.#waiting.set(group, new Set([series]))
    else waiting.add(series)
    this.#size += 1
  }

  shift(): Series | undefined {
    const series = this.#queue.shift()
    if (series !== undefined) this.#left(series)
    return series
  }

  /** The last one of the namespace that has the most. */
  dropLast(): Series | undefined {
    const [most] = [...this.#waiting.values()].sort((a, b) => b.size - a.size)
    const last = [...(most ?? [])].at(-1)
    if (last === undefined) return undefined
    this.#queue.remove(groupOf(last), last)
    this.#left(last)
    return last
  }

  #left(series: Series): void {
    const group = groupOf(series)
    const waiting = this.#waiting.get(group)
    waiting?.delete(series)
    if (waiting?.size === 0) this.#waiting.delete(group)
    this.#size -= 1
  }
}
