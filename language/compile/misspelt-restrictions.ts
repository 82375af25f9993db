// Reports names close to those of keys that restrict in a part of a document that an expression gives. Thousands of paths may
// be given the same part, which is searched once, and each search is taken from the allowance of the document.

import { weightOf } from '../expression/fold.ts'
import type { Template } from '../expression/template.ts'
import type { Problem } from '../problem.ts'
import { type GivenPart, misspeltRestrictions } from '../validate/unknown-properties.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { ExpansionBudget } from './expansion-budget.ts'
import { toPlain } from './plain.ts'

type Known = WeakMap<Template, readonly Problem[]>

const KNOWN: Readonly<Record<GivenPart, Known>> = {
  defaults: new WeakMap(),
  operation: new WeakMap(),
  optionsOperation: new WeakMap(),
}

interface Reporting {
  readonly budget: ExpansionBudget
  readonly diagnostics: Pick<Diagnostics, 'problem'>
}

/** @returns false: the allowance of the document is used up */
export const reportMisspelt = (
  part: GivenPart,
  template: Template,
  pointer: string,
  { budget, diagnostics }: Reporting,
): boolean => {
  const known = KNOWN[part].get(template)
  if (known === undefined && !budget.spend(weightOf(template), pointer)) return false
  const problems = known ?? misspeltRestrictions(part, toPlain(template))
  KNOWN[part].set(template, problems)
  for (const { code, path, message } of problems)
    diagnostics.problem(code, `${pointer}${path}`, message)
  return true
}
