// Tests documents that are made of OpenAPI descriptions: they load, their examples pass, and what is left out is listed.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { importDescription } from '../../../cli/import-openapi/import-description.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { parseJson } from '../../../base/parse-json.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { svc } from '../run-svc.ts'

const DESCRIPTIONS = join(import.meta.dirname, 'descriptions')

let directory: TempDir

beforeAll(async () => {
  directory = await makeTempDir()
})

afterAll(async () => {
  await directory[Symbol.asyncDispose]()
})

describe.each([
  ['pets-2.0.yaml', 3, ['/v2/pet', '/v2/pet/{petId}'], 0],
  ['orders-3.0.yaml', 3, ['/v2/orders', '/v2/orders/{order-id}/lines/{line}.json'], 2],
  ['users-3.1.yaml', 3, ['/users', '/users/{user_id}'], 0],
  ['files-3.2.json', 3, ['/files', '/files/index', '/files/{name}'], 0],
  ['whole-3.0.json', 0, ['/health'], 0],
])('%s', (name, code, paths, examples) => {
  it('becomes a document that loads, with the same paths and examples that pass', async () => {
    const run = await svc(['import-openapi', join(DESCRIPTIONS, name)])
    expect(run.code).toBe(code)
    expect(run.stderr === '').toBe(code === 0)
    const file = join(directory.path, `${name}.yaml`)
    await writeFile(file, run.stdout)
    expect(await svc(['validate', file])).toMatchObject({ code: 0 })
    const { stdout } = await svc(['openapi', file])
    expect(Object.keys((parseJson(stdout) as { readonly paths: object }).paths)).toEqual(paths)
    const tested = await svc(['test', file])
    // Without any example there is nothing to run.
    expect(tested.code).toBe(examples === 0 ? 2 : 0)
    expect(tested.stderr).toContain(
      examples === 0 ? 'example' : `${examples} examples: ${examples} passed`,
    )
  })

  it('is listed where it does not become one', async () => {
    const { stderr } = await svc(['import-openapi', join(DESCRIPTIONS, name)])
    const expected = await readFile(join(DESCRIPTIONS, `${name}.txt`), 'utf8')
    expect(stderr).toBe(expected)
  })
})

const OPTIONS = { server: null, realm: 'com.example' }

const described = (paths: object, more: object = {}): string =>
  JSON.stringify({
    openapi: '3.0.0',
    info: { title: 'A', version: '1' },
    servers: [{ url: 'http://a.test/v1' }],
    paths,
    ...more,
  })

const importing = (text: string, server: string | null = null) => {
  const imported = importDescription(text, { ...OPTIONS, server })
  if ('error' in imported) throw new Error(imported.error)
  const { versions } = imported.document as unknown as {
    readonly versions: { readonly v1: { readonly base_path: string; readonly paths: object } }
  }
  return { ...imported, version: versions.v1 }
}

const RESPONSES = { responses: { '204': { description: 'x' } } }

it.each<[string, object, object, object]>([
  ['none', {}, [], {}],
  ['basic', { type: 'http', scheme: 'Basic' }, [{ s: [] }], { security: { type: 'basic' } }],
  [
    'a key in the query',
    { type: 'apiKey', in: 'query', name: 'k' },
    [{ s: [] }],
    { security: { type: 'api_key', header_name: 'k' } },
  ],
  [
    'a login',
    { type: 'openIdConnect', openIdConnectUrl: 'https://i.test' },
    [{ s: ['read'] }],
    { security: { type: 'oauth2', flow: 'authorization_code', scopes: ['read'] } },
  ],
  ['certificates', { type: 'mutualTLS' }, [{ s: [] }], { security: { type: 'basic' } }],
  ['what is not there', {}, [{ none: [] }], { security: { type: 'basic' } }],
  ['what is no list', {}, { s: [] }, { security: { type: 'basic' } }],
  [
    'two at once',
    { type: 'apiKey', in: 'header', name: 'k' },
    [{ s: [], admins: [] }],
    { security: { type: 'basic' } },
  ],
  ['what is optional', { type: 'http', scheme: 'basic' }, [{ s: [] }, {}], {}],
])('security: %s', (_, scheme, security, expected) => {
  const text = described(
    { '/x': { get: { ...RESPONSES, security } } },
    { components: { securitySchemes: { s: scheme } } },
  )
  expect(importing(text).version.paths).toEqual({
    '/x': { ...expected, get: { action: { type: 'forward', host: '{{variables.upstream}}' } } },
  })
})

it('an open operation beside one that is not is not opened', () => {
  const { version, dropped } = importing(
    described(
      { '/x': { get: { ...RESPONSES, security: [] }, put: RESPONSES } },
      {
        security: [{ s: [] }],
        components: { securitySchemes: { s: { type: 'http', scheme: 'basic' } } },
      },
    ),
  )
  expect(version.paths).toMatchObject({ '/x': { security: { type: 'basic' } } })
  expect(dropped.map(({ pointer }) => pointer)).toContain('/paths/~1x/get/security')
})

