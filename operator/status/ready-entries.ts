// Decides which of the resources whose status can be written is written next. Namespaces take turns, so that one whose
// ten thousand documents change again and again holds up no other.

import { FairQueue } from '../../base/fair-queue.ts'
import type { StatusEntry } from './kubernetes-status-entry.ts'

export class ReadyEntries {
  /** By namespace. */
  readonly #queue = new FairQueue<StatusEntry>()
  /**
   * Namespaces whose next write is for what came first. Every other one is for what came last: one edit does not wait
   * behind a thousand, nor they behind edits.
   */
  readonly #oldestNext = new Set<string>()

  get size(): number {
    return this.#queue.size
  }

  add(entry: StatusEntry): void {
    this.#queue.push(namespaceOf(entry), entry)
  }

  /** False: it was not ready. */
  delete(entry: StatusEntry): boolean {
    const namespace = namespaceOf(entry)
    const wasReady = this.#queue.remove(namespace, entry)
    if (this.#queue.sizeOf(namespace) === 0) this.#oldestNext.delete(namespace)
    return wasReady
  }

  /** It is not ready any more. */
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

const namespaceOf = ({ source }: StatusEntry): string => source.verdict.resource.metadata.namespace
