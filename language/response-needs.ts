// Determines at load what an operation needs of an upstream's response: whether the body passes through unread, and
// which side of the document reads it.

import type { ContextRead } from './expression/reads.ts'
import type { CompiledOperation, CompiledResponse } from './compiled.ts'
import { readsOf } from './expression/reads.ts'

export interface ResponseNeeds {
  /** `on_result` passes the body through unchanged, or is left out, and nothing else reads it. */
  readonly passesThrough: boolean
  readonly readsResultBody: boolean
  readonly readsErrorBody: boolean
}

export const responseNeedsOf = ({
  onResult,
  onError,
}: Pick<CompiledOperation, 'onResult' | 'onError'>): ResponseNeeds => {
  const readsResultBody = reads(onResult, RESULT_BODY)
  const { body, ...rest } = onResult
  const isUnchanged =
    body === undefined ||
    (body.kind === 'read' && body.root === 'action' && body.keys.join() === 'result,body')
  return {
    passesThrough: isUnchanged && !reads(rest, RESULT_BODY),
    readsResultBody,
    readsErrorBody: reads(onError, ERROR_BODY),
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
  [response.headers, response.body, response.statusCode, response.uri].some(
    (template) => template !== undefined && readsOf(template).some((read) => body.has(read)),
  )
