// What goes on the wire: status, headers and body of responses, by the rules of behaviour §5.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { decodeBody } from '../../../dataplane/codec/codec.ts'
import { createUnboundedMemory } from '../../../dataplane/memory/memory-budget.ts'
import type { Perform } from '../../../dataplane/actions/performer.ts'
import type { Value } from '../../../language/expression/value.ts'
import { headerValues } from '../../support/raw-client.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

let gateway: ServedGateway

beforeEach(async () => {
  gateway = await serveGateway()
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  if (gateway.unexpected.length > 0) throw gateway.unexpected[0] as Error
})

type Api = Parameters<typeof apiOf>[1]

const path = (operations: object, more: object = {}) => apiOf({ '/x': { ...more, ...operations } })
const json = (value: unknown) => ({ json: value })
const JSON_TYPE = 'application/json'

describe('the status of a success', () => {
  it.each([
    ['GET with a body', 'GET', answers('x'), 200],
    ['GET without', 'GET', answers(''), 200],
    ['PUT without', 'PUT', answers(''), 204],
    ['PUT with null', 'PUT', answers(null), 204],
    ['PUT with a body', 'PUT', answers(0), 200],
    ['DELETE without', 'DELETE', answers(''), 204],
    ['POST with a uri', 'POST', answers('x', { on_result: { uri: '/y' } }), 201],
    ['POST with an empty uri', 'POST', answers('x', { on_result: { uri: '' } }), 200],
    ['PUT with a uri', 'PUT', answers('x', { on_result: { uri: '/y' } }), 200],
    ['its own', 'POST', answers('x', { on_result: { uri: '/y', status_code: 202 } }), 202],
    [
      'as text',
      'GET',
      answers('x', { on_result: { status_code: '{{request.query_params.s}}' } }),
      207,
    ],
    ['OPTIONS with an empty action', 'OPTIONS', { action: {}, response: {} }, 204],
    [
      'OPTIONS with a status',
      'OPTIONS',
      { action: {}, response: { on_result: { status_code: 200 } } },
      200,
    ],
  ])('%s', async (_, method, operation, status) => {
    await gateway.load(path({ [method.toLowerCase()]: operation }))
    // The second one may come from what the first has left.
    for (let turn = 0; turn < 2; turn++)
      expect((await gateway.ask(method, '/x?s=207')).status).toBe(status)
  })

  it.each(['99', '600', '1e3', 'abc', '', '200.5'])(
    '%p from a request is no status',
    async (status) => {
      await gateway.load(
        path({ get: answers('x', { on_result: { status_code: '{{request.query_params.s}}' } }) }),
      )
      const response = await gateway.ask('GET', `/x?s=${status}`)
      expect(response.status).toBe(400)
      expect(response.json()).toMatchObject({ code: 'svc.error.invalid_data' })
    },
  )

  it.each([204, 304])('%i has no body, no length and no type', async (status) => {
    await gateway.load(path({ get: answers({ a: 1 }, { on_result: { status_code: status } }) }))
    await using client = await gateway.raw(
      'GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n',
    )
    for (let turn = 0; turn < 2; turn++) {
      const response = await client.response()
      expect(response.status).toBe(status)
      expect(headerValues(response, 'content-length')).toEqual([])
      expect(headerValues(response, 'content-type')).toEqual([])
    }
  })
})

it('205 has no body, and says so', async () => {
  const response = { on_result: { status_code: 205 } }
  await gateway.load(
    apiOf({ '/x': { get: answers('body', response), put: answers('{{request.path}}', response) } }),
  )
  for (const method of ['GET', 'HEAD', 'PUT', 'GET']) {
    const received = await gateway.ask(method, '/x')
    expect([received.status, received.headers['content-length'], received.text]).toEqual([
      205,
      '0',
      '',
    ])
  }
})

