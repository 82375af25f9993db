// Sends requests that are made of OpenAPI descriptions to the documents that these describe: none is a 500, and those that
// break nothing but a schema are 400.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { env } from 'node:process'
import { expect, it } from '@jest/globals'
import { readDocuments } from '../../../cli/explain/read-documents.ts'
import { gatherFiles } from '../../../cli/validate/gather-files.ts'
import { createMockGateway } from '../../../dataplane/examples/mock-gateway.ts'
import type { CompiledApi } from '../../../language/compile/compiled.ts'
import { listExamples } from '../../../language/examples/list-examples.ts'
import { ownValue } from '../../../language/expression/lookup.ts'
import { listAt, mapAt, textAt } from '../../../language/expression/members.ts'
import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { describeVersion } from '../../../language/openapi/describe-version.ts'
import { compiledApi } from '../../language/examples/an-api.ts'
import { type HttpOptions, request } from '../../support/http-request.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { pick, type Random, schemaValues, type SchemaValues } from './schema-values.ts'

const SEED = Number(env['FC_SEED'] ?? 35)
const DOCUMENTS = env['REQUIRE_REAL'] === '1' ? 20 : 4

interface Sent {
  readonly method: string
  readonly path: string
  readonly query: readonly (readonly [string, string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: Value | undefined
}

/** Requests of every operation of a version: as described, and with one part that its schema refuses. */
const requestsOf = (described: ValueMap, random: Random) => {
  const values = schemaValues(described, random)
  return Object.entries(mapAt(described, 'paths')).flatMap(([template, item]) =>
    Object.entries(isMap(item) ? item : {}).map(([method, operation]) => {
      const given = { template, method, operation: isMap(operation) ? operation : {}, described }
      return {
        name: `${method} ${template}`,
        valid: () => requestOf(given, values, random),
        invalid: () => brokenRequest(given, values, random),
      }
    }),
  )
}

interface Given {
  readonly template: string
  readonly method: string
  readonly operation: ValueMap
  readonly described: ValueMap
}

const requestOf = (
  { template, method, operation, described }: Given,
  values: SchemaValues,
  random: Random,
  replaced: ReadonlyMap<Value, string | undefined> = new Map(),
): Sent => {
  let path = template
  const query: [string, string][] = []
  const headers: Record<string, string> = credentialsOf(operation, described)
  const sent = listAt(operation, 'parameters')
    .filter(isMap)
    .filter((each) => replaced.has(each) || each['required'] === true || random() < 0.6)
  for (const parameter of sent) {
    const name = textAt(parameter, 'name')
    const place = textAt(parameter, 'in')
    const given = replaced.get(parameter)
    const texts = replaced.has(parameter) ? [given ?? []].flat() : textsOf(parameter, values)
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(texts.join('')))
    else if (place === 'query') query.push(...texts.map((text) => [name, text] as [string, string]))
    else for (const text of texts) headers[name] = encodeURIComponent(text)
  }
  const schema = bodySchema(operation)
  return { method, path, query, headers, body: schema && values.valid(schema) }
}

/** What stands in a path is not empty; the rest of one may be more segments. */
const textsOf = (parameter: ValueMap, values: SchemaValues): readonly string[] => {
  const schema = parameter['schema'] ?? true
  const value = values.valid(schema)
  const texts = [value].flat().map(textOf)
  return textAt(parameter, 'in') === 'path' && texts[0] === '' ? ['a'] : texts
}

const textOf = (value: Value): string => (typeof value === 'string' ? value : JSON.stringify(value))

const bodySchema = (operation: ValueMap): Value | undefined =>
  ownValue(mapAt(mapAt(mapAt(operation, 'requestBody'), 'content'), 'application/json'), 'schema')

const CANDIDATES = [
  '',
  'abc',
  '1.5',
  '-1',
  '1e3',
  'TRUE',
  'null',
  ' 7',
  '99999999999999999999',
  'x'.repeat(100),
]

const brokenRequest = (given: Given, values: SchemaValues, random: Random): Sent => {
  const { operation } = given
  const parameters = listAt(operation, 'parameters')
    .filter(isMap)
    .flatMap((parameter) => {
      const isInPath = textAt(parameter, 'in') === 'path'
      const texts = CANDIDATES.filter(
        (text) => !(isInPath && text === '') && isRefused(parameter, text, values),
      )
      const isMissed = !isInPath && parameter['required'] === true
      return [...texts, ...(isMissed ? [undefined] : [])].map((text) => ({ parameter, text }))
    })
  if (parameters.length === 0 || random() < 0.5)
    return {
      ...requestOf(given, values, random),
      body: values.invalid(bodySchema(operation) ?? true),
    }
  const { parameter, text } = pick(parameters, random)
  return requestOf(given, values, random, new Map([[parameter, text]]))
}

/** Neither as it is nor as the value that it stands for, nor as a list of it. */
const isRefused = (parameter: ValueMap, text: string, { isValid }: SchemaValues): boolean => {
  const readings: Value[] = [text]
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) readings.push(Number(text))
  return [...readings, ...readings.map((each) => [each])].every(
    (each) => !isValid(parameter['schema'] ?? true, each),
  )
}

const credentialsOf = (operation: ValueMap, described: ValueMap): Record<string, string> => {
  const [requirement] = listAt(operation, 'security').filter(isMap)
  const [name] = Object.keys(requirement ?? {})
  if (name === undefined) return {}
  const scheme = mapAt(mapAt(mapAt(described, 'components'), 'securitySchemes'), name)
  if (textAt(scheme, 'type') !== 'apiKey')
    return { authorization: textAt(scheme, 'scheme') === 'basic' ? 'Basic YTpi' : 'Bearer abc' }
  return textAt(scheme, 'in') === 'cookie'
    ? { cookie: `${textAt(scheme, 'name')}=a` }
    : { [textAt(scheme, 'name')]: 'a' }
}

