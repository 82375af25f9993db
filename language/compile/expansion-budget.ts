// Bounds how much a document may stand for: whatever is inherited or referred to costs each time that something uses
// it. A few hundred kilobytes could otherwise keep a gateway busy for hours, or fill its memory.

import { FAULT, weightOf } from '../expression/fold.ts'
import type { Template } from '../expression/template.ts'
import type { Diagnostics } from './diagnostics.ts'

export interface Allowance {
  /** The template; `FAULT` once all is used up. */
  take(template: Template, pointer: string): Template
  /** For a structure of so many values that is about to be built; false once the budget is used up. */
  spend(values: number, pointer: string): boolean
}

/** 4 MiB of JSON hold a million values, and a million are validated in a second. */
const MAX_VALUES = 4_000_000

/** One per document. Reports once that it is used up. */
export const createAllowance = (diagnostics: Diagnostics): Allowance => {
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
    take: (template, pointer) => (spend(weightOf(template), pointer) ? template : FAULT),
  }
}
