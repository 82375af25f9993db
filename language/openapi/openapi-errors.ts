// Describes for OpenAPI what the gateway refuses by itself: the error record (§2.14) as a component, and which statuses an
// operation may refuse with.

import { actionResponse } from '../compile/action.ts'
import { authSchemesOf } from '../compile/security.ts'
import { readsBody } from '../compile/unsuitable-types.ts'
import { type CompiledOperation, describesRequests, SCHEMA_ENTRIES } from '../compile/compiled.ts'
import type { Method } from '../document.ts'
import type { ValueMap } from '../expression/value.ts'
import { isWithBody, PROBLEM_JSON } from '../routes/negotiate.ts'

const TEXT = { type: 'string' }

const RECORD = { $ref: '#/components/schemas/Error' }

const contentOf = (record: ValueMap, problem: ValueMap): ValueMap => ({
  'application/json': { schema: record },
  'application/msgpack': { schema: record },
  [PROBLEM_JSON]: { schema: problem },
})

const PROBLEM = { $ref: '#/components/schemas/Problem' }

/** What error records come in. */
export const ERROR_CONTENT: ValueMap = contentOf(RECORD, PROBLEM)

/** What is wrong with a request that a schema of the document refuses. */
const ERRORS = {
  properties: {
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['in', 'pointer', 'keyword'],
        properties: {
          in: { type: 'string', enum: [...SCHEMA_ENTRIES] },
          pointer: TEXT,
          keyword: TEXT,
          property: TEXT,
        },
      },
    },
  },
}

/** `components.schemas` of every description. */
export const ERROR_SCHEMAS: ValueMap = {
  Error: {
    type: 'object',
    description: 'An error record; it may have more members.',
    required: ['code', 'message', 'description'],
    properties: { code: TEXT, message: TEXT, description: TEXT, request_id: TEXT },
  },
  Problem: {
    type: 'object',
    description: 'An error record as problem details (RFC 9457).',
    required: ['type', 'title', 'status', 'code', 'message', 'description'],
    properties: {
      type: TEXT,
      title: TEXT,
      status: { type: 'integer' },
      detail: TEXT,
      instance: TEXT,
      code: TEXT,
      message: TEXT,
      description: TEXT,
      request_id: TEXT,
    },
  },
  InvalidData: { description: 'The error record of an invalid request.', allOf: [RECORD, ERRORS] },
  InvalidDataProblem: {
    description: 'The error record of an invalid request as problem details (RFC 9457).',
    allOf: [PROBLEM, ERRORS],
  },
}

/** In place of `BadRequest` where a schema describes what an operation takes. */
const INVALID_DATA = {
  name: 'InvalidData',
  description: 'The request is not what the operation takes: `errors` has what is wrong.',
}

const REFUSALS = {
  400: { name: 'BadRequest', description: 'The request is invalid.' },
  401: { name: 'Unauthorized', description: 'Credentials are missing or wrong.' },
  403: { name: 'Forbidden', description: 'The caller may not do this.' },
  406: { name: 'NotAcceptable', description: 'No media type that the client accepts is provided.' },
  409: { name: 'Conflict', description: 'The same signed delivery was taken before.' },
  413: { name: 'ContentTooLarge', description: 'The body is too large.' },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The media type of the body is not accepted.',
  },
  429: { name: 'TooManyRequests', description: 'The caller has sent too many requests.' },
} as const

type RefusalStatus = keyof typeof REFUSALS

const STATUSES = Object.keys(REFUSALS).map(Number) as readonly RefusalStatus[]

/** The response to a failure with any other status. */
export const FAILURE: ValueMap = { $ref: '#/components/responses/Failure' }

const RETRY_AFTER = {
  description: 'Seconds until the same request may pass.',
  required: true,
  schema: { type: 'integer' },
}

/** draft-ietf-httpapi-ratelimit-headers. */
const LIMIT_FIELDS = {
  'RateLimit-Policy': { description: 'The limits, by name.', schema: TEXT },
  RateLimit: { description: 'What is left of each limit.', schema: TEXT },
}

const headersOf = (status: RefusalStatus, hasLimitFields = true): ValueMap =>
  status === 429
    ? { headers: { 'Retry-After': RETRY_AFTER, ...(hasLimitFields && LIMIT_FIELDS) } }
    : {}

/** `components.responses` of every description. */
export const ERROR_RESPONSES: ValueMap = Object.fromEntries([
  ...STATUSES.map((status) => {
    const { name, description } = REFUSALS[status]
    return [name, { description, ...headersOf(status), content: ERROR_CONTENT }] as const
  }),
  [
    INVALID_DATA.name,
    {
      description: INVALID_DATA.description,
      content: contentOf(
        { $ref: '#/components/schemas/InvalidData' },
        { $ref: '#/components/schemas/InvalidDataProblem' },
      ),
    },
  ],
  ['Failure', { description: 'An error.', content: ERROR_CONTENT }],
])

/**
 * Responses by status.
 * @param isWorded `on_refusal` gives the body of what is refused
 */
export const describeRefusals = (
  method: Method,
  operation: CompiledOperation,
  isWorded: boolean,
): Record<string, ValueMap> => {
  const schemes = authSchemesOf(operation.security)
  const isRestricted = operation.security.some(
    ({ type, groups, roles, scopes, networks }: Restricted) =>
      type === 'oidc' || [groups, roles, scopes, networks].some((each) => each !== undefined),
  )
  const asksFor = method !== 'options'
  const hasBody = isWithBody(method)
  const isChecked = describesRequests(operation.schema)
  const may: Readonly<Record<RefusalStatus, boolean>> = {
    400: readsBody(operation) || isChecked,
    401: asksFor && schemes.length > 0,
    403: asksFor && isRestricted,
    406: actionResponse(operation).checksAccept,
    409: asksFor && operation.security.some(isTakenOnce),
    413: hasBody,
    415: hasBody,
    429: asksFor && operation.rateLimits !== undefined,
  }
  return Object.fromEntries(
    STATUSES.filter((status) => may[status]).map((status) => {
      const { name, description } = status === 400 && isChecked ? INVALID_DATA : REFUSALS[status]
      const hasLimitFields = operation.rateLimits?.hasHeaders ?? true
      const isShared = !isWorded && (status !== 429 || hasLimitFields)
      const response = isShared
        ? { $ref: `#/components/responses/${name}` }
        : {
            description,
            ...headersOf(status, hasLimitFields),
            content: isWorded ? { '*/*': {} } : ERROR_CONTENT,
          }
      return [status, response]
    }),
  )
}

const isTakenOnce = ({ type, replays }: Restricted): boolean =>
  type === 'hmac' && replays === undefined

interface Restricted {
  readonly type: string
  readonly groups?: readonly string[]
  readonly roles?: readonly string[]
  readonly scopes?: readonly string[]
  readonly networks?: readonly string[]
  readonly replays?: 'pass'
}
