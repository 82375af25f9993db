// Requests to operations with JSON Schemas: what is refused, before anything is done, and what the action gets.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { parseJson } from '../../../base/parse-json.ts'
import type { Perform } from '../../../dataplane/actions/performer.ts'
import { writeMsgpack } from '../../../dataplane/codec/write-msgpack.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

let gateway: ServedGateway
/** What was sent upstream. */
let sent: string[]

const forward: Perform = (exchange) => {
  sent.push(exchange.rawBody?.toString() ?? '')
  exchange.succeed({ status_code: 200, headers: {}, body: 'sent', uri: '' })
}

beforeEach(async () => {
  sent = []
  gateway = await serveGateway({ forward })
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  if (gateway.unexpected.length > 0) throw gateway.unexpected[0] as Error
})

const load = async (schema: object, operation: object, path = '/x/[:id]'): Promise<void> => {
  await gateway.load(apiOf({ [path]: { post: { ...operation, schema } } }))
}

const post = (target: string, json?: unknown, headers: Record<string, string> = {}) =>
  gateway.ask('POST', target, { ...(json !== undefined && { json }), headers })

const ORDER = {
  type: 'object',
  properties: { sku: { type: 'string' }, quantity: { type: 'integer', minimum: 1 } },
  required: ['sku'],
  additionalProperties: false,
}

const errorsOf = (text: string): unknown => (parseJson(text) as { errors: unknown }).errors

describe('values of the declared type', () => {
  const types = {
    n: { type: 'integer' },
    f: { type: 'number' },
    b: { type: 'boolean' },
    s: { type: 'string' },
    l: { type: 'array', items: { type: 'integer' } },
    r: { $ref: '#/$defs/number' },
    a: { allOf: [{ type: 'integer' }, { minimum: 0 }] },
    z: { type: ['integer', 'null'] },
    m: { type: ['integer', 'string'] },
    u: { minimum: 5 },
  }
  const schema = {
    query_params: { properties: types, $defs: { number: { type: 'number' } } },
  }

  it.each<[string, unknown]>([
    ['n=7', { n: 7 }],
    ['n=1.0', { n: 1 }],
    ['n=1e2', { n: 100 }],
    ['n=-0', { n: 0 }],
    ['f=0.5', { f: 0.5 }],
    ['b=true', { b: true }],
    ['s=7', { s: '7' }],
    ['l=1&l=2', { l: [1, 2] }],
    ['l=1', { l: [1] }],
    ['r=7', { r: 7 }],
    ['a=7', { a: 7 }],
    ['z=7', { z: 7 }],
    ['m=7', { m: '7' }],
    ['u=7', { u: '7' }],
    ['other=1&other=2', { other: '2' }],
    ['', {}],
  ])('are made of the query %s', async (query, expected) => {
    await load(schema, answers('{{request.query_params}}'))
    const { status, json } = await post(`/x?${query}`)
    expect([status, json()]).toEqual([200, expected])
  })

  it.each<[string, object]>([
    ['n=', { pointer: '/n', keyword: 'type' }],
    ['n=abc', { pointer: '/n', keyword: 'type' }],
    ['n=%201', { pointer: '/n', keyword: 'type' }],
    ['n=%2B1', { pointer: '/n', keyword: 'type' }],
    ['n=01', { pointer: '/n', keyword: 'type' }],
    ['n=0x1', { pointer: '/n', keyword: 'type' }],
    ['n=1.5', { pointer: '/n', keyword: 'type' }],
    ['n=9007199254740993', { pointer: '/n', keyword: 'type' }],
    ['n=1e999', { pointer: '/n', keyword: 'type' }],
    ['n=NaN', { pointer: '/n', keyword: 'type' }],
    ['z=null', { pointer: '/z', keyword: 'type' }],
    ['z=', { pointer: '/z', keyword: 'type' }],
    ['b=1', { pointer: '/b', keyword: 'type' }],
    ['b=TRUE', { pointer: '/b', keyword: 'type' }],
    ['l=1&l=x', { pointer: '/l/1', keyword: 'type' }],
    ['s=1&s=1', { pointer: '/s', keyword: 'duplicate' }],
  ])('are not made of the query %s', async (query, error) => {
    await load(schema, answers('x'))
    const { status, text } = await post(`/x?${query}`)
    expect([status, errorsOf(text)]).toEqual([400, [{ in: 'query_params', ...error }]])
  })

  it.each<[string, unknown]>([
    ['/x/7', { is: 7 }],
    ['/x/abc', expect.objectContaining({ errors: [expect.objectContaining({ keyword: 'type' })] })],
    ['/x', expect.objectContaining({ errors: [expect.objectContaining({ keyword: 'required' })] })],
  ])('are made of bindings, as in %s', async (target, expected) => {
    const bindings = { properties: { id: { type: 'integer' } }, required: ['id'] }
    await load({ bindings }, answers({ is: '{{request.bindings.id}}' }))
    expect((await post(target)).json()).toEqual(expected)
  })

  it('are not made of headers, which are read in lower case', async () => {
    const headers = { properties: { 'x-n': { type: 'integer' } }, required: ['x-id'] }
    await load({ headers }, answers('x'))
    const { status, text } = await post('/x', undefined, { 'X-N': '7' })
    expect([status, errorsOf(text)]).toEqual([
      400,
      [
        { in: 'headers', pointer: '', keyword: 'required', property: 'x-id' },
        { in: 'headers', pointer: '/x-n', keyword: 'type' },
      ],
    ])
  })
})

