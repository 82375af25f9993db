// Determines at load what an operation needs of an upstream's response: whether the body passes through unread, and
// which side of the document reads it.

import { type ContextRead, readsOf } from '../expression/reads.ts'
import type { CheckedResponses, CompiledResponse } from './compiled-response.ts'
import { childrenOf } from '../expression/children.ts'
import { STEP } from '../expression/functions/functions.ts'
import type { PipeArgument, PipeTemplate, Template } from '../expression/template.ts'

export interface ResponseNeeds {
  /** `on_result` passes the body through unchanged, or is left out, and nothing else reads it. */
  readonly passesThrough: boolean
  readonly readsResultBody: boolean
  readonly readsErrorBody: boolean
  /** There is no `on_error`: an error of the upstream passes through as it is. */
  readonly passesErrors: boolean
  /** `on_result` fails if the body of the result is empty: it reads a member of it. */
  readonly needsResultMember: boolean
}

export const responseNeedsOf = ({ onResult, onError, schema }: CheckedResponses): ResponseNeeds => {
  const isChecked = schema?.isEnforced === true
  const readsResultBody = isChecked || reads(onResult, RESULT_BODY)
  const { body, ...rest } = onResult
  const isUnchanged =
    body === undefined ||
    (body.kind === 'read' && body.root === 'action' && body.keys.join() === 'result,body')
  return {
    passesThrough: !isChecked && isUnchanged && !reads(rest, RESULT_BODY),
    readsResultBody,
    readsErrorBody: reads(onError, ERROR_BODY),
    passesErrors: !onError.declared,
    needsResultMember: templatesOf(onResult).some(readsMember),
  }
}

const RESULT_BODY: ReadonlySet<ContextRead> = new Set([
  'action',
  'action.result',
  'action.result.body',
])
const ERROR_BODY: ReadonlySet<ContextRead> = new Set([
  'action',
  'action.error',
  'action.error.body',
])

const reads = (response: CompiledResponse, body: ReadonlySet<ContextRead>): boolean =>
  templatesOf(response).some((template) => readsOf(template).some((read) => body.has(read)))

const templatesOf = ({ headers, body, statusCode, uri }: CompiledResponse): readonly Template[] =>
  [headers, body, statusCode, uri].filter((template) => template !== undefined)

/** Functions give the empty text unchanged, but it has no keys. */
const readsMember = (template: PipeArgument): boolean => {
  switch (template.kind) {
    case 'constant':
    case 'piped':
      return false
    case 'read':
      return template.keys.length > 2 && template.keys.slice(0, 2).join('.') === 'result.body'
    case 'pipe':
      return readsKeyOfBody(template) || childrenOf(template).some(readsMember)
    case 'map':
    case 'list':
    case 'text':
      return childrenOf(template).some(readsMember)
  }
}

/** A path that goes on after a pipe: `{{variables.order.id}}`, where the variable is one. */
const readsKeyOfBody = ({ input, calls }: PipeTemplate): boolean =>
  readsOf(input).includes('action.result.body') && calls.some(({ name }) => name === STEP)