describe('Location', () => {
  it.each([
    ['/y z/%2F/é', '/y%20z/%2F/%C3%A9'],
    ['{{request.body.id}}', 'a%0D%0Aset-cookie:%20b'],
  ])('of the uri %p', async (uri, location) => {
    await gateway.load(path({ post: answers('x', { on_result: { uri } }) }))
    const response = await gateway.ask('POST', '/x', json({ id: 'a\r\nset-cookie: b' }))
    expect(response.headers.location).toBe(location)
    expect(response.headers['set-cookie']).toBeUndefined()
  })

  it("the document's own wins; a uri that is no text fails", async () => {
    const response = { on_result: { uri: '{{request.body.uri}}', headers: { Location: '/own' } } }
    await gateway.load(path({ post: answers('x', response) }))
    expect((await gateway.ask('POST', '/x', json({ uri: '/y' }))).headers.location).toBe('/own')
    expect((await gateway.ask('POST', '/x', json({ uri: null }))).status).toBe(200)
    expect((await gateway.ask('POST', '/x', json({ uri: 7 }))).status).toBe(400)
  })
})

describe('which headers', () => {
  const on = (headers: object | undefined) => (headers === undefined ? {} : { headers })

  it.each<[string, object | undefined, object | undefined, object | undefined, string]>([
    ['of the response', { x: 'response' }, { x: 'action' }, { x: 'path' }, 'response'],
    ['of a static action', undefined, { x: 'action' }, { x: 'path' }, 'action'],
    ['of the path', undefined, undefined, { x: 'path' }, 'path'],
    ['of the defaults', undefined, undefined, undefined, 'defaults'],
  ])('%s: the nearest map, whole', async (...[, response, action, own, expected]) => {
    const get = {
      action: { type: 'static', body: 'b', ...on(action) },
      response: { on_result: { ...on(response) } },
    }
    await gateway.load(
      apiOf(
        { '/x': { ...on(own), get } },
        { defaults: { headers: { x: 'defaults', y: 'defaults' } } },
      ),
    )
    const { headers } = await gateway.ask('GET', '/x')
    expect(headers['x']).toBe(expected)
    expect(headers['y']).toBe(expected === 'defaults' ? 'defaults' : undefined)
  })

  it('set-cookie may stand twice, others too', async () => {
    const headers = {
      'Set-Cookie': ['a=1', 'b=2'],
      'x-list': ['1', '2'],
      'x-null': null,
      'x-number': 7,
    }
    await gateway.load(path({ get: answers('x', { on_result: { headers } }) }))
    await using client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
    const response = await client.response()
    expect(headerValues(response, 'set-cookie')).toEqual(['a=1', 'b=2'])
    expect(headerValues(response, 'x-list')).toEqual(['1', '2'])
    expect(headerValues(response, 'x-number')).toEqual(['7'])
    expect(headerValues(response, 'x-null')).toEqual([])
  })

  it('those that the gateway sets by itself give way to those of a document, but for the id and Vary', async () => {
    const headers = {
      'x-content-type-options': 'own',
      'content-language': 'own',
      'x-request-id': 'own',
      vary: 'Origin, ACCEPT',
      'access-control-expose-headers': 'content-language',
    }
    await gateway.load(
      apiOf({ '/x': { headers, get: answers('x') } }, { version: { languages: ['en', 'es'] } }),
    )
    for (let turn = 0; turn < 3; turn++) {
      const response = await gateway.ask('GET', '/x')
      expect(response.headers).toMatchObject({
        'x-content-type-options': 'own',
        'content-language': 'own',
        'x-request-id': `id-${turn + 1}`,
        vary: 'Origin, ACCEPT, accept-language',
        'access-control-expose-headers': 'content-language',
      })
    }
  })

  it.each([
    ['*', '*'],
    ['origin', 'origin, accept'],
    ['accept', 'accept'],
  ])('Vary %p beside what was negotiated by', async (vary, expected) => {
    await gateway.load(path({ get: answers('x') }, { headers: { vary } }))
    expect((await gateway.ask('GET', '/x')).headers.vary).toBe(expected)
  })

  it('a language is picked, and responses of two types vary', async () => {
    const get = answers('{{request.language}}')
    await gateway.load(apiOf({ '/x': { get } }, { version: { languages: ['en', 'es-AR'] } }))
    const response = await gateway.ask('GET', '/x', { headers: { 'accept-language': 'es' } })
    expect(response.text).toBe('"es-AR"')
    expect(response.headers).toMatchObject({
      'content-language': 'es-AR',
      vary: 'accept, accept-language',
    })
  })

  it.each([
    ['that are always the same', { 'x-own': 'same' }],
    ['that wait for the request', { 'x-own': '{{request.query_params.own}}' }],
    ['of which node must see one', { 'x-own': 'same', date: 'Thu, 01 Jan 1970 00:00:00 GMT' }],
  ])('headers %s, and requests that ask for this and that by turns', async (_, headers) => {
    const document = apiOf(
      { '/x': { headers, post: answers('{{request.query_params.body}}') } },
      { version: { languages: ['en', 'es'] } },
    )
    const wishes = [
      [JSON_TYPE, 'en', 'a', 'same'],
      [JSON_TYPE, 'es', 'b', 'same'],
      ['application/msgpack', 'es', 'b', 'other'],
      [JSON_TYPE, 'en', '', 'same'],
      [JSON_TYPE, 'en', 'longer', 'other'],
      [JSON_TYPE, 'en', 'a', 'same'],
    ] as const
    const ask = ([accept, language, body, own]: (typeof wishes)[number]) =>
      gateway.ask('POST', `/x?body=${body}&own=${own}`, {
        headers: { accept, 'accept-language': language },
      })
    await gateway.load(document)
    for (const wish of wishes) {
      const [accept, language, body, own] = wish
      const { status, headers: got } = await ask(wish)
      const isEmpty = body === ''
      const length = String(body.length + (accept === JSON_TYPE ? 2 : 1))
      expect([status, got['content-type'], got['content-language'], got['content-length']]).toEqual(
        isEmpty ? [204, undefined, language, undefined] : [200, accept, language, length],
      )
      expect(got['x-own']).toBe(headers['x-own'] === 'same' ? 'same' : own)
    }
  })

  it('a deprecated version says so, also on errors', async () => {
    const document = apiOf(
      { '/x': { get: answers('x'), post: answers('{{request.body.nope}}') } },
      { meta: { sunset_at: '2030-01-01' }, version: { is_deprecated: true } },
    )
    await gateway.load(document)
    for (const method of ['GET', 'POST']) {
      const { headers } = await gateway.ask(method, '/x')
      expect(headers).toMatchObject({
        deprecation: 'true',
        sunset: 'Tue, 01 Jan 2030 00:00:00 GMT',
      })
    }
  })

  it('a value that no header can carry: 400, with the headers that are known', async () => {
    const headers = { 'x-cors': '*', 'x-echo': '{{request.body}}' }
    await gateway.load(path({ post: answers('x') }, { headers }))
    for (const body of ['a\r\nset-cookie: b', { a: 1 }]) {
      const response = await gateway.ask('POST', '/x', json(body))
      expect([response.status, response.headers['x-cors'], response.headers['x-echo']]).toEqual([
        400,
        '*',
        undefined,
      ])
    }
    expect((await gateway.ask('POST', '/x', json('fine'))).headers['x-echo']).toBe('fine')
  })
})

