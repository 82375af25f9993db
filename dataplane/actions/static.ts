// Implements the static action (§2.5): the document's own headers and body. They are evaluated here only if a
// template of the response reads `action.result`; otherwise the response evaluates them itself, once.

import type { StaticAction } from '../../language/compile/static-action.ts'
import type { CompiledOperation } from '../../language/compile/compiled.ts'
import { asHeaderMap } from '../../language/expression/header-map.ts'
import { evaluator } from '../../language/expression/run.ts'
import { constant } from '../../language/expression/template.ts'
import { chargeCopy } from '../../language/expression/keys.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import type { Perform } from './performer.ts'

const NOTHING: ValueMap = Object.freeze({})

const succeed: Perform = (exchange) => {
  exchange.succeed(NOTHING)
}

export const prepareStatic = (operation: CompiledOperation, action: StaticAction): Perform => {
  const isRead = operation.reads.some((read) => read === 'action' || read.startsWith('action.'))
  if (!isRead) return succeed
  const headers = evaluator(action.headers ?? constant({}))
  const body = evaluator(action.body)
  return (exchange) => {
    const { context } = exchange
    const own = headers(context)
    if (isMap(own)) chargeCopy(own, context)
    exchange.succeed({ headers: asHeaderMap(own), body: body(context) })
  }
}
