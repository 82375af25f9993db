// Decides which documents get the claims that they make, as documents come, change and go: the oldest wins, and a document
// that already serves is never removed for a conflict. The work is in proportion to what has changed and is in conflict.

import { countFirst } from '../../../base/bisect.ts'
import { type Conflict, ConflictIndex } from '../../../language/compile/conflicts.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import { changedKeys, edited } from '../../edited-map.ts'
import { ClaimHolders } from './claim-holders.ts'

/** The owner of a document id, with the version that it asks to serve. */
export interface Applicant {
  readonly id: string
  /** Absent: this generation must not be sent. */
  readonly candidate: DesiredDocument | undefined
  /** Its last good version, if it had one. */
  readonly lastGood: DesiredDocument | undefined
  /** Paused: the candidate is validated, and the last good version stays. */
  readonly isHeld: boolean
}

/** id → its owner from now on; undefined: it has none. */
export type ApplicantChanges = ReadonlyMap<string, Applicant | undefined>

type Documents = ReadonlyMap<string, DesiredDocument>

export class Settlement {
  readonly #index = new ConflictIndex()
  readonly #holders = new ClaimHolders()
  readonly #applicants = new Map<string, Applicant>()
  /** Ids of paused applicants. */
  readonly #held = new Set<string>()
  #documents: Documents = new Map()
  readonly #conflicts = new Map<string, readonly Conflict[]>()

  /** id → what is to be sent: the candidate, the last good version, or nothing. The same map while nothing changes. */
  get documents(): Documents {
    return this.#documents
  }

  /** id → the clashes that its candidate loses. */
  get conflicts(): ReadonlyMap<string, readonly Conflict[]> {
    return this.#conflicts
  }

  settle(changes: ApplicantChanges): void {
    const changed = new Set<string>()
    for (const [id, applicant] of changes) if (this.#hasChanged(id, applicant)) changed.add(id)
    for (const [id, applicant] of changes) this.#take(id, applicant)
    let open: ReadonlySet<string> = changed
    // A chain of documents that wait for each other ends with the next changes.
    for (let round = 0; open.size > 0 && round < MAX_ROUNDS; round += 1)
      open = this.#freedBy(this.#settleAll(open))
  }

  /** What a document would lose now if it replaced those with the ids `replaced`; nothing changes. */
  conflictsAfter(
    { id, since, claims }: DesiredDocument,
    replaced: ReadonlySet<string>,
  ): readonly Conflict[] {
    return this.#index.conflictsAfter({ id, rank: 0, since, claims }, replaced)
  }

  /** Whether some document that is to be sent has the claim. */
  isClaimed(key: string): boolean {
    return this.#holders.isHeld(key)
  }

  /**
   * Whether it asks for another version than before, has a last good version where nothing could be sent, or has lost the
   * one that is sent.
   */
  #hasChanged(id: string, applicant: Applicant | undefined): boolean {
    const sent = this.#documents.get(id)
    return (
      (sent !== undefined && sent !== applicant?.candidate && sent !== applicant?.lastGood) ||
      wantedBy(applicant) !== wantedBy(this.#applicants.get(id)) ||
      isHeldBack(applicant) !== this.#held.has(id) ||
      (applicant?.lastGood?.id === id && sent === undefined)
    )
  }

  #take(id: string, applicant: Applicant | undefined): void {
    if (applicant === undefined) this.#applicants.delete(id)
    else this.#applicants.set(id, applicant)
    if (isHeldBack(applicant)) this.#held.add(id)
    else this.#held.delete(id)
  }

