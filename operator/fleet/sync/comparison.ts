// Compares what should be loaded with what is, and plans what is to be sent: once for all data planes that have loaded the
// same and should have the same.

import { oncePer } from '../../../base/once.ts'
import { type BatchFacts, type BatchPlan, planBatches } from './batches.ts'
import type { Difference } from './difference.ts'
import { areClaimsKnown, type LoadedContents } from './loaded-contents.ts'
import type { Keys, Selection } from './selection.ts'

/** At which keys they differ. It goes with the selection. */
export class Comparison implements Keys {
  readonly documents = new Set<string>()
  readonly realms = new Set<string>()
  /** Ids of documents that are loaded as selected, without it being known which claims they have. */
  readonly unknown = new Set<string>()
  #last:
    | {
        readonly difference: Difference
        readonly live: readonly boolean[]
        readonly plan: BatchPlan
      }
    | undefined

  get isEmpty(): boolean {
    return this.documents.size + this.realms.size === 0
  }

  /** Of 10,000 documents a plan takes 50 ms: data planes that reject different documents, or not at all, get their own. */
  plan(difference: Difference, facts: BatchFacts): BatchPlan {
    const live = difference.documents.put.map(facts.isLive)
    const last = this.#last
    if (last && isSameList(last.live, live) && isSameDifference(last.difference, difference))
      return last.plan
    const plan = planBatches(difference, facts)
    this.#last = { difference, live, plan }
    return plan
  }
}

export const compare = (contents: LoadedContents, selection: Selection): Comparison =>
  comparedWith(selection)(contents)

const comparedWith = oncePer((selection: Selection) =>
  oncePer((contents: LoadedContents) => {
    const comparison = new Comparison()
    compareDocuments(selection.documents, contents.documents, comparison)
    const { realms } = contents
    for (const [uri, { digest }] of selection.realms)
      if (realms.get(uri) !== digest) comparison.realms.add(uri)
    for (const uri of realms.keys()) if (!selection.realms.has(uri)) comparison.realms.add(uri)
    return comparison
  }),
)

const compareDocuments = (
  wanted: Selection['documents'],
  has: LoadedContents['documents'],
  { documents: differing, unknown }: Comparison,
): void => {
  let common = 0
  for (const [id, document] of wanted) {
    const loaded = has.get(id)
    if (loaded !== undefined) common += 1
    if (loaded === undefined || !isSame(document, loaded)) differing.add(id)
    // Without a resource it was sent by an operator that is older: it goes on being reported so.
    else if (!areClaimsKnown(loaded) && loaded.resource !== '') unknown.add(id)
  }
  if (common === has.size) return
  for (const id of has.keys()) if (!wanted.has(id)) differing.add(id)
}

interface Comparable {
  readonly digest: string
  /** Absent or empty where it is not known. */
  readonly resource?: string | undefined
}

/**
 * The same text may belong to another resource now. If a gateway knows no resource of it, an earlier operator has sent it:
 * it is not sent again for that, as gateways would compile all documents again; metrics lack a name until the next edit.
 */
const isSame = (wanted: Comparable, has: Comparable): boolean =>
  wanted.digest === has.digest && (!has.resource || wanted.resource === has.resource)

const isSameDifference = (left: Difference, right: Difference): boolean =>
  isSameList(left.documents.put, right.documents.put) &&
  isSameList(left.documents.delete, right.documents.delete) &&
  isSameList(left.realms.put, right.realms.put) &&
  isSameList(left.realms.delete, right.realms.delete)

const isSameList = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((each, index) => each === right[index])
