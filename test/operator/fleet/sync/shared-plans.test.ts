// The plan of one data plane that has nothing is that of the next, as long as they lack the same.

import { expect, it } from '@jest/globals'
import { planBatches } from '../../../../operator/fleet/sync/batches.ts'
import { type Difference, NO_DIFFERENCE } from '../../../../operator/fleet/sync/difference.ts'
import { SharedPlans } from '../../../../operator/fleet/sync/shared-plans.ts'
import { aDocument, aRealm } from '../../../support/desired.ts'

const FACTS = { sizeOf: () => 100, loadedClaims: () => [], isLive: () => false }
const DOCUMENTS = Array.from({ length: 500 }, (_, index) => aDocument(`d${index}`))
const REALM = aRealm('com.shop')

const lacking = (put: readonly (typeof DOCUMENTS)[number][]): Difference => ({
  documents: { ...NO_DIFFERENCE.documents, put },
  realms: { put: [REALM], delete: [] },
})

it('is made once for all that lack the same, and again for others', () => {
  const plans = new SharedPlans()
  const planOf = (put = DOCUMENTS, since = 1, isBlank = true) =>
    plans.plan(lacking([...put]), FACTS, { since, isBlank })
  const first = planOf()
  expect(first).toEqual(planBatches(lacking(DOCUMENTS), FACTS))
  expect(planOf()).toBe(first)
  expect(planOf(DOCUMENTS, 1, false)).not.toBe(first)
  expect(planOf()).toBe(first)
  const other = planOf(DOCUMENTS.slice(1))
  expect(other).toEqual(planBatches(lacking(DOCUMENTS.slice(1)), FACTS))
  expect(planOf(DOCUMENTS.slice(1), 2)).not.toBe(other)
  const last = planOf()
  plans.forget()
  expect(planOf()).not.toBe(last)
})

it('is made once for a document that is sent alone, whatever a data plane has', () => {
  const plans = new SharedPlans()
  const planOf = (put = DOCUMENTS.slice(0, 1), isLive = true) =>
    plans.plan(
      { ...NO_DIFFERENCE, documents: { ...NO_DIFFERENCE.documents, put } },
      { ...FACTS, isLive: () => isLive },
      { since: 1, isBlank: false },
    )
  const first = planOf()
  expect(first).toMatchObject({ batches: [{ puts: [{ id: 'd0' }] }], urgentCount: 1 })
  plans.forget()
  expect(planOf()).toBe(first)
  expect(planOf(DOCUMENTS.slice(0, 1), false)).toMatchObject({ urgentCount: 0 })
  expect(planOf(DOCUMENTS.slice(1, 2))).toMatchObject({ batches: [{ puts: [{ id: 'd1' }] }] })
  expect(planOf(DOCUMENTS.slice(0, 2))).not.toBe(planOf(DOCUMENTS.slice(0, 2)))
})
