// Decides which status is written next. Namespaces take turns, so that one whose ten thousand documents change again and
// again does not delay others.

import { FairQueue } from '../../base/fair-queue.ts'
import type { StatusEntry } from './kubernetes-status-entry.ts'

export class ReadyEntries {
  /** Entries wait by namespace, which take turns. */
  readonly #queue = new FairQueue<StatusEntry>()
  /**
   * Namespaces whose next write is that of the oldest entry. Writes alternate between the oldest and the newest one, so
   * that an edit does not wait behind a thousand others, nor those behind a stream of edits.
   */
  readonly #oldestNext = new Set<string>()

  get size(): number {
    return this.#queue.size
  }

  add(entry: StatusEntry): void {
    this.#queue.push(namespaceOf(entry), entry)
  }

  /** @returns false: it was not ready */
  delete(entry: StatusEntry): boolean {
    const namespace = namespaceOf(entry)
    const wasReady = this.#queue.remove(namespace, entry)
    if (this.#queue.sizeOf(namespace) === 0) this.#oldestNext.delete(namespace)
    return wasReady
  }

  /** Removes and returns the next entry. */
  shift(): StatusEntry | undefined {
    const namespace = this.#queue.takeTurn()
    if (namespace === undefined) return undefined
    const isOldestNext = this.#oldestNext.has(namespace)
    const entry = isOldestNext ? this.#queue.oldest(namespace) : this.#queue.newest(namespace)
    if (isOldestNext) this.#oldestNext.delete(namespace)
    else this.#oldestNext.add(namespace)
    if (entry !== undefined) this.delete(entry)
    return entry
  }
}

const namespaceOf = ({ source }: StatusEntry): string => source.result.resource.metadata.namespace
