// Binds reads of `status_codes` to the operation's own merged map, also in a variable that an ancestor has folded. So
// such reads wait until an operation uses them, and become values here wherever nothing else waits.

import { childPointer } from '../../base/json-pointer.ts'
import type { StatusCodes } from './compiled.ts'
import { ExpressionError } from '../expression/errors.ts'
import { someRead } from '../expression/reads.ts'
import { WORK_AT_LOAD } from '../expression/functions/spend.ts'
import { evaluator } from '../expression/run.ts'
import type { LoadBudget } from '../expression/scope.ts'
import { constant, type PipeArgument, type Root, type Template } from '../expression/template.ts'
import { INVALID, fold } from '../expression/fold.ts'
import type { Value } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { Scope } from './scope.ts'

interface Binding {
  readonly codes: StatusCodes
  readonly budget: LoadBudget
  readonly diagnostics: Diagnostics
}

/** Folds a value that an operation uses: everything known at load is a value afterwards. */
export const foldInScope = (
  value: Value,
  pointer: string,
  scope: Scope,
  diagnostics: Diagnostics,
): Template => {
  const template = scope.budget.take(
    fold(value, pointer, scope.foldScope, diagnostics.report),
    pointer,
  )
  const { budget } = scope.foldScope
  return bindStatusCodes(template, pointer, { codes: scope.statusCodes, budget, diagnostics })
}

/** The template with all that reads status codes alone evaluated; what fails is reported and `INVALID`. */
const bindStatusCodes = (template: Template, pointer: string, binding: Binding): Template => {
  if (!someRead(template, isStatusCodes)) return template
  if (!someRead(template, isOther) && !draws(template)) return evaluate(template, pointer, binding)
  const bind = (child: Template, key: string | number): Template =>
    bindStatusCodes(child, childPointer(pointer, key), binding)
  switch (template.kind) {
    case 'map':
      return {
        ...template,
        entries: template.entries.map(([key, child]) => [key, bind(child, key)] as const),
      }
    case 'list':
      return { kind: 'list', items: template.items.map(bind) }
    case 'constant':
    case 'read':
      return template
    case 'text':
    case 'pipe':
      // What waits for something else as well looks the codes up for each request.
      return template
  }
}

const isStatusCodes = (root: Root): boolean => root === 'status_codes'
const isOther = (root: Root): boolean => root !== 'status_codes'

const evaluate = (template: Template, pointer: string, binding: Binding): Template => {
  const context = {
    request: {},
    action: {},
    security: {},
    status_codes: binding.codes,
    budget: binding.budget.left,
    work: binding.budget.work ?? WORK_AT_LOAD,
  }
  try {
    const value = evaluator(template)(context)
    binding.budget.left = context.budget
    binding.budget.work = context.work
    return constant(value)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    binding.diagnostics.problem('invalid_expression', pointer, error.message)
    return INVALID
  }
}

/** `random` is drawn for each request, never at load. */
const draws = (template: PipeArgument): boolean => {
  switch (template.kind) {
    case 'pipe':
      return (
        draws(template.input) ||
        template.calls.some(({ name, args }) => name === 'random' || args.some(draws))
      )
    case 'text':
      return template.parts.some((part) => typeof part !== 'string' && draws(part))
    case 'list':
      return template.items.some(draws)
    case 'map':
      return template.entries.some(([, child]) => draws(child))
    case 'constant':
    case 'read':
    case 'piped':
      return false
  }
}
