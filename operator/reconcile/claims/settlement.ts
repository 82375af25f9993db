// Which documents may claim what, settled as documents come, change and go: oldest wins, and what serves
// already is never taken out for a conflict. Work is in proportion to what changed.

import { type Clash, ConflictIndex } from '../../../language/routes/conflicts.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import { ClaimHolders } from './claim-holders.ts'

/** An owner of a document id, with what it would like to have served. */
export interface Applicant {
  readonly id: string
  /** Absent: nothing of this generation may be put. */
  readonly candidate: DesiredDocument | undefined
  /** Its last good version, if it had one. */
  readonly lastGood: DesiredDocument | undefined
  /** Paused: the candidate is validated, and the last good version stays. */
  readonly isHeld: boolean
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
  #held: ReadonlySet<string> = new Set()

  /** The same maps are given back where nothing changed. */
  settle(applicants: ReadonlyMap<string, Applicant>): Settled {
    const wanted = wantedOf(applicants)
    const held = heldOf(applicants)
    const isNews = (applicant: Applicant): boolean => this.#isNews(applicant, wanted, held)
    const hasNews = wanted.size !== this.#wanted.size || [...applicants.values()].some(isNews)
    if (hasNews) this.#settleAll(wanted, applicants, isNews)
    this.#wanted = wanted
    this.#held = held
    return { documents: this.#documents, clashes: this.#clashes }
  }

  /** What a document would lose in place of those of the ids `replaced`, as things stand; nothing changes. */
  clashesOf(
    { id, since, claims }: DesiredDocument,
    replaced: ReadonlySet<string>,
  ): readonly Clash[] {
    return this.#index.clashesOf({ id, rank: 0, since, claims }, replaced)
  }

  /** Wants another thing than before, or has a last good version again where nothing could be put. */
  #isNews({ id, lastGood }: Applicant, wanted: Documents, held: ReadonlySet<string>): boolean {
    return (
      wanted.get(id) !== this.#wanted.get(id) ||
      held.has(id) !== this.#held.has(id) ||
      (lastGood?.id === id && !this.#documents.has(id))
    )
  }

  #settleAll(
    wanted: Documents,
    applicants: ReadonlyMap<string, Applicant>,
    isNews: (applicant: Applicant) => boolean,
  ): void {
    const documents = new Map(this.#documents)
    for (const id of this.#documents.keys()) if (!wanted.has(id)) this.#release(id, documents)
    const clashes = new Map<string, readonly Clash[]>()
    /** Ids whose claims an older document has come to want. */
    const touched = new Set<string>()
    for (const document of [...wanted.values()].sort(byAge)) {
      const { id } = document
      const applicant = applicants.get(id)
      if (applicant === undefined) continue
      // Whoever lost a claim, or waits, is looked at again: it may have been freed.
      const isOpen =
        isNews(applicant) || this.#clashes.has(id) || applicant.isHeld || touched.has(id)
      if (!isOpen) continue
      const lost = this.#place(document, applicant, documents)
      if (lost.length > 0) clashes.set(id, lost)
      for (const other of this.#holders.othersOf(documents.get(id))) touched.add(other)
    }
    this.#documents = sameEntries(documents, this.#documents) ? this.#documents : documents
    this.#clashes = clashes
  }

  /** Puts a document where no older one stands in its way, else what served before. */
  #place(
    document: DesiredDocument,
    { lastGood, isHeld }: Applicant,
    documents: Map<string, DesiredDocument>,
  ): readonly Clash[] {
    const { id } = document
    this.#claim(document)
    const lost = this.#index.conflictsOf(id)
    const placed = lost.length === 0 && !isHeld ? document : lastGood
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

const heldOf = (applicants: ReadonlyMap<string, Applicant>): ReadonlySet<string> => {
  const held = new Set<string>()
  for (const { id, isHeld } of applicants.values()) if (isHeld) held.add(id)
  return held
}

/** As the conflict index orders. */
const byAge = (left: DesiredDocument, right: DesiredDocument): number =>
  left.since - right.since || (left.id < right.id ? -1 : 1)

export const sameEntries = (left: Documents, right: Documents): boolean => {
  if (left.size !== right.size) return false
  for (const [id, document] of left) if (right.get(id) !== document) return false
  return true
}
