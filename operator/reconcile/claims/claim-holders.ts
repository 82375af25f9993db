// Which documents hold a claim: the reverse of a document's claims, kept as documents change, so that a
// change asks only those it touches.

import type { DesiredDocument } from '../../desired-set.ts'

export class ClaimHolders {
  /** Claim key → ids, nearly always one. */
  readonly #ids = new Map<string, readonly string[]>()

  replace(before: DesiredDocument | undefined, after: DesiredDocument | undefined): void {
    if (before === after) return
    for (const { key } of before?.claims ?? []) this.#remove(key, before?.id ?? '')
    for (const { key } of after?.claims ?? []) this.#add(key, after?.id ?? '')
  }

  /** Ids of other documents that hold a claim of this one. */
  othersOf(document: DesiredDocument | undefined): ReadonlySet<string> {
    const others = new Set<string>()
    for (const { key } of document?.claims ?? []) {
      for (const id of this.#ids.get(key) ?? []) if (id !== document?.id) others.add(id)
    }
    return others
  }

  #add(key: string, id: string): void {
    const ids = this.#ids.get(key)
    if (ids === undefined) this.#ids.set(key, [id])
    else if (!ids.includes(id)) this.#ids.set(key, [...ids, id])
  }

  #remove(key: string, id: string): void {
    const left = (this.#ids.get(key) ?? []).filter((each) => each !== id)
    if (left.length === 0) this.#ids.delete(key)
    else this.#ids.set(key, left)
  }
}
