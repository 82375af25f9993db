// Remembers with which version of the desired set each entry came, so that the latest edit goes before what has waited
// for long. Keeps nothing of what is no longer desired.

import type { DesiredDocument, DesiredSet } from '../../desired-set.ts'
import { changedKeys } from '../../edited-map.ts'

export class Recency {
  readonly #versions = new WeakMap<DesiredDocument, number>()
  #documents: DesiredSet['documents'] = new Map()

  /** Call it with every desired set in turn. */
  note({ version, documents }: DesiredSet): void {
    for (const id of changedKeys(this.#documents, documents)) {
      const document = documents.get(id)
      if (document !== undefined && !this.#versions.has(document))
        this.#versions.set(document, version)
    }
    this.#documents = documents
  }

  of(document: DesiredDocument): number {
    return this.#versions.get(document) ?? 0
  }
}

/**
 * The newest edits first; what was there by version `since` keeps its order, after them.
 * @example newestFirst(difference.documents.put, (document) => recency.of(document), 4)
 */
export const newestFirst = (
  documents: readonly DesiredDocument[],
  versionOf: (document: DesiredDocument) => number,
  since: number,
): readonly DesiredDocument[] => {
  const rank = (document: DesiredDocument): number => Math.max(since, versionOf(document))
  if (documents.every((document) => rank(document) === since)) return documents
  return documents.toSorted((left, right) => rank(right) - rank(left))
}