  /**
   * @param changed ids; those that have lost a claim or are paused are looked at again too, as it may be free now
   * @returns ids that have another version now, or none
   */
  #settleAll(changed: ReadonlySet<string>): ReadonlySet<string> {
    const edits = new Map<string, DesiredDocument | undefined>()
    const placed = (id: string): DesiredDocument | undefined =>
      edits.has(id) ? edits.get(id) : this.#documents.get(id)
    const open = new OldestFirst()
    for (const id of new Set([...changed, ...this.#conflicts.keys(), ...this.#held])) {
      const document = wantedBy(this.#applicants.get(id))
      if (document !== undefined) open.add(document)
      else {
        this.#conflicts.delete(id)
        this.#release(id, placed(id))
        edits.set(id, undefined)
      }
    }
    for (let document = open.next(); document !== undefined; document = open.next()) {
      const { id } = document
      const applicant = this.#applicants.get(id)
      if (applicant === undefined) continue
      const { lost, after } = this.#place(document, applicant, placed(id))
      edits.set(id, after)
      if (lost.length > 0) this.#conflicts.set(id, lost)
      else this.#conflicts.delete(id)
      // Younger documents lose the claims that this one makes now.
      for (const other of this.#holders.othersOf(after)) {
        const wanted = wantedBy(this.#applicants.get(other))
        if (wanted !== undefined) open.add(wanted)
      }
    }
    const before = this.#documents
    this.#documents = edited(before, edits)
    return changedKeys(before, this.#documents)
  }

  /**
   * Ids that have lost a claim to one of `changed` which does not claim it any more: another resource, a younger one, has
   * its id now, and so they were looked at before it.
   */
  #freedBy(changed: ReadonlySet<string>): ReadonlySet<string> {
    const freed = new Set<string>()
    for (const [id, lost] of this.#conflicts) {
      if (!lost.some(({ winnerId }) => changed.has(winnerId))) continue
      const wanted = wantedBy(this.#applicants.get(id))
      const isFreed =
        wanted !== undefined && this.conflictsAfter(wanted, new Set([id])).length < lost.length
      if (isFreed) freed.add(id)
    }
    return freed
  }

  /** Lets a document serve where no older one has its claims; elsewhere its last good version goes on. */
  #place(
    document: DesiredDocument,
    { lastGood, isHeld }: Applicant,
    before: DesiredDocument | undefined,
  ): { readonly lost: readonly Conflict[]; readonly after: DesiredDocument | undefined } {
    const { id } = document
    this.#claim(document)
    const lost = this.#index.conflictsOf(id)
    const placed = lost.length === 0 && !isHeld ? document : lastGood
    if (placed?.id !== id) {
      this.#release(id, before)
      return { lost, after: undefined }
    }
    if (placed !== document) this.#claim(placed)
    this.#holders.replace(before, placed)
    return { lost, after: placed }
  }

  #claim({ id, since, claims }: DesiredDocument): void {
    this.#index.put({ id, rank: 0, since, claims })
  }

  #release(id: string, before: DesiredDocument | undefined): void {
    this.#index.remove(id)
    this.#holders.replace(before, undefined)
  }
}

const MAX_ROUNDS = 16

/** The version that it asks to serve; a last good version of another id does not count. */
const wantedBy = (applicant: Applicant | undefined): DesiredDocument | undefined => {
  if (applicant === undefined) return undefined
  const { id, candidate, lastGood } = applicant
  return candidate ?? (lastGood?.id === id ? lastGood : undefined)
}

const isHeldBack = (applicant: Applicant | undefined): boolean => applicant?.isHeld === true

/** Gives documents in the order of their age, each once; one that is added after a younger one was given is dropped. */
class OldestFirst {
  /** The youngest first. */
  #waiting: DesiredDocument[] = []
  #isSorted = true
  readonly #seen = new Set<string>()
  #last: DesiredDocument | undefined

  add(document: DesiredDocument): void {
    if (this.#seen.has(document.id)) return
    if (this.#last !== undefined && byAge(document, this.#last) < 0) return
    this.#seen.add(document.id)
    if (this.#last === undefined) {
      this.#waiting.push(document)
      this.#isSorted = false
    } else this.#insert(document)
  }

  next(): DesiredDocument | undefined {
    if (!this.#isSorted) this.#waiting.sort((left, right) => byAge(right, left))
    this.#isSorted = true
    this.#last = this.#waiting.pop()
    return this.#last
  }

  #insert(document: DesiredDocument): void {
    const place = countFirst(this.#waiting, (other) => byAge(other, document) > 0)
    this.#waiting.splice(place, 0, document)
  }
}

/** As the conflict index orders. */
const byAge = (left: DesiredDocument, right: DesiredDocument): number =>
  left.since - right.since || (left.id < right.id ? -1 : 1)
