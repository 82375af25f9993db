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
import { inJson, requestExamples, withExamples } from './openapi-examples.ts'
import { describeResponses } from './openapi-responses.ts'

/** What a document says of an operation to people, as written. */
export interface Words {
  readonly path: ValueMap
  readonly operation: ValueMap
}

interface Given {
  readonly method: Method
  readonly operation: CompiledOperation
  readonly path: OpenApiPath
  readonly words: Words
  /** `on_refusal` words what is refused. */
  readonly isWorded: boolean
  readonly isDeprecated: boolean
  readonly operationId: string
  readonly security: readonly ValueMap[]
}

/** An Operation Object. */
export const describeOperation = (given: Given): ValueMap => {
  const { method, operation, path, isWorded, isDeprecated, operationId, security } = given
  const parameters = parametersOf(operation, path)
  return {
    operationId,
    ...wordsOf(given.words),
    ...(isDeprecated && { deprecated: true }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(method, operation, given.words),
    responses: withExamples(describeResponses(method, operation, isWorded), given.words),
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

/** Schemas of parameters stand here once documents have them. */
const ANY_TEXT = { schema: { type: 'string' } }

const parametersOf = (operation: CompiledOperation, path: OpenApiPath): readonly ValueMap[] => {
  const last = path.parameters.length - 1
  const inPath = path.parameters.map((name, index) => ({
    name,
    in: 'path',
    required: true,
    ...(path.tail === 'filled' &&
      index === last && { description: 'The rest of the path: it may hold slashes.' }),
    ...ANY_TEXT,
  }))
  const { query, headers } = namesRead(operation)
  return [
    ...inPath,
    ...query.map((name) => ({ name, in: 'query', ...ANY_TEXT })),
    ...headers.map((name) => ({ name, in: 'header', ...ANY_TEXT })),
  ]
}

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
  const credentials = authSchemesOf(operation.security).map(
    (scheme) => credentialPlaceOf(scheme).header,
  )
  const sent = [...headers].filter((name) => !OF_CLIENTS.has(name) && !credentials.includes(name))
  return { query: [...query].sort(), headers: sent.sort() }
}

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

/** Its schema stands here once documents have one. */
const requestBodyOf = (method: Method, operation: CompiledOperation, words: Words): ValueMap => {
  const reads = readsBody(operation)
  const isTaken = reads || (isWithBody(method) && actionResponse(operation).takesBody)
  if (!isTaken) return {}
  const content = Object.fromEntries(operation.accepts.map((type) => [type, {}]))
  return { requestBody: { content: inJson(content, requestExamples(words)) } }
}