const send = async (port: number, { method, path, query, headers, body }: Sent) => {
  const search = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
  const options: HttpOptions = {
    method: method.toUpperCase(),
    headers,
    ...(body !== undefined && { json: body }),
  }
  const response = await request(
    `http://127.0.0.1:${port}${path}${search && `?${search}`}`,
    options,
  )
  return { status: response.status, text: response.text }
}

const describeAll = ({ document, compiled }: Described): readonly ValueMap[] =>
  compiled.versions.map((version) => describeVersion(document, compiled, version, Infinity) ?? {})

interface Described {
  readonly document: ValueMap
  readonly compiled: CompiledApi
}

/** Requests of every version of the documents, served with what their examples give. */
const serving = async (
  documents: readonly Described[],
  check: (
    ask: (sent: Sent) => Promise<{ readonly status: number; readonly text: string }>,
    operation: ReturnType<typeof requestsOf>[number],
  ) => Promise<void>,
): Promise<void> => {
  const unexpected: unknown[] = []
  const server = await createMockGateway({
    documents: documents.map(({ compiled }) => compiled),
    examples: documents.flatMap(({ document, compiled }) =>
      listExamples(document, compiled).flatMap(({ examples }) => examples),
    ),
    onUnexpected: (error) => unexpected.push(error),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const random = seededRandom(SEED)
  try {
    for (const described of documents.flatMap(describeAll))
      for (const operation of requestsOf(described, random))
        await check((sent) => send(port, sent), operation)
  } finally {
    server.close()
    server.closeAllConnections()
  }
  expect(unexpected).toEqual([])
}

it('requests made of the descriptions of the examples are never 500', async () => {
  const gathered = await gatherFiles([join(import.meta.dirname, '../../../examples')], () =>
    Promise.resolve(''),
  )
  if ('error' in gathered) throw new Error(gathered.error)
  const { documents } = readDocuments(gathered.files, { className: 'svc', maxRoutes: 20_000 })
  let sent = 0
  const wrong: object[] = []
  await serving(documents, async (ask, { name, valid }) => {
    const one = valid()
    sent++
    const { status, text } = await ask(one)
    if (status === 500) wrong.push({ name, one, text })
  })
  expect(wrong).toEqual([])
  expect(sent).toBeGreaterThan(50)
})

it('requests made of generated descriptions are 200, and 400 where a schema alone is broken', async () => {
  const random = seededRandom(SEED)
  const documents = Array.from({ length: DOCUMENTS }, (_, index) => randomApi(index, random)).map(
    (document) => ({
      document,
      compiled: compiledApi(document),
    }),
  )
  let broken = 0
  await serving(documents, async (ask, { name, valid, invalid }) => {
    const one = valid()
    expect({ name, one, status: (await ask(one)).status }).toEqual({ name, one, status: 200 })
    for (let count = 0; count < 4; count++) {
      const other = invalid()
      broken++
      expect({ name, other, status: (await ask(other)).status }).toEqual({
        name,
        other,
        status: 400,
      })
    }
  })
  expect(broken).toBe(4 * 8 * DOCUMENTS)
})

const PARAMETERS: readonly Value[] = [
  { type: 'integer', minimum: 1 },
  { type: 'number', maximum: 100 },
  { type: 'boolean' },
  { type: 'string', minLength: 1, maxLength: 20 },
  { enum: ['open', 'sent'] },
  { type: ['integer', 'boolean'] },
]
const LISTS: readonly Value[] = [{ type: 'array', minItems: 1, items: { type: 'integer' } }]
const SCALARS: readonly Value[] = [
  ...PARAMETERS,
  { const: 'fixed' },
  { type: ['string', 'null'] },
  { type: 'string', pattern: '^[A-Z]-[0-9]+$' },
  { anyOf: [{ type: 'integer', exclusiveMinimum: 5 }, { type: 'null' }] },
]

const randomSchema = (random: Random, depth: number): Value => {
  if (depth > 2 || random() < 0.3) return pick(SCALARS, random)
  if (random() < 0.2) return { $ref: '#/$defs/node' }
  if (random() < 0.3) return { type: 'array', maxItems: 4, items: randomSchema(random, depth + 1) }
  return randomObject(random, (): Value => randomSchema(random, depth + 1))
}

const randomObject = (random: Random, member: () => Value): ValueMap => {
  const names = ['a', 'b', 'c-d', 'e.f'].filter(() => random() < 0.6)
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, member()])),
    required: names.filter(() => random() < 0.5),
    ...(random() < 0.5 && { additionalProperties: false }),
  }
}

const NODE = {
  type: 'object',
  properties: { next: { $ref: '#/$defs/node' }, id: { type: 'integer' } },
  required: ['id'],
}

const randomApi = (index: number, random: Random): ValueMap => {
  const operation = (): ValueMap => ({
    schema: {
      body: { ...randomObject(random, () => randomSchema(random, 1)), $defs: { node: NODE } },
      query_params: {
        properties: { q: pick([...PARAMETERS, ...LISTS], random), r: pick(PARAMETERS, random) },
        required: ['r'],
      },
      bindings: { properties: { id: pick(PARAMETERS, random) } },
    },
    action: { type: 'static', body: { got: '{{request.body}}', id: '{{request.bindings.id}}' } },
    response: {},
  })
  const paths = ['/x/:id', '/y/:id.json', '/z/[a]/:id'].map(
    (path) => [path, { post: operation(), put: operation() }] as const,
  )
  return {
    id: `com.random${index}`,
    host: '_',
    realm_uri: 'com.a',
    versions: { v1: { base_path: `/r${index}`, paths: Object.fromEntries(paths) } },
  }
}