describe('which body', () => {
  const MSGPACK = { headers: { accept: 'application/msgpack' } }

  it.each<[string, Value]>([
    ['a text', 'x'],
    ['a text beyond ASCII', 'é€👍'],
    ['a long text', 'é'.repeat(20_000)],
    ['a long ASCII text', 'x'.repeat(20_000)],
    ['a map', { a: [1, null, { b: true }] }],
    ['a number', 7],
    ['false', false],
    ['an empty map', {}],
  ])('%s, as JSON and as msgpack', async (_, body) => {
    await gateway.load(
      apiOf({
        '/fixed': { get: answers(body) },
        '/read': { get: answers(['{{request.path}}', body]) },
      }),
    )
    for (let turn = 0; turn < 2; turn++) {
      const asJson = await gateway.ask('GET', '/fixed')
      expect([asJson.headers['content-type'], asJson.json()]).toEqual(['application/json', body])
      await using client = await gateway.raw(
        'GET /fixed HTTP/1.1\r\nHost: a\r\nAccept: application/msgpack\r\n\r\n',
      )
      const packed = await client.response()
      expect(headerValues(packed, 'content-type')).toEqual(['application/msgpack'])
      expect(
        decodeBody('application/msgpack', packed.body, createUnboundedMemory().open()),
      ).toEqual(body)
    }
    expect((await gateway.ask('GET', '/read')).json()).toEqual(['/read', body])
    expect((await gateway.ask('GET', '/read', MSGPACK)).headers['content-type']).toBe(
      'application/msgpack',
    )
  })

  it.each(['', null])('%j is an empty payload, in either type', async (body) => {
    await gateway.load(
      apiOf({ '/x': { get: answers(body) }, '/y': { post: answers('{{request.body.b}}') } }),
    )
    for (const more of [{}, MSGPACK]) {
      for (const response of [
        await gateway.ask('GET', '/x', more),
        await gateway.ask('POST', '/y', { ...more, json: { b: body } }),
      ]) {
        expect([response.text, response.headers['content-type']]).toEqual(['', undefined])
      }
    }
  })

  it.each<[string, string, Value, string | undefined, string]>([
    ['text as it is', 'text/html; charset=utf-8', '<p>é</p>', undefined, '<p>é</p>'],
    ['text as it is, whatever is accepted', 'text/csv', 'a,b', 'application/msgpack', 'a,b'],
    ['numbers as text', 'text/plain', 7, undefined, '7'],
    ['maps as JSON, negotiated', 'text/plain', { a: 1 }, 'application/json', '{"a":1}'],
    ['JSON as JSON', 'application/json; charset=utf-8', 'x', undefined, '"x"'],
    ['JSON whatever is accepted', 'application/json', { a: 1 }, 'application/msgpack', '{"a":1}'],
    ['other JSON: maps', 'application/problem+json', { a: 1 }, undefined, '{"a":1}'],
    ['other JSON: text as it is', 'application/problem+json', '{"a":1}', undefined, '{"a":1}'],
    ['nothing', 'text/html', '', undefined, ''],
  ])(
    'a document that sets the content type gets %s',
    async (...[, contentType, body, accept, text]) => {
      const response = { on_result: { headers: { 'Content-Type': contentType } } }
      await gateway.load(
        apiOf({
          '/x': { get: answers(body, response) },
          '/y': { post: answers('{{request.body}}', response) },
        }),
      )
      const headers: Record<string, string> = accept === undefined ? {} : { accept }
      const got = [
        await gateway.ask('GET', '/x', { headers }),
        await gateway.ask('POST', '/y', { headers, json: body }),
      ]
      const isMap = typeof body === 'object' && contentType === 'text/plain'
      for (const received of got) {
        expect(received.text).toBe(text)
        expect(received.headers['content-type']).toBe(
          text === '' ? undefined : isMap ? 'application/json' : contentType,
        )
      }
    },
  )

  it('of a type that is not offered: 406 in a type that the client accepts', async () => {
    await gateway.load(apiOf({ '/x': { provides: ['application/msgpack'], get: answers('x') } }))
    const refused = await gateway.ask('GET', '/x', { headers: { accept: 'application/json' } })
    expect([refused.status, refused.headers['content-type']]).toEqual([406, 'application/json'])
    expect(refused.json()).toMatchObject({
      description: expect.stringContaining('application/msgpack'),
    })
    const html = await gateway.ask('GET', '/x', { headers: { accept: 'text/html' } })
    expect([html.status, html.headers['content-type']]).toEqual([406, 'application/json'])
    expect((await gateway.ask('GET', '/x')).headers['content-type']).toBe('application/msgpack')
  })

  it.each([
    ['text/html', 'text/html', 200, 'text/html; charset=utf-8'],
    ['any', '*/*', 200, 'text/html; charset=utf-8'],
    ['a range', 'text/*;q=0.1', 200, 'text/html; charset=utf-8'],
    ['JSON', 'application/json', 406, 'application/json'],
    ['MessagePack', 'application/msgpack', 406, 'application/msgpack'],
    ['nothing', '*/*;q=0', 406, 'application/json'],
  ])('a page that provides text/html, for a client of %s', async (_, accept, status, type) => {
    const page = { on_result: { headers: { 'content-type': 'text/html; charset=utf-8' } } }
    await gateway.load(
      apiOf({
        '/x': { provides: ['text/html'], get: answers('<p>', page) },
        '/y': { provides: ['text/html'], get: answers('<p>{{request.query_params.a}}', page) },
      }),
    )
    for (const path of ['/x', '/x', '/y?a=1']) {
      const response = await gateway.ask('GET', path, { headers: { accept } })
      expect([response.status, response.headers['content-type']]).toEqual([status, type])
    }
  })

  it('an error where only text/html is provided is an error record', async () => {
    const page = { on_result: { headers: { 'content-type': 'text/html' } } }
    await gateway.load(
      apiOf({
        '/x': { provides: ['text/html'], get: answers('{{request.query_params.a}}', page) },
      }),
    )
    const response = await gateway.ask('GET', '/x', { headers: { accept: 'text/html' } })
    expect([response.status, response.headers['content-type']]).toEqual([400, 'application/json'])
  })

  it("on_result's, else the action's", async () => {
    const get = {
      action: { type: 'static', body: { a: '{{request.id}}' }, headers: { h: 'own' } },
      response: {
        on_result: {
          body: { got: '{{action.result.body.a}}', head: '{{action.result.headers.h}}' },
        },
      },
    }
    await gateway.load(path({ get }))
    expect((await gateway.ask('GET', '/x')).json()).toEqual({ got: 'id-1', head: 'own' })
  })
})