describe('a request that is not valid', () => {
  it('is refused with everything that is wrong, before it is sent, and without a value', async () => {
    const schema = {
      body: ORDER,
      query_params: { properties: { dry: { type: 'boolean' } } },
      headers: { required: ['x-id'] },
    }
    await load(schema, { action: { type: 'forward', host: 'http://a' } })
    const { status, text } = await post('/x?dry=hidden', { quantity: 'hidden', hidden2: 1 })
    expect(status).toBe(400)
    expect(parseJson(text)).toEqual({
      code: 'svc.error.invalid_data',
      message: 'The request is not what this operation takes',
      description: 'errors has each place, and the keyword of the JSON Schema that refuses it.',
      request_id: expect.any(String),
      errors: [
        { in: 'query_params', pointer: '/dry', keyword: 'type' },
        { in: 'headers', pointer: '', keyword: 'required', property: 'x-id' },
        { in: 'body', pointer: '', keyword: 'required', property: 'sku' },
        { in: 'body', pointer: '/quantity', keyword: 'type' },
        { in: 'body', pointer: '', keyword: 'additionalProperties', property: 'hidden2' },
      ],
    })
    expect(sent).toEqual([])
  })

  it('has what is wrong with its head where its body cannot be read', async () => {
    await load({ body: ORDER, headers: { required: ['x-id'] } }, answers('x'))
    const { status, text } = await gateway.ask('POST', '/x', {
      body: '{"sku"',
      headers: { 'content-type': 'application/json' },
    })
    expect([status, errorsOf(text)]).toEqual([
      400,
      [{ in: 'headers', pointer: '', keyword: 'required', property: 'x-id' }],
    ])
  })

  it('has at most 100 errors', async () => {
    await load({ body: { items: { type: 'string' } } }, answers('x'))
    const { text } = await post(
      '/x',
      Array.from({ length: 500 }, (_, at) => at),
    )
    expect(errorsOf(text)).toHaveLength(100)
  })

  it('is worded by the document, which reads the errors', async () => {
    const on_refusal = { body: { wrong: '{{refusal.errors}}' } }
    await gateway.load(apiOf({ '/x': { on_refusal, schema: { body: ORDER }, post: answers('x') } }))
    const { status, json } = await post('/x', {})
    expect([status, json()]).toEqual([
      400,
      { wrong: [{ in: 'body', pointer: '', keyword: 'required', property: 'sku' }] },
    ])
  })

  it('is refused by an operation that always responds alike', async () => {
    await load({ query_params: { required: ['q'] } }, answers('fixed'))
    expect((await post('/x?q=1')).status).toBe(200)
    expect((await post('/x')).status).toBe(400)
  })

  const keywordsOf = (text: string): unknown =>
    (parseJson(text) as { errors?: { keyword: string }[] }).errors?.map(({ keyword }) => keyword)

  it.each<[string, string, string | Buffer, unknown]>([
    ['without a body', 'application/json', '', [400, ['required']]],
    ['a name twice', 'application/json', '{"sku":"a","sku":"b"}', [400, ['duplicate']]],
    [
      'a name twice, deep',
      'application/json',
      '{"sku":[{"a":1,"\\u0061":2}]}',
      [400, ['duplicate']],
    ],
    ['half a pair', 'application/json', '{"sku":"\\ud800"}', [400, ['surrogate']]],
    ['half a pair in a name', 'application/json', '{"\\udc00":1}', [400, ['surrogate']]],
    ['a byte order mark', 'application/json', '\ufeff{"sku":"a"}', [400, ['byte_order_mark']]],
    ['a large integer', 'application/json', '{"sku":9007199254740993}', [400, ['integer']]],
    ['another charset', 'application/json; charset=utf-16', '{"sku":"a"}', [415, undefined]],
    ['another type', 'image/png', '{"sku":"a"}', [415, undefined]],
    ['no JSON', 'application/json', '{sku: 1}', [400, undefined]],
    [
      'MessagePack with a name twice',
      'application/msgpack',
      Buffer.from([0x82, 0xa1, 0x61, 1, 0xa1, 0x61, 2]),
      [400, undefined],
    ],
    ['a charset of UTF-8', 'application/json; charset=UTF-8', '{"sku":"a"}', [200, undefined]],
    ['a pair in escapes', 'application/json', '{"sku":"\\ud83d\\ude00"}', [200, undefined]],
    ['MessagePack', 'application/msgpack', writeMsgpack({ sku: 'a' }), [200, undefined]],
  ])('is answered: %s', async (_title, type, body, expected) => {
    await load(
      { body: { ...ORDER, properties: {}, additionalProperties: true } },
      answers({ n: 1 }),
    )
    const { status, text } = await gateway.ask('POST', '/x', {
      body,
      headers: { 'content-type': type },
    })
    expect([status, keywordsOf(text)]).toEqual(expected)
  })

  it.each<[string, unknown]>([
    ['sku=a&tag=1&tag=2', { sku: 'a', tag: ['1', '2'] }],
    ['sku=a&tag=1', { sku: 'a', tag: ['1'] }],
    [
      'sku=a&sku=b',
      expect.objectContaining({ errors: [{ in: 'body', pointer: '/sku', keyword: 'duplicate' }] }),
    ],
    [
      'tag=1',
      expect.objectContaining({
        errors: [{ in: 'body', pointer: '', keyword: 'required', property: 'sku' }],
      }),
    ],
  ])('has lists of a form where they are declared: %s', async (body, expected) => {
    const schema = {
      properties: { sku: { type: 'string' }, tag: { type: 'array' } },
      required: ['sku'],
    }
    const accepts = ['application/x-www-form-urlencoded']
    await gateway.load(
      apiOf({
        '/x': { accepts, post: { ...answers('{{request.body}}'), schema: { body: schema } } },
      }),
    )
    const { json } = await gateway.ask('POST', '/x', {
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(json()).toEqual(expected)
  })

  it('is refused in a body of many pieces, too', async () => {
    await load({ body: { items: { type: 'object' } } }, answers('x'))
    const list = Array.from({ length: 9000 }, () => ({ a: 'text' }))
    expect((await post('/x', list)).status).toBe(200)
    const twice = JSON.stringify([...list, 0]).replace('0]', '{"a":1,"a":1}]')
    const { text } = await gateway.ask('POST', '/x', {
      body: twice,
      headers: { 'content-type': 'application/json' },
    })
    expect(errorsOf(text)).toEqual([{ in: 'body', pointer: '', keyword: 'duplicate' }])
  })

  it('is refused where checking it would take too long', async () => {
    await load({ body: { items: { pattern: '(a*)*b' } } }, answers('x'))
    const { text } = await post('/x', ['a'.repeat(1_000_000)])
    expect(errorsOf(text)).toEqual([{ in: 'body', pointer: '', keyword: 'too_expensive' }])
  })
})

describe('a forward', () => {
  const FORWARD = { action: { type: 'forward', host: 'http://a' } }

  it("sends the client's bytes once they are checked", async () => {
    await load({ body: ORDER }, FORWARD)
    const body = '{ "quantity": 1.0,\n "sku": "\\u0061" }'
    const { status } = await gateway.ask('POST', '/x', {
      body,
      headers: { 'content-type': 'application/json' },
    })
    expect([status, sent]).toEqual([200, [body]])
  })

  it('takes no more than what is held of a body', async () => {
    await gateway.load(
      apiOf({ '/x': { body_read_bytes: 20, schema: { body: true }, post: FORWARD } }),
    )
    expect((await post('/x', 'a'.repeat(10))).status).toBe(200)
    expect((await post('/x', 'a'.repeat(30))).status).toBe(413)
  })

  it('refuses what it cannot read also where bodies are unusual', async () => {
    await gateway.load(apiOf({ '/x': { schema: { body: ORDER }, delete: FORWARD } }))
    const ask = (type: string) =>
      gateway.ask('DELETE', '/x', {
        body: '{"sku":"a"}',
        headers: { 'content-type': type, 'content-length': '11' },
      })
    expect((await ask('application/json')).status).toBe(200)
    expect((await ask('image/png')).status).toBe(415)
    expect(sent).toHaveLength(1)
  })
})

it('lets a preflight pass that nothing is done for', async () => {
  await gateway.load(
    apiOf({
      '/x': {
        schema: { headers: { required: ['x-id'] } },
        options: { action: {} },
        post: answers('x'),
      },
    }),
  )
  const headers = { origin: 'https://a.test', 'access-control-request-method': 'POST' }
  expect((await gateway.ask('OPTIONS', '/x', { headers })).status).toBe(204)
  expect((await gateway.ask('OPTIONS', '/x')).status).toBe(400)
})
