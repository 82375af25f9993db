// Describes the responses of an operation for OpenAPI: what a success and a failure of its action become, and what the
// gateway refuses by itself.

import { actionResponse, canFail } from '../compile/action.ts'
import type { CompiledOperation, StatusCodes } from '../compile/compiled.ts'
import type { Method } from '../document.ts'
import { ownValue } from '../expression/lookup.ts'
import { constant, type Template } from '../expression/template.ts'
import { isMap, type Value, type ValueMap } from '../expression/value.ts'
import { mediaKind } from '../routes/media-kind.ts'
import { EVENT_STREAM } from '../routes/negotiate.ts'
import { describeRefusals, ERROR_CONTENT, FAILURE } from './openapi-errors.ts'
import type { DescribedSchemas } from './openapi-schemas.ts'

export interface ResponseParts {
  /** `on_refusal` words what is refused. */
  readonly isWorded: boolean
  readonly statusCodes: StatusCodes
  readonly schemas: DescribedSchemas
}

export const describeResponses = (
  method: Method,
  operation: CompiledOperation,
  { isWorded, statusCodes, schemas }: ResponseParts,
): ValueMap => {
  const responses: Record<string, ValueMap> = {
    default: failureOf(operation),
    ...invalidResultOf(operation, statusCodes),
    ...describeRefusals(method, operation, isWorded),
  }
  for (const [status, response] of Object.entries({
    ...declaredFailure(operation),
    ...successOf(method, operation, schemas),
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
  { resultAt }: DescribedSchemas,
): Readonly<Record<string, ValueMap>> => {
  const { onResult, provides, headers: own } = operation
  const { headers, body, givesStatus, checksAccept, events } = actionResponse(operation)
  const types = checksAccept ? provides : ['*/*']
  const shown = onResult.body ?? body
  const content = contentOf(
    events === 'endless' ? [EVENT_STREAM] : types,
    onResult.headers ?? headers ?? own,
    shapeOf(shown, resultAt),
  )
  const { statusCode, uri } = onResult
  const status = statusOf(statusCode ?? promised(givesStatus, resultAt))
  if (status !== undefined) return { [status]: { description: 'Success.', content } }
  if (statusCode !== undefined)
    return { '2XX': { description: 'Success; the status depends on the outcome.', content } }
  if (givesStatus) return { '2XX': { description: 'What the upstream responds with.', content } }
  const made = method === 'post' && uri !== undefined
  return {
    ...(made && { 201: { description: 'It has been made.', content } }),
    ...usualSuccess(method, shown, content),
  }
}

/** The status that the schema of the result allows alone. */
const promised = (givesStatus: boolean, resultAt: DescribedSchemas['resultAt']): Template => {
  const status = givesStatus ? ownValue(resultAt(['status_code']), 'const') : undefined
  return constant(typeof status === 'number' && /^[1-5]\d\d$/.test(`${status}`) ? status : null)
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

/** The response where `schema_mode: enforce` withholds the result, and `on_error` gives no status. */
const invalidResultOf = (
  { schema, onError, provides, headers }: CompiledOperation,
  { 'svc.error.invalid_result': status = 502 }: StatusCodes,
): Readonly<Record<string, ValueMap>> => {
  if (schema?.isEnforced !== true || onError.statusCode !== undefined) return {}
  const content =
    onError.body === undefined ? ERROR_CONTENT : contentOf(provides, onError.headers ?? headers)
  return { [status]: { description: 'The result is not what is described here.', content } }
}

const statusOf = (template: Template): string | undefined =>
  template.kind === 'constant' &&
  (typeof template.value === 'number' || typeof template.value === 'string')
    ? String(template.value)
    : undefined

/** What a template is, as far as it reads what a schema describes; nothing of its own values. */
const shapeOf = (template: Template, resultAt: DescribedSchemas['resultAt']): Value | undefined => {
  if (template.kind === 'read') {
    const [member, ...keys] = template.keys
    return template.root === 'action' && member === 'result' ? resultAt(keys) : undefined
  }
  if (template.kind !== 'map') return undefined
  const properties = template.entries.flatMap(([name, value]) => {
    const shape = shapeOf(value, resultAt)
    return shape === undefined ? [] : [[name, shape] as const]
  })
  return properties.length === 0
    ? undefined
    : { type: 'object', properties: Object.fromEntries(properties) }
}

const contentOf = (types: readonly string[], headers: Template, schema?: Value): ValueMap =>
  Object.fromEntries(
    (ownTypes(headers) ?? types).map((type) => [
      type,
      schema !== undefined && isOfValues(type) ? { schema } : {},
    ]),
  )

const isOfValues = (type: string): boolean =>
  type === '*/*' || ['json', 'msgpack'].includes(mediaKind(type))

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