describe('expressions that fail', () => {
  it('500 with a record that says nothing of the document; on_error is not used, and the log has the expression', async () => {
    const response = { on_error: { status_code: 418 } }
    await gateway.load(
      path({ get: answers('{{security.nope}}', response) }, { headers: { 'x-cors': '*' } }),
    )
    const received = await gateway.ask('GET', '/x')
    expect(received.status).toBe(500)
    expect(received.json()).toEqual({
      code: 'svc.error.http_gateway.invalid_expression',
      message: 'An expression of this operation failed for this request',
      description: `The request id is ${String(received.headers['x-request-id'])}.`,
      request_id: received.headers['x-request-id'],
    })
    const [failure] = gateway.failures
    expect(failure?.failure).toEqual({
      reason: 'expression',
      detail: expect.stringContaining('{{security.nope}}'),
    })
    expect(failure?.pointerOf?.()).toBe('/versions/v1/paths/~1x/get/action/body')
    expect(received.headers['x-cors']).toBe('*')
    expect(gateway.refused).toEqual(['svc.error.http_gateway.invalid_expression'])
  })

  it('what a request brings is data', async () => {
    await gateway.load(path({ post: answers('{{request.body}}') }))
    const body = { a: '{{request.headers.authorization}}' }
    expect((await gateway.ask('POST', '/x', json(body))).json()).toEqual(body)
  })
})

