// Describes one operation for OpenAPI: what a client sends, and what it gets.

import { actionResponse } from '../compile/action.ts'
import { isHeaderName } from '../compile/headers.ts'
import { mapTemplates } from '../compile/map-templates.ts'
import { authSchemesOf, credentialPlaceOf } from '../compile/security.ts'
import { readsBody } from '../compile/unsuitable-types.ts'
import type { CompiledOperation } from '../compile/compiled.ts'
import type { Method } from '../document.ts'
import { childrenOf } from '../expression/children.ts'
import { textAt } from '../expression/members.ts'
import type { PipeArgument } from '../expression/template.ts'
import { isMap, type ValueMap } from '../expression/value.ts'
import { isWithBody } from '../routes/negotiate.ts'
import type { OpenApiPath } from './openapi-path.ts'
import { inJson, requestExamples, withExamples, type Words } from './openapi-examples.ts'
import type { DescribedSchemas } from './openapi-schemas.ts'
import { describeResponses, type ResponseParts } from './openapi-responses.ts'

interface Given extends ResponseParts {
  readonly method: Method
  readonly operation: CompiledOperation
  readonly path: OpenApiPath
  readonly words: Words
  readonly isDeprecated: boolean
  readonly operationId: string
  readonly security: readonly ValueMap[]
}

/** An Operation Object. */
export const describeOperation = (given: Given): ValueMap => {
  const { method, operation, path, isDeprecated, operationId, security } = given
  const parameters = parametersOf(operation, path, given.schemas)
  return {
    operationId,
    ...wordsOf(given.words),
    ...(isDeprecated && { deprecated: true }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(method, operation, given),
    responses: withExamples(describeResponses(method, operation, given), given.words),
    security,
  }
}

const wordsOf = ({ path, operation }: Words): ValueMap => {
  const { info } = operation
  const own = isMap(info) ? info : {}
  const summary = typeof info === 'string' ? info : textAt(own, 'summary') || textAt(own, 'title')
  const said = {
    summary: summary || textAt(path, 'summary'),
    description: textAt(own, 'description') || textAt(path, 'description'),
  }
  return Object.fromEntries(Object.entries(said).filter(([, text]) => text !== ''))
}

/** The schema of parameters that declare none. */
const ANY_TEXT = { type: 'string' }

const parametersOf = (
  operation: CompiledOperation,
  path: OpenApiPath,
  schemas: DescribedSchemas,
): readonly ValueMap[] => {
  const bindings = schemas.parametersOf('bindings')
  const last = path.parameters.length - 1
  const inPath = path.parameters.map((name, index) => ({
    name,
    in: 'path',
    required: true,
    ...(path.tail === 'filled' &&
      index === last && { description: 'The rest of the path: it may hold slashes.' }),
    schema: bindings.get(name)?.schema ?? ANY_TEXT,
  }))
  const { query, headers } = namesRead(operation)
  return [
    ...inPath,
    ...declared(query, schemas.parametersOf('query_params'), 'query'),
    ...declared(headers, schemas.parametersOf('headers'), 'header').filter(
      ({ name }) => typeof name === 'string' && isSent(name, operation),
    ),
  ]
}

/** Parameters that are read or declared. */
const declared = (
  read: readonly string[],
  schemas: ReturnType<DescribedSchemas['parametersOf']>,
  place: 'query' | 'header',
): readonly ValueMap[] =>
  [...new Set([...read, ...schemas.keys()])].sort().map((name) => {
    const { schema, isRequired } = schemas.get(name) ?? { schema: ANY_TEXT, isRequired: false }
    return { name, in: place, ...(isRequired && { required: true }), schema }
  })

interface NamesRead {
  readonly query: readonly string[]
  readonly headers: readonly string[]
}

/** Names of query parameters and headers that expressions of an operation read one by one. */
const namesRead = (operation: CompiledOperation): NamesRead => {
  const query = new Set<string>()
  const headers = new Set<string>()
  const collect = (template: PipeArgument): void => {
    if (template.kind === 'constant' || template.kind === 'piped') return
    if (template.kind !== 'read') {
      childrenOf(template).forEach(collect)
      return
    }
    const [member, name] = template.root === 'request' ? template.keys : []
    if (name === undefined) return
    if (member === 'query_params') query.add(name)
    if (member === 'headers' && isHeaderName(name)) headers.add(name.toLowerCase())
  }
  mapTemplates(operation, (template) => {
    collect(template)
    return template
  })
  return { query: [...query], headers: [...headers] }
}

/** Whether a header is one that a client would not send by itself or as a credential. */
const isSent = (name: string, { security }: CompiledOperation): boolean =>
  !OF_CLIENTS.has(name) &&
  isHeaderName(name) &&
  authSchemesOf(security).every((scheme) => credentialPlaceOf(scheme).header !== name)

/** Clients send these by themselves, or OpenAPI says them elsewhere. */
const OF_CLIENTS: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'cookie',
  'host',
  'origin',
  'referer',
  'transfer-encoding',
  'user-agent',
])

const requestBodyOf = (
  method: Method,
  operation: CompiledOperation,
  { words, schemas: { body } }: Given,
): ValueMap => {
  const reads = readsBody(operation) || body !== undefined
  const isTaken = reads || (isWithBody(method) && actionResponse(operation).takesBody)
  if (!isTaken) return {}
  const content = Object.fromEntries(
    operation.accepts.map((type) => [type, body === undefined ? {} : { schema: body }]),
  )
  const shown = inJson(content, requestExamples(words))
  return { requestBody: { ...(body !== undefined && { required: true }), content: shown } }
}
