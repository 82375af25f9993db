// Decides whether something that is about to be stored in a namespace would be rejected by its quota, and in what
// words. Pure: a forecast for the webhook, as others may come first.

import type { NewCondition } from '../../resource/condition.ts'
import type { Quota } from './namespace-quotas.ts'
import { type Amounts, NOTHING, QUOTA_NAMES } from './quota-amounts.ts'
import { quotaExceeded } from './quota-words.ts'

export interface QuotaUse {
  readonly namespace: string
  readonly quota: Quota
  readonly used: Amounts
}

/**
 * Undefined: there is room for it.
 * @param before of the object as it is stored; nothing where it is new
 * @example quotaRejection(reconciler.quotaUse('shop'), amountsOf(document), amountsOf(oldDocument))
 */
export const quotaRejection = (
  { namespace, quota, used }: QuotaUse,
  wanted: Amounts,
  before: Amounts = NOTHING,
): NewCondition<'Accepted'> | undefined => {
  const { limits, misspelt } = quota
  const others = (name: keyof Amounts): number => Math.max(0, used[name] - before[name])
  const name = QUOTA_NAMES.find(
    (each) => wanted[each] > before[each] && others(each) + wanted[each] > limits[each],
  )
  if (name === undefined) return undefined
  const shortage = { quota: name, limit: limits[name], needed: wanted[name], others: others(name) }
  return quotaExceeded(namespace, { ...shortage, largest: undefined }, misspelt)
}