describe('an error record', () => {
  it.each([
    ['a terminal', '*/*', '}\n'],
    ['a program', 'application/json', '"}'],
    ['a browser', 'text/html, */*;q=0.8', '"}'],
  ])('for %s ends as its reader likes it', async (_, accept, end) => {
    await gateway.load(path({ get: answers('x') }))
    const { text, headers } = await gateway.ask('DELETE', '/x', { headers: { accept } })
    expect(text.slice(-2)).toBe(end)
    expect(text).toContain(`"request_id":"${String(headers['x-request-id'])}"`)
  })
})

describe('problem details', () => {
  const PROBLEM = 'application/problem+json'
  const accept = (type: string) => ({ headers: { accept: type } })

  it('has the texts of the record, and nothing but the members of RFC 9457 beside them', async () => {
    await gateway.load(path({ get: answers('x') }, { headers: { 'x-cors': '*', vary: 'origin' } }))
    const response = await gateway.ask('DELETE', '/x', accept(`${JSON_TYPE}, ${PROBLEM}`))
    expect(response.status).toBe(405)
    expect(response.headers).toMatchObject({
      'content-type': PROBLEM,
      allow: 'GET, HEAD, OPTIONS',
      'x-cors': '*',
      vary: 'origin, accept',
    })
    expect(response.json()).toEqual({
      code: 'svc.error.method_not_allowed',
      message: 'This path does not serve that method',
      description: 'It serves GET, HEAD, OPTIONS.',
      request_id: 'id-1',
      type: 'svc.error.method_not_allowed',
      title: 'Method Not Allowed',
      status: 405,
      detail: 'This path does not serve that method',
      instance: response.headers['x-request-id'],
    })
  })

  it.each([
    ['no document', '/nope', PROBLEM, 404, PROBLEM, 'accept'],
    ['nothing that is acceptable', '/x', PROBLEM, 406, PROBLEM, 'accept'],
    ['JSON that is rated higher', '/nope', `${PROBLEM};q=0.5, */*`, 404, JSON_TYPE, undefined],
    ['a range that only covers it', '/nope', 'application/*', 404, JSON_TYPE, undefined],
    ['a success', '/x', `${PROBLEM}, */*;q=0.1`, 200, JSON_TYPE, 'accept'],
  ])('%s', async (...[, target, type, status, expected, vary]) => {
    await gateway.load(path({ get: answers('x') }))
    const response = await gateway.ask('GET', target, accept(type))
    expect([response.status, response.headers['content-type']]).toEqual([status, expected])
    expect(response.headers.vary).toBe(vary)
  })

  it('has the head alone for HEAD', async () => {
    const response = await gateway.ask('HEAD', '/nope', accept(PROBLEM))
    expect([response.status, response.text]).toEqual([404, ''])
    expect(response.headers['content-type']).toBe(PROBLEM)
    expect(Number(response.headers['content-length'])).toBeGreaterThan(100)
  })

  it('stands for the record of an action that failed, with a status that has no name too', async () => {
    const fail: Perform = (exchange) => {
      exchange.fail({
        error_uri: 'a.b',
        args: [],
        kwargs: {},
        details: {},
        status_code: 500,
        headers: { vary: 'cookie' },
        body: '',
        message: 'it went wrong',
      })
    }
    await using served = await serveGateway({ forward: fail })
    const get = { action: { type: 'forward', host: 'a' } }
    await served.load(apiOf({ '/x': { get } }, { status_codes: { 'a.b': 599 } }))
    const response = await served.ask('GET', '/x', accept(`${PROBLEM}, ${JSON_TYPE}`))
    expect(response.json()).toMatchObject({ type: 'a.b', title: 'Error', status: 599 })
    expect(response.headers.vary).toBe('cookie, accept')
  })
})

