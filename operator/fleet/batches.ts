// A difference in; the sync calls that bring it about, in order, out. Realms go before the documents that
// use them; documents whose claims change hands travel together, so that a route is never without an owner.

import type { Claim } from '../../spec/conflicts.ts'
import type { DesiredDocument, DesiredRealm } from '../desired-set.ts'
import type { Difference } from './difference.ts'

export interface Batch {
  readonly realmPuts: readonly DesiredRealm[]
  readonly puts: readonly DesiredDocument[]
  readonly deletes: readonly string[]
  readonly realmDeletes: readonly string[]
}

export interface BatchFacts {
  /** Characters of a realm or document in a sync call. */
  readonly sizeOf: (entry: DesiredRealm | DesiredDocument) => number
  /** Claims of what the data plane holds under an id; none where that is not known. */
  readonly heldClaims: (id: string) => readonly Claim[]
  /** Edited just now: not in one batch with what has waited for long, so that it is in force sooner. */
  readonly isLive: (document: DesiredDocument) => boolean
}

const BATCH_MAX_SIZE = 2_000_000
const BATCH_MAX_ITEMS = 200

/** A group that is larger than a batch may be is a batch of its own. */
export const planBatches = (difference: Difference, facts: BatchFacts): readonly Batch[] => {
  const units = unitsOf(difference, facts)
  const batches = fill(units)
  const realmDeletes = difference.realms.delete
  if (realmDeletes.length === 0) return batches
  // Last of all: the documents that used them are gone by then.
  const last = batches.at(-1) ?? EMPTY_BATCH
  return [...batches.slice(0, -1), { ...last, realmDeletes }]
}

export const EMPTY_BATCH: Batch = { realmPuts: [], puts: [], deletes: [], realmDeletes: [] }

/** What must not be parted. */
interface Unit {
  readonly batch: Batch
  readonly items: number
  readonly size: number
  readonly isLive: boolean
}

const unitsOf = ({ realms, documents }: Difference, facts: BatchFacts): readonly Unit[] => {
  const groups = groupsOf(documents, facts).map(({ puts, deletes }): Unit => ({
    batch: { ...EMPTY_BATCH, puts, deletes },
    items: puts.length + deletes.length,
    size: puts.reduce((sum, put) => sum + facts.sizeOf(put), 0),
    isLive: puts.some(facts.isLive),
  }))
  const ordered = [...groups.filter(({ isLive }) => isLive), ...groups.filter(isWaiting)]
  // Any document may need any of them: they travel with the first.
  const isLive = ordered[0]?.isLive ?? false
  const realmUnits = realms.put.map((realm): Unit => ({
    batch: { ...EMPTY_BATCH, realmPuts: [realm] },
    items: 1,
    size: facts.sizeOf(realm),
    isLive,
  }))
  return [...realmUnits, ...ordered]
}

const isWaiting = ({ isLive }: Unit): boolean => !isLive

const fill = (units: readonly Unit[]): readonly Batch[] => {
  const batches: Unit[] = []
  for (const unit of units) {
    const last = batches.at(-1)
    const fits =
      last?.isLive === unit.isLive &&
      last.items + unit.items <= BATCH_MAX_ITEMS &&
      last.size + unit.size <= BATCH_MAX_SIZE
    if (fits) batches.splice(-1, 1, join(last, unit))
    else batches.push(unit)
  }
  return batches.map(({ batch }) => batch)
}

const join = (left: Unit, right: Unit): Unit => ({
  batch: {
    realmPuts: [...left.batch.realmPuts, ...right.batch.realmPuts],
    puts: [...left.batch.puts, ...right.batch.puts],
    deletes: [...left.batch.deletes, ...right.batch.deletes],
    realmDeletes: [],
  },
  items: left.items + right.items,
  size: left.size + right.size,
  isLive: left.isLive,
})

interface Group {
  readonly puts: DesiredDocument[]
  readonly deletes: string[]
}

/** Ids that share a claim, held or wanted, are one group. */
const groupsOf = (
  { put, delete: deletes }: Difference['documents'],
  { heldClaims }: BatchFacts,
): readonly Group[] => {
  const leaders = new Leaders()
  for (const document of put) {
    leaders.join(document.id, [...document.claims, ...heldClaims(document.id)])
  }
  for (const id of deletes) leaders.join(id, heldClaims(id))
  const groups = new Map<string, Group>()
  const groupOf = (id: string): Group => {
    const leader = leaders.of(id)
    const group = groups.get(leader) ?? { puts: [], deletes: [] }
    groups.set(leader, group)
    return group
  }
  for (const document of put) groupOf(document.id).puts.push(document)
  for (const id of deletes) groupOf(id).deletes.push(id)
  return [...groups.values()]
}

/** Disjoint sets of ids, joined by claims. */
class Leaders {
  readonly #parent = new Map<string, string>()
  readonly #byClaim = new Map<string, string>()

  join(id: string, claims: readonly Claim[]): void {
    for (const { key } of claims) {
      const other = this.#byClaim.get(key)
      if (other === undefined) this.#byClaim.set(key, id)
      else this.#union(id, other)
    }
  }

  of(id: string): string {
    let leader = id
    for (let up = this.#parent.get(leader); up !== undefined; up = this.#parent.get(leader))
      leader = up
    if (leader !== id) this.#parent.set(id, leader)
    return leader
  }

  #union(left: string, right: string): void {
    const [leader, other] = [this.of(left), this.of(right)]
    if (leader !== other) this.#parent.set(leader, other)
  }
}
