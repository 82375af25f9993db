// Which documents may claim what, settled as documents come, change and go: oldest wins, and what serves
// already is never taken out for a conflict. Work is in proportion to what changed.

import { type Clash, ConflictIndex } from '../../spec/conflicts.ts'
import type { DesiredDocument } from '../desired-set.ts'
import { ClaimHolders } from './claim-holders.ts'

/** An owner of a document id, with what it would like to have served. */
export interface Applicant {
  readonly id: string
  /** Absent: nothing of this generation may be put. */
  readonly candidate: DesiredDocument | undefined
  /** Its last good version, if it had one. */
  readonly lastGood: DesiredDocument | undefined
}

export interface Settled {
  /** id → what is to be put: the candidate, the last good version, or nothing. */
  readonly documents: ReadonlyMap<string, DesiredDocument>
  /** id → the clashes that its candidate loses. */
  readonly clashes: ReadonlyMap<string, readonly Clash[]>
}

type Documents = ReadonlyMap<string, DesiredDocument>

export class Settlement {
  readonly #index = new ConflictIndex()
  readonly #holders = new ClaimHolders()
  #documents: Documents = new Map()
  #clashes: ReadonlyMap<string, readonly Clash[]> = new Map()
  /** What each id wanted when it was last settled. */
  #wanted: Documents = new Map()

  /** The same maps are given back where nothing changed. */
  settle(applicants: ReadonlyMap<string, Applicant>): Settled {
    const wanted = wantedOf(applicants)
    if (!sameEntries(wanted, this.#wanted)) this.#settleAll(wanted, applicants)
    this.#wanted = wanted
    return { documents: this.#documents, clashes: this.#clashes }
  }

  #settleAll(wanted: Documents, applicants: ReadonlyMap<string, Applicant>): void {
    const documents = new Map(this.#documents)
    for (const id of this.#documents.keys()) if (!wanted.has(id)) this.#release(id, documents)
    const clashes = new Map<string, readonly Clash[]>()
    /** Ids whose claims an older document has come to want. */
    const touched = new Set<string>()
    // Whoever lost a claim is looked at again: it may have been freed.
    const isOpen = (id: string): boolean =>
      wanted.get(id) !== this.#wanted.get(id) || this.#clashes.has(id) || touched.has(id)
    for (const document of [...wanted.values()].sort(byAge)) {
      const { id } = document
      if (!isOpen(id)) continue
      const lost = this.#place(document, applicants.get(id)?.lastGood, documents)
      if (lost.length > 0) clashes.set(id, lost)
      for (const other of this.#holders.othersOf(documents.get(id))) touched.add(other)
    }
    this.#documents = sameEntries(documents, this.#documents) ? this.#documents : documents
    this.#clashes = clashes
  }

  /** Puts a document where no older one stands in its way, else what served before. */
  #place(
    document: DesiredDocument,
    lastGood: DesiredDocument | undefined,
    documents: Map<string, DesiredDocument>,
  ): readonly Clash[] {
    const { id } = document
    this.#claim(document)
    const lost = this.#index.conflictsOf(id)
    const placed = lost.length === 0 ? document : lastGood
    if (placed?.id !== id) {
      this.#release(id, documents)
      return lost
    }
    if (placed !== document) this.#claim(placed)
    this.#holders.replace(documents.get(id), placed)
    documents.set(id, placed)
    return lost
  }

  #claim({ id, since, claims }: DesiredDocument): void {
    this.#index.put({ id, rank: 0, since, claims })
  }

  #release(id: string, documents: Map<string, DesiredDocument>): void {
    this.#index.remove(id)
    this.#holders.replace(documents.get(id), undefined)
    documents.delete(id)
  }
}

const wantedOf = (applicants: ReadonlyMap<string, Applicant>): Documents => {
  const wanted = new Map<string, DesiredDocument>()
  for (const { id, candidate, lastGood } of applicants.values()) {
    const document = candidate ?? lastGood
    if (document !== undefined) wanted.set(id, document)
  }
  return wanted
}

/** As the conflict index orders. */
const byAge = (left: DesiredDocument, right: DesiredDocument): number =>
  left.since - right.since || (left.id < right.id ? -1 : 1)

const sameEntries = (left: Documents, right: Documents): boolean => {
  if (left.size !== right.size) return false
  for (const [id, document] of left) if (right.get(id) !== document) return false
  return true
}
