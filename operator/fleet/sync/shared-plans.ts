// Plans once for all data planes what many of them are sent: all documents to those that have nothing, as a hundred that
// start together lack the same 10,000, of which a plan costs 50 ms and 20 MB while it is made; and the document that was
// edited, which all lack.

import { type BatchFacts, type BatchPlan, planBatches } from './batches.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import type { Difference } from './difference.ts'

interface Planned {
  readonly since: number
  readonly difference: Difference
  readonly plan: BatchPlan
}

export class SharedPlans {
  #last: Planned | undefined
  /** Of a document that is sent alone. */
  readonly #alone = new WeakMap<
    DesiredDocument,
    { readonly isLive: boolean; readonly plan: BatchPlan }
  >()

  /** Something else is desired: nothing of before is kept. */
  forget(): void {
    this.#last = undefined
  }

  /**
   * @param since version of the desired set: what came later is an edit
   * @param isBlank the data plane has nothing, and was sent nothing: no claim is loaded there
   */
  plan(
    difference: Difference,
    facts: BatchFacts,
    { since, isBlank }: { readonly since: number; readonly isBlank: boolean },
  ): BatchPlan {
    const alone = onlyPut(difference)
    if (alone !== undefined) return this.#planAlone(alone, difference, facts)
    if (!isBlank) return planBatches(difference, facts)
    const last = this.#last
    if (last?.since === since && isSameDifference(last.difference, difference)) return last.plan
    const plan = planBatches(difference, facts)
    this.#last = { since, difference, plan }
    return plan
  }

  /** Whatever is loaded: alone it is in no one's way, and there is nothing to order. */
  #planAlone(document: DesiredDocument, difference: Difference, facts: BatchFacts): BatchPlan {
    const isLive = facts.isLive(document)
    const known = this.#alone.get(document)
    if (known?.isLive === isLive) return known.plan
    const plan = planBatches(difference, facts)
    this.#alone.set(document, { isLive, plan })
    return plan
  }
}

/** Undefined: there is more to do, or less. */
const onlyPut = ({ documents, realms }: Difference): DesiredDocument | undefined =>
  documents.put.length + documents.delete.length + realms.put.length + realms.delete.length === 1
    ? documents.put[0]
    : undefined

const isSameDifference = (left: Difference, right: Difference): boolean =>
  isSameList(left.documents.put, right.documents.put) &&
  isSameList(left.documents.delete, right.documents.delete) &&
  isSameList(left.realms.put, right.realms.put) &&
  isSameList(left.realms.delete, right.realms.delete)

const isSameList = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((each, index) => each === right[index])
