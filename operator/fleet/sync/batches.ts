// Plans the sync calls for a difference. Realms are sent before the documents that use them; documents that take over claims
// from each other are sent together, so that a route is never without an owner; large documents, which take seconds to
// compile, are sent alone, so that no other document waits for them.

import { isSameList } from '../../../base/same-entries.ts'
import type { Claim } from '../../../language/compile/conflicts.ts'
import type { DesiredDocument, DesiredRealm } from '../../desired-set.ts'
import type { Comparison } from './comparison.ts'
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
  /** Claims of what the data plane has loaded under an id; none where that is not known. */
  readonly loadedClaims: (id: string) => readonly Claim[]
  /** Edited just now: not in one batch with what has waited for long, so that it is in force sooner. */
  readonly isLive: (document: DesiredDocument) => boolean
}

export interface BatchPlan {
  readonly batches: readonly Batch[]
  /** So many, from the first on, are of what was edited just now and is quickly loaded. */
  readonly urgentCount: number
}

/**
 * Once for all data planes that have loaded the same and are sent the same: of 10,000 documents a plan takes 50 ms. Those
 * that reject different documents, or not at all, get their own.
 */
export const planOnce = (
  comparison: Comparison,
  difference: Difference,
  facts: BatchFacts,
): BatchPlan => {
  const live = difference.documents.put.map(facts.isLive)
  const last = lastPlans.get(comparison)
  if (last && isSameList(last.live, live) && isSameDifference(last.difference, difference))
    return last.plan
  const plan = planBatches(difference, facts)
  lastPlans.set(comparison, { difference, live, plan })
  return plan
}

const lastPlans = new WeakMap<
  Comparison,
  { readonly difference: Difference; readonly live: readonly boolean[]; readonly plan: BatchPlan }
>()

const isSameDifference = (left: Difference, right: Difference): boolean =>
  isSameList(left.documents.put, right.documents.put) &&
  isSameList(left.documents.delete, right.documents.delete) &&
  isSameList(left.realms.put, right.realms.put) &&
  isSameList(left.realms.delete, right.realms.delete)

const BATCH_MAX_SIZE = 2_000_000
const BATCH_MAX_ITEMS = 200
/** Beyond these a data plane compiles a document in a worker, for up to ten seconds, while the call waits. */
const LARGE_SIZE = 64 * 1024
const LARGE_CLAIMS = 1000

/** A group that is larger than a batch may be is a batch of its own. */
export const planBatches = (difference: Difference, facts: BatchFacts): BatchPlan => {
  const filled = fill(unitsOf(difference, facts))
  const batches = filled.map(({ batch }) => batch)
  const firstOther = filled.findIndex((unit) => !isUrgent(unit))
  const urgentCount = firstOther === -1 ? filled.length : firstOther
  const realmDeletes = difference.realms.delete
  if (realmDeletes.length === 0) return { batches, urgentCount }
  // Last of all: the documents that used them are gone by then.
  const last = batches.at(-1) ?? EMPTY_BATCH
  return { batches: [...batches.slice(0, -1), { ...last, realmDeletes }], urgentCount }
}

const EMPTY_BATCH: Batch = { realmPuts: [], puts: [], deletes: [], realmDeletes: [] }

/** What must not be parted. */
interface Unit {
  readonly batch: Batch
  readonly items: number
  readonly size: number
  readonly isLive: boolean
  readonly isLarge: boolean
}

const isUrgent = ({ isLive, isLarge }: Unit): boolean => isLive && !isLarge

/**
 * What was edited just now; what has waited; last, one by one, what is large, the latest edits at the end, so that who
 * edits all the time waits for the others. Whatever comes meanwhile, each round sends one batch more than the urgent.
 */
const inOrder = (units: readonly Unit[]): readonly Unit[] => {
  const { small = [], large = [] } = Object.groupBy(units, (unit) =>
    unit.isLarge ? 'large' : 'small',
  )
  const waiting = small.filter((unit) => !unit.isLive)
  return [...small.filter(isUrgent), ...waiting, ...large.toReversed()]
}

const unitsOf = ({ realms, documents }: Difference, facts: BatchFacts): readonly Unit[] => {
  const groups = groupsOf(documents, facts).map(({ puts, deletes }): Unit => ({
    batch: { ...EMPTY_BATCH, puts, deletes },
    items: puts.length + deletes.length,
    size: puts.reduce((sum, put) => sum + facts.sizeOf(put), 0),
    isLive: puts.some(facts.isLive),
    isLarge: puts.some((put) => isLargeDocument(put, facts)),
  }))
  const ordered = inOrder(groups)
  // Any document may need any of them: they travel with the first.
  const isLive = ordered.some(isUrgent)
  const realmUnits = realms.put.map((realm): Unit => ({
    batch: { ...EMPTY_BATCH, realmPuts: [realm] },
    items: 1,
    size: facts.sizeOf(realm),
    isLive,
    isLarge: false,
  }))
  return [...realmUnits, ...ordered]
}

const isLargeDocument = (document: DesiredDocument, { sizeOf }: BatchFacts): boolean =>
  sizeOf(document) > LARGE_SIZE || document.claims.length > LARGE_CLAIMS

const fill = (units: readonly Unit[]): readonly Unit[] => {
  const batches: Unit[] = []
  for (const unit of units) {
    const last = batches.at(-1)
    const fits =
      last?.isLive === unit.isLive &&
      !last.isLarge &&
      !unit.isLarge &&
      last.items + unit.items <= BATCH_MAX_ITEMS &&
      last.size + unit.size <= BATCH_MAX_SIZE
    if (fits) batches.splice(-1, 1, join(last, unit))
    else batches.push(unit)
  }
  return batches
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
  isLarge: false,
})

interface Group {
  readonly puts: DesiredDocument[]
  readonly deletes: string[]
}

/** Ids that share a claim, loaded or wanted, are one group. */
const groupsOf = (
  { put, delete: deletes }: Difference['documents'],
  { loadedClaims }: BatchFacts,
): readonly Group[] => {
  // Nearly always: it shares claims with none.
  if (put.length + deletes.length === 1) return [{ puts: [...put], deletes: [...deletes] }]
  const leaders = new Leaders()
  for (const document of put) {
    leaders.join(document.id, [...document.claims, ...loadedClaims(document.id)])
  }
  for (const id of deletes) leaders.join(id, loadedClaims(id))
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
