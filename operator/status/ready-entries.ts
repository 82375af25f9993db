// Resources whose status can be written now in; which of them is written next, out. Namespaces take turns, so that one
// whose ten thousand documents change again and again holds up no other.

import type { StatusEntry } from './kubernetes-status-entry.ts'

interface Namespace {
  /** What came first stands first. Never empty. */
  readonly entries: Set<StatusEntry>
  /** Every other write is for what came last: one edit does not wait behind a thousand, nor they behind edits. */
  isNewestNext: boolean
}

export class ReadyEntries {
  /** The one whose turn it is stands first. */
  readonly #namespaces = new Map<string, Namespace>()

  get size(): number {
    let size = 0
    for (const { entries } of this.#namespaces.values()) size += entries.size
    return size
  }

  add(entry: StatusEntry): void {
    const name = namespaceOf(entry)
    const known = this.#namespaces.get(name)
    if (known !== undefined) known.entries.add(entry)
    else this.#namespaces.set(name, { entries: new Set([entry]), isNewestNext: true })
  }

  /** False: it was not ready. */
  delete(entry: StatusEntry): boolean {
    const name = namespaceOf(entry)
    const known = this.#namespaces.get(name)
    const wasReady = known?.entries.delete(entry) === true
    if (known?.entries.size === 0) this.#namespaces.delete(name)
    return wasReady
  }

  /** It is not ready any more. */
  shift(): StatusEntry | undefined {
    for (const [name, namespace] of this.#namespaces) {
      const waiting = [...namespace.entries]
      const entry = namespace.isNewestNext ? waiting.at(-1) : waiting[0]
      if (entry === undefined) continue
      namespace.isNewestNext = !namespace.isNewestNext
      namespace.entries.delete(entry)
      this.#namespaces.delete(name)
      if (namespace.entries.size > 0) this.#namespaces.set(name, namespace)
      return entry
    }
    return undefined
  }
}

const namespaceOf = ({ source }: StatusEntry): string => source.verdict.resource.metadata.namespace