describe('failures of an action', () => {
  const failing =
    (error_uri: string, more: object = {}): Perform =>
    (exchange) => {
      exchange.fail({
        error_uri,
        args: [1],
        kwargs: { a: 'b' },
        details: {},
        status_code: 599,
        headers: {},
        body: { status_code: 'E1' },
        message: 'it went wrong',
        ...more,
      })
    }

  const failed = async (perform: Perform, onError: object | undefined, api: Api = {}) => {
    await using served = await serveGateway({ forward: perform })
    const response = onError === undefined ? {} : { on_error: onError }
    await served.load(
      apiOf({ '/x': { get: { action: { type: 'forward', host: 'a' }, response } } }, api),
    )
    const received = await served.ask('GET', '/x')
    return { response: received, served }
  }

  it.each<[string, string, object | undefined, number]>([
    ['its own status', 'a.b', { status_code: 418, body: { status_code: 419 } }, 418],
    ['that of a map body', 'a.b', { body: { status_code: 419 } }, 419],
    [
      'that of a map body, as text',
      'a.b',
      { body: { status_code: '419', x: '{{action.error.args}}' } },
      419,
    ],
    [
      'that of an evaluated body',
      'a.b',
      { body: '{{action.error.kwargs |> put(status_code, 420)}}' },
      420,
    ],
    ['none of a body that has no status', 'a.b', { body: '{{action.error.body}}' }, 410],
    ['none of a list', 'a.b', { body: ['{{action.error.args}}'] }, 410],
    ['none of a text', 'a.b', { body: 'x {{action.error.args}}' }, 410],
    ['none of a map without', 'a.b', { body: { a: '{{action.error.args}}' } }, 410],
    ["the upstream's", 'svc.error.upstream.599', {}, 599],
    ["the document's table", 'a.b', {}, 410],
    ['the built-in table', 'wamp.error.no_such_procedure', {}, 501],
    ['500', 'nobody.knows', {}, 500],
    ['500 for a reserved word', 'constructor', {}, 500],
    ['left out: the table', 'a.b', undefined, 410],
  ])('answer with %s', async (...[, uri, onError, status]) => {
    const { response, served } = await failed(failing(uri), onError, {
      status_codes: { 'a.b': 410 },
    })
    expect(response.status).toBe(status)
    expect(served.refused).toEqual([])
  })

  it('see the error with the status that it maps to and the sentence of the record', async () => {
    const { response } = await failed(failing('svc.error.timeout'), { body: '{{action.error}}' })
    expect(response.json()).toMatchObject({
      error_uri: 'svc.error.timeout',
      args: [1],
      kwargs: { a: 'b' },
      status_code: 504,
      message: 'it went wrong',
    })
  })

  it('left out: a record of the error', async () => {
    const { response } = await failed(failing('a.b'), undefined, {
      defaults: { headers: { 'x-cors': '*', 'x-later': '{{action.result.x}}' } },
    })
    expect(response.json()).toEqual({
      code: 'a.b',
      message: 'it went wrong',
      description: '',
      request_id: response.headers['x-request-id'],
    })
    expect([response.headers['x-cors'], response.headers['x-later']]).toEqual(['*', undefined])
  })

  it.each([undefined, {}])('overloaded says when to come again (on_error: %j)', async (onError) => {
    const { response } = await failed(failing('svc.error.overloaded'), onError)
    expect([response.status, response.headers['retry-after']]).toEqual([503, '1'])
  })

  it('the budget of a response is spent once', async () => {
    const text = 'x'.repeat(3_000_000)
    const { response } = await failed(failing('a.b', { kwargs: { text } }), {
      body: { long: '-{{action.error.kwargs.text}}', status_code: '{{action.error.args |> head}}' },
    })
    expect(response.status).toBe(500)
    expect(response.text.length).toBeGreaterThan(3_000_000)
  })

  it('WAMP while no router is there', async () => {
    await gateway.load(
      apiOf({
        '/x': { get: { action: { type: 'wamp_call', procedure: 'a.b' }, response: {} } },
        '/y': {
          get: { action: { type: 'wamp_call', procedure: 'a.b', args: ['{{request.body.x}}'] } },
        },
      }),
    )
    const response = await gateway.ask('GET', '/x')
    expect([response.status, response.json()]).toMatchObject([
      502,
      { code: 'wamp.error.net_failure' },
    ])
    expect((await gateway.ask('GET', '/y')).status).toBe(400)
    await using without = await serveGateway({ hasRealm: false })
    await without.load(path({ get: { action: { type: 'wamp_publish', topic: 'a.b' } } }))
    expect((await without.ask('GET', '/x')).json()).toMatchObject({
      code: 'wamp.error.no_such_realm',
    })
  })
})
