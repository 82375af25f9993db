// Requests through a real server: which document and operation answers them, and who answers otherwise.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { headerValues } from '../../support/raw-client.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

let gateway: ServedGateway

beforeEach(async () => {
  gateway = await serveGateway()
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  if (gateway.inFlight.count !== 0) throw new Error(`${gateway.inFlight.count} are in flight`)
})

const codeOf = (response: { json: () => unknown }) => (response.json() as { code: string }).code

describe('what no document serves', () => {
  it('is a 404 record, counted apart from documents', async () => {
    await gateway.load(apiOf({ '/x': { get: answers('x') } }))
    const response = await gateway.ask('GET', '/nope')
    expect(response.status).toBe(404)
    expect(response.json()).toEqual({
      code: 'svc.error.not_found',
      message: expect.any(String),
      description: expect.any(String),
      request_id: response.headers['x-request-id'],
    })
    expect(response.headers).toMatchObject({
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'id-1',
    })
    expect([gateway.unmatched, gateway.statuses, gateway.refused]).toEqual([
      [404],
      [],
      ['svc.error.not_found'],
    ])
  })

  it('is answered as HEAD is: the head alone', async () => {
    const response = await gateway.ask('HEAD', '/nope')
    expect([response.status, response.text]).toEqual([404, ''])
    expect(Number(response.headers['content-length'])).toBeGreaterThan(10)
  })

  it.each(['/', '/index'])(
    'but for %s, where a base_path / has the path /[index]',
    async (path) => {
      await gateway.load(apiOf({ '/[index]': { get: answers('x') } }))
      expect((await gateway.ask('GET', path)).status).toBe(200)
    },
  )

  it('in msgpack for whom only takes that, JSON for whom takes neither', async () => {
    const packed = await gateway.ask('GET', '/', { headers: { accept: 'application/msgpack' } })
    expect(packed.headers['content-type']).toBe('application/msgpack')
    const other = await gateway.ask('GET', '/', { headers: { accept: 'text/html' } })
    expect(other.headers['content-type']).toBe('application/json')
  })

  it.each([
    ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n', 400],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['no host, absolute form', 'GET http://a/ HTTP/1.1\r\n\r\n', 400],
    ['no host in HTTP/1.0', 'GET /x HTTP/1.0\r\n\r\n', 200],
    ['an empty host', 'GET /x HTTP/1.1\r\nHost:\r\n\r\n', 200],
    ['an absolute form', 'GET http://b.test/x HTTP/1.1\r\nHost: a\r\n\r\n', 200],
    ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', 404],
    ['a broken escape', 'GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['dots', 'GET /a/../x HTTP/1.1\r\nHost: a\r\n\r\n', 404],
    ['a method that is no HTTP', 'NOPE /x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    [
      'an upgrade that no route takes',
      'GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      200,
    ],
    [
      'a body that waits to be asked for',
      'GET /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n1',
      200,
    ],
    ['an expectation', 'GET /x HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n', 200],
  ])('%s', async (_, head, status) => {
    await gateway.load(apiOf({ '/x': { get: answers('x') } }))
    await using client = await gateway.raw(head)
    expect((await client.response()).status).toBe(status)
  })

  describe('a client that waits for 100 Continue', () => {
    const post = (path: string, length: number, more = ''): string =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n${more}\r\n`
    const JSON_TYPE = 'Content-Type: application/json\r\n'

    const load = (): Promise<void> =>
      gateway.load(
        apiOf({
          '/x': { post: { ...answers('{{request.body}}'), body_max_bytes: 100 } },
          '/get': { get: answers('x') },
        }),
      )

    it.each([
      ['404', post('/nowhere', 5)],
      ['405', post('/get', 5)],
      ['406', post('/x', 5, `${JSON_TYPE}Accept: image/png\r\n`)],
      ['413', post('/x', 101, JSON_TYPE)],
      ['415', post('/x', 5, 'Content-Type: image/png\r\n')],
    ])('gets a %s alone, and the connection ends', async (status, head) => {
      await load()
      await using client = await gateway.raw(head)
      expect(await client.stream.line()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      const rest = (await client.stream.takeToEnd()).toString().toLowerCase()
      expect(rest).toContain('connection: close')
    })

    it('gets it with an upgrade that is not taken, and the connection ends then, too', async () => {
      await load()
      const upgrade = 'Connection: Upgrade\r\nUpgrade: h2c\r\n'
      await using client = await gateway.raw(`${post('/x', 3, JSON_TYPE + upgrade)}"a"`)
      expect(await client.stream.line()).toBe('HTTP/1.1 100 Continue')
      expect(await client.stream.line()).toBe('')
      const response = await client.response()
      expect(response.body.toString()).toBe('"a"')
      expect(headerValues(response, 'connection')).toEqual(['close'])
    })

    it('gets it when its body is read, and may go on after the response', async () => {
      await load()
      await using client = await gateway.raw(post('/x', 3, JSON_TYPE))
      expect(await client.stream.line()).toBe('HTTP/1.1 100 Continue')
      expect(await client.stream.line()).toBe('')
      client.send([Buffer.from('"a"GET /get HTTP/1.1\r\nHost: a\r\n\r\n')])
      expect((await client.response()).body.toString()).toBe('"a"')
      expect((await client.response()).body.toString()).toBe('"x"')
    })
  })

  it.each([
    ['another version', 'GET /x HTTP/2.0\r\nHost: a\r\n\r\n'],
    [
      'another coding',
      'POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'chunks of HTTP/1.0',
      'POST /x HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('%s: refused, and what is behind it never looked at', async (_, sent) => {
    await gateway.load(apiOf({ '/x': { get: answers('x') } }))
    const behind = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'
    await using client = await gateway.raw(sent + behind, behind)
    const response = await client.response()
    expect([response.status, headerValues(response, 'connection')]).toEqual([400, ['close']])
    expect(await client.more()).toBe(false)
    expect(gateway.log.map(({ status }) => status)).toEqual([400])
    expect(gateway.inFlight.count).toBe(0)
  })

  it('the authority of an absolute form is the host', async () => {
    await gateway.load(
      apiOf({ '/x': { get: answers('{{request.host}} {{request.port}}') } }, { host: 'b.test' }),
    )
    await using client = await gateway.raw('GET http://B.test:81/x HTTP/1.1\r\nHost: a\r\n\r\n')
    expect((await client.response()).body.toString()).toBe('"b.test 81"')
  })
})

describe('methods', () => {
  const paths = {
    '/get': { get: answers('got') },
    '/head': {
      get: answers('got'),
      head: { action: { type: 'static', headers: { 'x-own': 'head' } } },
    },
    '/post': { post: answers('posted') },
  }

  it.each([
    ['GET', '/get', 200, '"got"'],
    ['HEAD', '/get', 200, ''],
    ['HEAD', '/post', 405, ''],
    ['TRACE', '/get', 405, expect.stringContaining('svc.error.method_not_allowed')],
    ['PROPFIND', '/get', 405, expect.stringContaining('GET, HEAD, OPTIONS')],
    ['DELETE', '/post', 405, expect.stringContaining('It serves OPTIONS, POST.')],
    ['OPTIONS', '/post', 204, ''],
  ])('%s %s', async (method, path, status, text) => {
    await gateway.load(apiOf(paths))
    const response = await gateway.ask(method, path)
    expect([response.status, response.text]).toEqual([status, text])
    expect(response.headers.allow).toBe(
      status === 200 ? undefined : path === '/get' ? 'GET, HEAD, OPTIONS' : 'OPTIONS, POST',
    )
  })

  it('HEAD is served by GET when not declared: the same head', async () => {
    await gateway.load(apiOf(paths))
    const [get, head] = [await gateway.ask('GET', '/get'), await gateway.ask('HEAD', '/get')]
    expect(head.headers['content-length']).toBe('5')
    const { 'x-request-id': id, ...same } = get.headers
    expect(id).toBe('id-1')
    expect(head.headers).toMatchObject({ ...same, date: expect.any(String) })
    expect(Object.keys(head.headers)).toHaveLength(Object.keys(get.headers).length)
    expect((await gateway.ask('HEAD', '/head')).headers['x-own']).toBe('head')
  })
})

describe('schemes', () => {
  it('that a path does not serve: 404 that names those it does', async () => {
    await gateway.load(
      apiOf({ '/x': { schemes: ['https'], headers: { 'x-a': 'a' }, get: answers('x') } }),
    )
    const response = await gateway.ask('GET', '/x')
    expect(response.status).toBe(404)
    expect(response.json()).toMatchObject({ description: 'This path is served over https.' })
    expect(response.headers['x-a']).toBe('a')
    expect((await gateway.ask('OPTIONS', '/x')).status).toBe(404)
  })

  it('as a trusted proxy names them', async () => {
    await using proxied = await serveGateway({ trustedProxies: ['127.0.0.1/32'] })
    await proxied.load(
      apiOf({
        '/x': { schemes: ['https'], get: answers('{{request.scheme}} {{request.peername}}') },
      }),
    )
    const headers = {
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '1.2.3.4',
      'x-request-id': 'mine',
    }
    const response = await proxied.ask('GET', '/x', { headers })
    expect(response.text).toBe('"https 1.2.3.4:0"')
    expect(response.headers['x-request-id']).toBe('mine')
    expect(proxied.log[0]).toMatchObject({
      peername: '1.2.3.4:0',
      id: 'mine',
      host: 'a.test',
      status: 200,
    })
    expect((await proxied.ask('GET', '/x')).status).toBe(404)
  })

  it.each([
    ['the client itself', [], undefined, '127.0.0.1'],
    ['a stranger who names another', [], '1.2.3.4', '127.0.0.1'],
    ['the one that a trusted proxy names', ['127.0.0.1/32'], '1.2.3.4', '1.2.3.4'],
    ['IPv6', ['127.0.0.1/32'], '2001:DB8::0:1', '2001:db8::1'],
    ['IPv4 in IPv6', ['127.0.0.1/32'], '::ffff:1.2.3.4', '1.2.3.4'],
    ['IPv4 with a port', ['127.0.0.1/32'], '1.2.3.4:4711', '1.2.3.4'],
    ['IPv6 with a port', ['127.0.0.1/32'], '[2001:DB8::0:1]:443', '2001:db8::1'],
    ['the proxy, where it names none', ['127.0.0.1/32'], undefined, ''],
    ['the proxy, where what it names is no address', ['127.0.0.1/32'], 'unknown', ''],
  ])('with the address of %s', async (_, trustedProxies, forwardedFor, expected) => {
    await using gateway = await serveGateway({ trustedProxies })
    await gateway.load(apiOf({ '/x': { get: answers('from {{request.client_address}}') } }))
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    expect((await gateway.ask('GET', '/x', { headers })).json()).toBe(`from ${expected}`)
  })
})

describe('documents that share a path', () => {
  const shared = (id: string, path: Readonly<Record<string, unknown>>) =>
    apiOf({ '/x': { headers: { 'x-from': id }, ...path } }, { id })

  it('each serves its methods; Allow is the union, other headers are the oldest', async () => {
    await gateway.load(
      shared('old', { get: answers('old') }),
      shared('young', { put: answers('young') }),
    )
    expect((await gateway.ask('GET', '/x')).text).toBe('"old"')
    expect((await gateway.ask('PUT', '/x')).text).toBe('"young"')
    for (const method of ['OPTIONS', 'DELETE']) {
      const { headers } = await gateway.ask(method, '/x')
      expect([headers.allow, headers['x-from']]).toEqual(['GET, HEAD, OPTIONS, PUT', 'old'])
    }
  })

  it('of those that serve the scheme', async () => {
    await gateway.load(
      shared('old', { schemes: ['https'], get: answers('old') }),
      shared('young', { schemes: ['http'], put: answers('young') }),
    )
    const { headers } = await gateway.ask('OPTIONS', '/x')
    expect([headers.allow, headers['x-from']]).toEqual(['OPTIONS, PUT', 'young'])
    expect((await gateway.ask('GET', '/x')).status).toBe(405)
  })
})

describe('headers of a path', () => {
  const headers = {
    'access-control-allow-origin': '{{request.headers.origin}}',
    'x-fixed': 'a',
    'x-bound':
      '{{request.bindings.id}} {{request.query_params.q}} {{request.language}} {{request.method}}',
    'x-code': '{{status_codes |> get(a.b)}}',
    'x-later': '{{action.result.body}}',
    'x-who': '{{security.authid}}',
    allow: 'nothing',
  }
  const document = apiOf(
    { '/x/:id': { headers, get: answers('x', { on_result: { headers: {} } }) } },
    { status_codes: { 'a.b': 410 }, version: { languages: ['en', 'es'] } },
  )

  it.each([
    ['OPTIONS', 204],
    ['DELETE', 405],
  ])('%s: what the request is enough for is there', async (method, status) => {
    await gateway.load(document)
    const sent = { origin: 'http://o.test', 'accept-language': 'es' }
    const response = await gateway.ask(method, '/x/7?q=2', { headers: sent })
    expect(response.status).toBe(status)
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': 'http://o.test',
      'x-fixed': 'a',
      'x-bound': `7 2 es ${method.toLowerCase()}`,
      'x-code': '410',
      allow: 'GET, HEAD, OPTIONS',
    })
    for (const name of ['x-later', 'x-who']) expect(response.headers[name]).toBeUndefined()
  })

  it('without an origin there is none to echo', async () => {
    await gateway.load(document)
    const response = await gateway.ask('OPTIONS', '/x/7')
    expect(response.headers['access-control-allow-origin']).toBeUndefined()
    expect(response.headers['x-fixed']).toBe('a')
  })
})

describe('security', () => {
  const secured = (security: object, path: object = { get: answers('secret') }) =>
    apiOf({ '/x': { security, headers: { 'x-cors': '*' }, ...path } }, { realm_uri: 'com.acme"é' })

  it.each([
    [{ type: 'basic' }, 'Basic'],
    [{ type: 'api_key' }, 'ApiKey'],
    [{ type: 'oauth2', flow: 'implicit' }, 'Bearer'],
    [{ type: 'oidc' }, 'Bearer'],
  ])('%j refuses whom it can not check', async (security, scheme) => {
    await gateway.load(secured(security))
    for (const headers of [{}, { authorization: 'Basic YTpi' }]) {
      const response = await gateway.ask('GET', '/x', { headers })
      expect([response.status, codeOf(response)]).toEqual([401, 'svc.error.unauthorized'])
      const challenge = response.headers['www-authenticate']
      expect(challenge).toContain(`${scheme} realm="com.acme%22%C3%A9"`)
      expect(response.headers['x-cors']).toBe('*')
    }
  })

  it('OPTIONS needs none, declared or not', async () => {
    await gateway.load(secured({ type: 'basic' }, { get: answers('x'), options: { action: {} } }))
    expect((await gateway.ask('OPTIONS', '/x')).status).toBe(204)
    expect((await gateway.ask('HEAD', '/x')).status).toBe(401)
  })

  it('comes before Accept and Content-Type', async () => {
    await gateway.load(secured({ type: 'basic' }, { post: answers('x') }))
    const response = await gateway.ask('POST', '/x', {
      headers: { accept: 'text/html', 'content-type': 'a/b' },
      body: 'x',
    })
    expect(response.status).toBe(401)
  })
})

describe('faults of the program', () => {
  it('of whatever builds an operation: 500 that says nothing, and a line in the log', async () => {
    await gateway.load(apiOf({ '/x': { get: { action: { type: 'forward', host: 'a' } } } }))
    const response = await gateway.ask('GET', '/x')
    expect([response.status, codeOf(response)]).toEqual([500, 'svc.error.internal'])
    expect(response.text).not.toMatch(/TypeError|scope|undefined/)
    expect(gateway.unexpected).toHaveLength(1)
  })
})

it('a request that is served says so in the log', async () => {
  await gateway.load(apiOf({ '/x': { get: answers('x') } }, { id: 'constructor' }))
  await gateway.ask('GET', '/x?secret=1')
  expect(gateway.log).toEqual([
    {
      id: 'id-1',
      time: expect.any(Number),
      peername: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      method: 'GET',
      host: 'a.test',
      target: '/x?secret=1',
      status: 200,
      seconds: expect.any(Number),
      bytes: 3,
      api: 'constructor',
      version: 'v1',
    },
  ])
})

it('reserved words are hosts, paths, bindings, headers and parameters like others', async () => {
  const body = {
    binding: '{{request.bindings.__proto__}}',
    query: '{{request.query_params.constructor}}',
    headers: '{{request.headers.__proto__}}',
    host: '{{request.host}}',
  }
  await gateway.load(
    apiOf({ '/constructor/:__proto__': { get: answers(body) } }, { host: 'constructor' }),
  )
  await using client = await gateway.raw(
    'GET /constructor/toString?constructor=c HTTP/1.1\r\nHost: constructor\r\n__proto__: h\r\n__proto__: i\r\n\r\n',
  )
  const response = await client.response()
  expect(JSON.parse(response.body.toString())).toEqual({
    binding: 'toString',
    query: 'c',
    headers: 'h, i',
    host: 'constructor',
  })
  expect(headerValues(response, 'content-type')).toEqual(['application/json'])
})

it('a request as a whole is all that is known of it', async () => {
  await gateway.load(apiOf({ '/x/:id': { post: answers('{{request}}') } }))
  const response = await gateway.ask('POST', '/x/7?a=b', { json: { c: 1 } })
  expect(response.json()).toMatchObject({
    id: 'id-1',
    method: 'post',
    scheme: 'http',
    peername: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    path: '/x/7',
    host: 'a.test',
    port: new URL(gateway.url).port,
    headers: { host: 'a.test', 'content-type': 'application/json' },
    language: 'en',
    query_string: 'a=b',
    query_params: { a: 'b' },
    bindings: { id: '7' },
    body: { c: 1 },
    body_length: 7,
  })
})
