// Bounds the size that a document may expand to, as inherited or referenced values count each time that they are used. A few
// hundred kilobytes could otherwise keep a gateway busy for hours, or fill its memory.

import { INVALID, weightOf } from '../expression/fold.ts'
import type { Template } from '../expression/template.ts'
import type { Diagnostics } from './diagnostics.ts'

export interface ExpansionBudget {
  /** The template; `INVALID` once the budget is used up. */
  take(template: Template, pointer: string): Template
  /** Call it before a structure of `values` values is built. @returns false: the budget is used up */
  spend(values: number, pointer: string): boolean
}

/** 4 MiB of JSON hold a million values, and a million are validated in a second. */
const MAX_VALUES = 4_000_000

/** For one document. Reports once that the budget is used up. */
export const createExpansionBudget = (diagnostics: Diagnostics): ExpansionBudget => {
  let left = MAX_VALUES
  const spend = (values: number, pointer: string): boolean => {
    if (left >= 0 && values > left)
      diagnostics.problem(
        'invalid_value',
        pointer,
        `With all that is inherited and referred to, the document stands for more than ${MAX_VALUES} values`,
      )
    left = values > left ? -1 : left - values
    return left >= 0
  }
  return {
    spend,
    take: (template, pointer) => (spend(weightOf(template), pointer) ? template : INVALID),
  }
}