it('operations of a path that ask for different credentials take none of them', () => {
  const security = (name: string, scopes: readonly string[] = []) => ({
    ...RESPONSES,
    security: [{ [name]: scopes }],
  })
  const { version, dropped } = importing(
    described(
      { '/x': { get: security('key'), delete: security('login', ['admin']) } },
      {
        components: {
          securitySchemes: {
            key: { type: 'apiKey', in: 'header', name: 'k' },
            login: { type: 'openIdConnect', openIdConnectUrl: 'https://i.test' },
          },
        },
      },
    ),
  )
  expect(version.paths).toMatchObject({ '/x': { security: { type: 'basic' } } })
  expect(dropped.map(({ pointer }) => pointer)).toEqual(
    expect.arrayContaining(['/paths/~1x/get/security', '/paths/~1x/delete/security']),
  )
})

it('security of a whole description that is null opens nothing', () => {
  const { version } = importing(described({ '/x': { get: RESPONSES } }, { security: null }))
  expect(version.paths).toMatchObject({ '/x': { security: { type: 'basic' } } })
})

it.each([
  ['that of the description', null, '/v1', 'http://a.test'],
  ['that of the command line', 'https://b.test:8443/b/', '/b', 'https://b.test:8443'],
])('requests go to %s', (_, server, base_path, upstream) => {
  const text = described({ '/x/{id}': { get: { ...RESPONSES, servers: [{ url: 'http://o' }] } } })
  const { version, document, dropped } = importing(text, server)
  expect(version).toMatchObject({
    base_path,
    paths: { '/x/:id': { get: { action: { type: 'forward', host: '{{variables.upstream}}' } } } },
  })
  expect(document['variables']).toEqual({ upstream })
  expect(dropped.map(({ pointer }) => pointer)).toEqual(['/paths/~1x~1{id}/get/servers'])
})

it('of two paths that match the same requests the first stays', () => {
  const paths = { '/a/{x}': { get: RESPONSES }, '/a/{y}': { put: RESPONSES } }
  const { dropped, version } = importing(described(paths))
  expect(dropped.map(({ pointer }) => pointer)).toContain('/paths/~1a~1{y}')
  expect(Object.keys(version.paths)).toEqual(['/a/:x'])
})

const YAML_BOMB = [
  'a0: &a0 [x, x, x, x, x, x, x, x, x]',
  ...Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`),
].join('\n')

it.each([
  ['nothing', '', 'one YAML or JSON document'],
  ['another format', '{"a": 1}', 'no OpenAPI description'],
  ['another version', '{"openapi": "4.0.0"}', 'no OpenAPI description'],
  ['broken YAML', 'a: [', 'at line 1, column 5'],
  ['what has no paths', described({}), 'there is no path'],
  ['an alias that grows', YAML_BOMB, 'alias'],
  ['an alias to itself', 'openapi: &a { a: *a }', 'part of'],
  ['what is too deep', `{"openapi":${'['.repeat(100)}${']'.repeat(100)}}`, 'deep'],
  ['what is too large', `{"openapi":"${'x'.repeat(4 * 1024 * 1024)}"}`, 'at most'],
])('%s is refused', (_, text, words) => {
  const imported = importDescription(text, OPTIONS)
  expect('error' in imported ? imported.error : '').toContain(words)
})

it('an address that is none is refused', () => {
  const imported = importDescription(described({}), { ...OPTIONS, server: 'ftp://a' })
  expect(imported).toEqual({ error: "'ftp://a' is no address like https://orders.example.com/v1" })
})

it('is given one file', async () => {
  expect(await svc(['import-openapi'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'svc import-openapi: name one file with an OpenAPI description, or - for stdin\n',
  })
})

describe('the description of what was imported', () => {
  const essentials = async (name: string) => {
    const { stdout } = await svc(['import-openapi', join(DESCRIPTIONS, name)])
    const file = join(directory.path, `round-${name}.yaml`)
    await writeFile(file, stdout)
    const described = await svc(['openapi', file])
    return parseJson(described.stdout) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, ValueMap>>>>
      readonly components: ValueMap
    }
  }

  it('has its parameters, bodies, successes, security and examples', async () => {
    const { paths, components } = await essentials('orders-3.0.yaml')
    expect(paths['/v2/orders']?.['get']).toMatchObject({
      summary: 'Lists orders',
      parameters: [
        { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } },
        { name: 'status', in: 'query' },
        { name: 'x-tenant', in: 'header', required: true, schema: { type: 'string' } },
      ],
      security: [{ basic: [] }, { api_key: [] }],
    })
    expect(paths['/v2/orders']?.['post']).toMatchObject({
      requestBody: {
        required: true,
        content: {
          'application/json': { examples: { 'response 201': { value: { sku: 'A-1' } } } },
        },
      },
      responses: {
        201: { content: { '*/*': { examples: { 'response 201': { value: { id: 7 } } } } } },
      },
    })
    expect(components).toMatchObject({
      schemas: {
        post_v2_orders_body: {
          $defs: { Order: { required: ['sku'], additionalProperties: false } },
        },
        post_v2_orders_result: {
          properties: { body: { $ref: '#/components/schemas/post_v2_orders_result/$defs/Order' } },
        },
      },
    })
  })
})
