// Checks what actions yield by `schema.result` of their operations. What is wrong is named by place and keyword, never by its
// value.

import { oncePer } from '../../base/once.ts'
import { canFail } from '../../language/compile/action.ts'
import type { CompiledOperation, CompiledSchemas } from '../../language/compile/compiled.ts'
import { responseNeedsOf } from '../../language/compile/response-needs.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { compileValidator, type Validate } from '../../language/json-schema/compile-validator.ts'
import { gatewayError } from '../actions/failure.ts'
import type { ActionError, Exchange } from '../actions/performer.ts'
import { boundDetail } from '../actions/request-failure.ts'

/** `count`: the results are not known whole, so they are counted as not checked. */
export type ResultCheck = 'count' | 'report' | 'enforce'

export type ResultValidity = 'valid' | 'invalid' | 'unchecked'

/** undefined: nothing describes the results, or the document itself gives them. */
export const resultCheckOf = (operation: CompiledOperation): ResultCheck | undefined => {
  const { action, schema } = operation
  if (schema?.result === undefined || !canFail(action)) return undefined
  if (schema.isEnforced === true) return 'enforce'
  if (action.type !== 'forward') return 'report'
  const { passesThrough, readsResultBody } = responseNeedsOf(operation)
  return passesThrough || !readsResultBody ? 'count' : 'report'
}

/** Called with what checking a result has found. */
export type OnResult = (validity: ResultValidity) => void

interface Checked extends Pick<Exchange, 'context' | 'explain'> {
  readonly operation: {
    readonly shape: {
      readonly resultCheck: ResultCheck | undefined
      readonly schema?: CompiledSchemas
    }
  }
}

/** Gives what the action has failed with, if its result may not be sent. */
export const checkResult = (
  exchange: Checked,
  result: ValueMap,
  onResult: OnResult,
): ActionError | undefined => {
  const { resultCheck, schema } = exchange.operation.shape
  if (resultCheck === undefined || schema === undefined) return undefined
  const errors = resultCheck === 'count' ? 'too_expensive' : validatorOf(schema).validate(result)
  const validity = validityOf(errors)
  onResult(validity)
  if (validity === 'invalid' || (validity === 'unchecked' && resultCheck === 'enforce'))
    exchange.explain({ reason: 'invalid_result', detail: detailOf(errors) })
  return resultCheck === 'enforce' && validity !== 'valid'
    ? invalidResult(exchange.context.status_codes)
    : undefined
}

type Errors = ReturnType<Validate>

const validityOf = (errors: Errors): ResultValidity => {
  if (errors === 'too_expensive') return 'unchecked'
  return errors.length === 0 ? 'valid' : 'invalid'
}

/** What is wrong first. */
const detailOf = (errors: Errors): string => {
  const [first] = errors
  if (first === undefined || typeof first === 'string') return 'too expensive to check'
  const { pointer, keyword, property } = first
  return boundDetail(`${pointer}: ${keyword}${property === undefined ? '' : ` (${property})`}`)
}

/** What goes to the client as it comes is not checked. */
export const countUnchecked = ({ operation }: Checked, onResult: OnResult): void => {
  if (operation.shape.resultCheck !== undefined) onResult('unchecked')
}

/** Compiled at the first result. */
const validatorOf = oncePer(({ result = true }: CompiledSchemas) => ({
  validate: compileValidator(result),
}))

/** What a client gets in its place: nothing of what the peer has sent. */
const invalidResult = (statusCodes: ValueMap): ActionError =>
  gatewayError(
    'svc.error.invalid_result',
    'The result is not what this operation promises.',
    statusCodes,
  )
