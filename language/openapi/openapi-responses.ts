// Describes the responses of an operation for OpenAPI: what a success and a failure of its action become, and what the
// gateway refuses by itself.

import { actionResponse, canFail } from '../compile/action.ts'
import type { CompiledOperation } from '../compile/compiled.ts'
import type { Method } from '../document.ts'
import type { Template } from '../expression/template.ts'
import { isMap, type ValueMap } from '../expression/value.ts'
import { EVENT_STREAM } from '../routes/negotiate.ts'
import { describeRefusals, ERROR_CONTENT, FAILURE } from './openapi-errors.ts'

export const describeResponses = (
  method: Method,
  operation: CompiledOperation,
  isWorded: boolean,
): ValueMap => {
  const responses: Record<string, ValueMap> = {
    default: failureOf(operation),
    ...describeRefusals(method, operation, isWorded),
  }
  for (const [status, response] of Object.entries({
    ...declaredFailure(operation),
    ...successOf(method, operation),
  }))
    responses[status] = response
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      method === 'head' || BODILESS.has(status) ? withoutContent(response) : response,
    ]),
  )
}

/** RFC 9110: responses with these statuses have no body. */
const BODILESS: ReadonlySet<string> = new Set(['204', '205', '304'])

const withoutContent = (response: ValueMap): ValueMap =>
  Object.fromEntries(Object.entries(response).filter(([name]) => name !== 'content'))

const successOf = (
  method: Method,
  operation: CompiledOperation,
): Readonly<Record<string, ValueMap>> => {
  const { onResult, provides, headers: own } = operation
  const { headers, body, givesStatus, checksAccept, events } = actionResponse(operation)
  const types = checksAccept ? provides : ['*/*']
  const content = contentOf(
    events === 'endless' ? [EVENT_STREAM] : types,
    onResult.headers ?? headers ?? own,
  )
  const { statusCode, uri } = onResult
  const status = statusCode && statusOf(statusCode)
  if (status !== undefined) return { [status]: { description: 'Success.', content } }
  if (statusCode !== undefined)
    return { '2XX': { description: 'Success; the status depends on the outcome.', content } }
  if (givesStatus) return { '2XX': { description: 'What the upstream responds with.', content } }
  const made = method === 'post' && uri !== undefined
  return {
    ...(made && { 201: { description: 'It has been made.', content } }),
    ...usualSuccess(method, onResult.body ?? body, content),
  }
}

/** 204 where there is nothing to send, but for GET and HEAD. */
const usualSuccess = (
  method: Method,
  body: Template,
  content: ValueMap,
): Readonly<Record<string, ValueMap>> => {
  const payload = payloadOf(body)
  const mayLack = method !== 'get' && method !== 'head'
  const without = { description: 'Success, without a body.' }
  if (payload === 'none') return mayLack ? { 204: without } : { 200: without }
  const full = { 200: { description: 'Success.', content } }
  return mayLack && payload === 'unknown' ? { ...full, 204: without } : full
}

/** Whether a body is empty, as far as that is known. */
const payloadOf = (body: Template): 'none' | 'some' | 'unknown' => {
  if (body.kind === 'constant') return body.value === '' || body.value === null ? 'none' : 'some'
  return body.kind === 'map' || body.kind === 'list' ? 'some' : 'unknown'
}

/** The response to failures for which no status is said. */
const failureOf = (operation: CompiledOperation): ValueMap => {
  const { onError, provides, headers } = operation
  const passes = actionResponse(operation).givesStatus && !onError.declared
  if (passes)
    return {
      description: 'An error of the upstream as it is, or the error record.',
      content: { ...ERROR_CONTENT, '*/*': {} },
    }
  if (onError.body === undefined || onError.statusCode?.kind === 'constant') return FAILURE
  const own = contentOf(provides, onError.headers ?? headers)
  return { description: 'An error.', content: { ...ERROR_CONTENT, ...own } }
}

/** The responses to failures with a status that the document says. */
const declaredFailure = (operation: CompiledOperation): Readonly<Record<string, ValueMap>> => {
  const { onError, provides, headers, action } = operation
  const status = onError.statusCode && statusOf(onError.statusCode)
  if (status === undefined || !canFail(action)) return {}
  const content =
    onError.body === undefined ? ERROR_CONTENT : contentOf(provides, onError.headers ?? headers)
  return { [status]: { description: 'The action failed.', content } }
}

const statusOf = (template: Template): string | undefined =>
  template.kind === 'constant' &&
  (typeof template.value === 'number' || typeof template.value === 'string')
    ? String(template.value)
    : undefined

/** Schemas and examples of results stand here once documents have them. */
const contentOf = (types: readonly string[], headers: Template): ValueMap =>
  Object.fromEntries((ownTypes(headers) ?? types).map((type) => [type, {}]))

/** The media type that headers of the document set in place of a negotiated one. */
const ownTypes = (headers: Template): readonly string[] | undefined => {
  if (headers.kind === 'constant') {
    const value = isMap(headers.value)
      ? Object.entries(headers.value).findLast(([name]) => isContentType(name))?.[1]
      : undefined
    return value === undefined || value === null ? undefined : [mediaTypeOr(value)]
  }
  if (headers.kind !== 'map') return undefined
  const entry = headers.entries.findLast(([name]) => isContentType(name))
  if (entry === undefined) return undefined
  return [entry[1].kind === 'constant' ? mediaTypeOr(entry[1].value) : '*/*']
}

const isContentType = (name: string): boolean => name.toLowerCase() === 'content-type'

const mediaTypeOr = (value: unknown): string =>
  typeof value === 'string' && value.includes('/') ? value : '*/*'
