// Finds the documents that have a claim. The index is updated as documents change, so that a change costs time only for
// the documents that it concerns.

import type { DesiredDocument } from '../../desired-set.ts'
import { KeyIndex } from '../key-index.ts'

export class ClaimHolders {
  /** Claim key → ids. */
  readonly #ids = new KeyIndex()

  replace(before: DesiredDocument | undefined, after: DesiredDocument | undefined): void {
    if (before === after) return
    for (const { key } of before?.claims ?? []) this.#ids.remove(key, before?.id ?? '')
    for (const { key } of after?.claims ?? []) this.#ids.add(key, after?.id ?? '')
  }

  /** Ids of other documents that share a claim with this one. */
  othersOf(document: DesiredDocument | undefined): ReadonlySet<string> {
    const others = new Set<string>()
    for (const { key } of document?.claims ?? []) {
      for (const id of this.#ids.of(key)) if (id !== document?.id) others.add(id)
    }
    return others
  }

  /** Whether some document has the claim. */
  isHeld(key: string): boolean {
    return this.#ids.has(key)
  }
}
