import { afterEach, describe, expect, it } from '@jest/globals'
import type { CompiledSecurity } from '../../../../language/compile/security.ts'
import { constant, type Template } from '../../../../language/expression/template.ts'
import { listenHttp, type Listening } from '../../upstream/servers.ts'
import {
  bodyOf,
  call,
  map,
  operationOf,
  read,
  startGateway,
  text,
  type Call,
  type ForwardParts,
  type Gateway,
  type GatewayOptions,
  type OperationParts,
} from './forward-fixture.ts'

interface Echo {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
}

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** An upstream that says what it saw. */
const echoing = async (): Promise<Listening> => {
  const server = await listenHttp((request, response) => {
    void bodyOf(request).then((body) => {
      const { method, url, headers } = request
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ method, url, headers, body: body.toString('latin1') }))
    })
  })
  closers.push(() => server.close())
  return server
}

interface Setup extends Partial<Omit<OperationParts, 'action'>> {
  readonly action?: (ForwardParts & { readonly host?: Template }) | undefined
}

const gatewayTo = async (setup: Setup = {}, options: GatewayOptions = {}): Promise<Gateway> => {
  const server = await echoing()
  const operation = operationOf({
    ...setup,
    action: { host: constant(server.origin), ...setup.action },
  })
  const gateway = await startGateway(operation, options)
  closers.push(() => gateway.close())
  return gateway
}

const seen = async (
  asked: Call,
  setup: Setup = {},
  options: GatewayOptions = {},
): Promise<Echo> => {
  const response = await call(await gatewayTo(setup, options), asked)
  return response.json() as unknown as Echo
}

const refusal = async (asked: Call, setup: Setup = {}): Promise<unknown> => {
  const response = await call(await gatewayTo(setup), asked)
  return (response.json() as { refused?: string }).refused
}

describe('defaults', () => {
  it('method, path, query and body are those of the request', async () => {
    const echo = await seen({
      method: 'PUT',
      path: '/v1/a%2Fb/ž?a=1&a=2&b=%20x'.replace('ž', '%C5%BE'),
      headers: { 'content-type': 'text/plain' },
      body: '{ "a" : 1.0 }',
    })
    expect(echo).toMatchObject({
      method: 'PUT',
      url: '/v1/a%2Fb/%C5%BE?a=1&a=2&b=%20x',
      body: '{ "a" : 1.0 }',
      headers: { 'content-type': 'text/plain', 'content-length': '13' },
    })
  })

  it('headers say who the caller is', async () => {
    const echo = await seen({
      headers: {
        host: 'api.test:8080',
        'x-forwarded-for': '9.9.9.9',
        'X-A': '1',
        traceparent: '00-x',
      },
    })
    expect(echo.headers).toMatchObject({
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'api.test:8080',
      'x-request-id': 'request-1',
      'x-a': '1',
      traceparent: '00-x',
    })
  })

  it.each([
    ['api.test:8080', 'api.test:8080'],
    ['API.test', 'api.test'],
    ['.api.test.:81', 'api.test:81'],
    ['[2001:DB8::0:1]:80', '[2001:db8::1]:80'],
  ])('Host is the one as routed, for %s, if the document says so', async (host, expected) => {
    const echo = await seen({ headers: { host } }, { action: { hostHeader: 'request' } })
    expect(echo.headers).toMatchObject({ host: expected, 'x-forwarded-host': host })
  })

  it.each([
    ['192.0.2.1:80', '192.0.2.1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['2001:db8::1:443', '2001:db8::1'],
    ['', '127.0.0.1'],
  ])('peername %j is %s', async (peername, address) => {
    const change: GatewayOptions['change'] = ({ context }) => {
      context.request.peername = peername
    }
    expect((await seen({}, {}, { change })).headers['x-forwarded-for']).toBe(address)
  })

  it.each<[CompiledSecurity, string[]]>([
    [[{ type: 'anonymous' }], ['authorization', 'x-key']],
    [[{ type: 'basic' }], ['x-key']],
    [[{ type: 'basic' }, { type: 'api_key', headerName: 'x-key' }, { type: 'anonymous' }], []],
    [[{ type: 'oidc', provider: 'default' }], ['x-key']],
    [[{ type: 'oauth2', flow: 'implicit', tokenPath: '/t', revokeTokenPath: '/r' }], ['x-key']],
    [[{ type: 'api_key', headerName: 'X-Key' }], ['authorization']],
    [[{ type: 'api_key', headerName: 'x_key' }], ['authorization']],
  ])('%j keeps its credential here', async (security, passed) => {
    const { headers } = await seen({ headers: { authorization: 'B', 'x-key': 'k' } }, { security })
    expect(['authorization', 'x-key'].filter((name) => name in headers)).toEqual(passed)
  })
})

describe('what the document sets', () => {
  it('method', async () => {
    expect(
      await seen(
        {},
        { action: { method: 'post', body: map({ q: read('request.query_string') }) } },
      ),
    ).toMatchObject({
      method: 'POST',
      body: '{"q":""}',
      headers: { 'content-type': 'application/json' },
    })
  })

  it.each([
    ['a:b@c,d=e+f$g&h!', 'a:b@c,d=e+f$g&h!'],
    ['a;b', 'a%3Bb'],
    ['a/b?c#d%2F e', 'a%2Fb%3Fc%23d%252F%20e'],
    ["ž'()*~", "%C5%BE'()*~"],
  ])('what RFC 3986 allows in a segment stays: %s', async (value, written) => {
    const id = read('request.query_params.id')
    const action = { path: text('/v2/', id, ':go?again=', id, '&x=1') }
    const path = `/x?id=${encodeURIComponent(value)}`
    expect((await seen({ path }, { action })).url.split('?')[0]).toBe(`/v2/${written}:go`)
  })

  it('behind a ? of the path a tag stays one value of the query', async () => {
    const id = read('request.query_params.id')
    const action = {
      path: text('/', id, text('/b?again=', id), '&x=', id),
      queryString: constant(''),
    }
    const path = `/x?id=${encodeURIComponent('a&b=c')}`
    expect((await seen({ path }, { action })).url).toBe('/a&b=c/b?again=a%26b%3Dc&x=a%26b%3Dc')
  })

  it('path, its tags encoded as one segment', async () => {
    const action = {
      path: text('/people/', read('request.query_params.id'), '/card'),
      queryString: constant(''),
    }
    expect((await seen({ path: '/x?id=a%2Fb%3Fc' }, { action })).url).toBe('/people/a%2Fb%3Fc/card')
  })

  it('query, its tags encoded as one value', async () => {
    const action = {
      path: constant('/e'),
      queryString: text('p=', read('request.query_params.p'), '&s=10'),
    }
    expect((await seen({ path: '/x?p=1%26s=2' }, { action })).url).toBe('/e?p=1%26s%3D2&s=10')
  })

  it('an empty query', async () => {
    expect((await seen({ path: '/x?a=1' }, { action: { queryString: constant('') } })).url).toBe(
      '/x',
    )
  })

  it('headers replace those of the request', async () => {
    const headers = map({ 'X-Up': read('request.headers.x-in'), Host: 'evil.test', n: 1 })
    const echo = await seen(
      { headers: { 'x-in': 'v', 'x-secret': 's', accept: '*/*', traceparent: '00-t' } },
      { action: { headers } },
    )
    expect(Object.keys(echo.headers).sort()).toEqual(
      [
        'connection',
        'host',
        'n',
        'traceparent',
        'x-forwarded-for',
        'x-forwarded-host',
        'x-forwarded-proto',
        'x-request-id',
        'x-up',
      ].sort(),
    )
    expect(echo.headers).toMatchObject({
      'x-up': 'v',
      n: '1',
      host: expect.stringContaining('127.0.0.1'),
    })
  })

  it('headers without a content type leave that of the body', async () => {
    const asked = {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'text/csv', 'content-encoding': 'br' },
    }
    const { headers } = await seen(asked, {
      action: { headers: map({ a: read('request.method') }) },
    })
    expect(headers).toMatchObject({
      a: 'post',
      'content-type': 'text/csv',
      'content-encoding': 'br',
    })
  })

  it.each<[string, Template, string[]]>([
    ['handed on whole', read('request.headers'), []],
    [
      'name by name',
      map({ authorization: read('request.headers.authorization') }),
      ['authorization'],
    ],
    ['a name of its own', map({ 'x-svc-user': read('security.authid') }), ['x-svc-user']],
  ])('headers %s', async (_, headers, passed) => {
    const echo = await seen(
      {
        headers: {
          authorization: 'Basic x',
          'x-svc-user': 'root',
          x_svc_role: 'admin',
          'x-forwarded-prefix': '/p',
          forwarded: 'for=x',
        },
      },
      { security: [{ type: 'basic' }], action: { headers } },
      {
        change: ({ context }) => {
          context.security = { authid: 'ann' }
        },
      },
    )
    const names = ['authorization', 'x-svc-user', 'x_svc_role', 'x-forwarded-prefix', 'forwarded']
    expect(names.filter((name) => name in echo.headers)).toEqual(passed)
  })

  it.each<[string, Template, Template | undefined, string, string | undefined]>([
    ['a map', map({ id: read('request.method') }), undefined, '{"id":"post"}', 'application/json'],
    ['a constant map', constant({ a: [1] }), undefined, '{"a":[1]}', 'application/json'],
    [
      'a list',
      { kind: 'list', items: [read('request.method')] },
      undefined,
      '["post"]',
      'application/json',
    ],
    ['a map read', read('request.query_params'), undefined, '{}', 'application/json'],
    ['a number', constant(7), undefined, '7', 'application/json'],
    [
      'text keeps the type of the request',
      text('<', read('request.method'), '>'),
      undefined,
      '<post>',
      'text/xml',
    ],
    [
      'text of a type of its own',
      constant('a,b'),
      constant({ 'content-type': 'text/csv' }),
      'a,b',
      'text/csv',
    ],
    ['bytes', constant(Buffer.from([0xff])), undefined, '\u00ff', 'text/xml'],
    ['nothing', constant(''), undefined, '', undefined],
    ['null', constant(null), undefined, '', undefined],
    [
      'JSON by another name',
      map({ m: read('request.method') }),
      constant({ 'content-type': 'application/vnd.x+json' }),
      '{"m":"post"}',
      'application/vnd.x+json',
    ],
    [
      'msgpack',
      map({ m: read('request.method') }),
      constant({ 'content-type': 'application/msgpack' }),
      '\u0081\u00a1m\u00a4post',
      'application/msgpack',
    ],
    [
      'a form',
      map({ m: read('request.method'), n: 'a b&' }),
      constant({ 'content-type': 'application/x-www-form-urlencoded' }),
      'm=post&n=a+b%26',
      'application/x-www-form-urlencoded',
    ],
    [
      'a form of no map',
      constant([1]),
      constant({ 'content-type': 'application/x-www-form-urlencoded' }),
      '[1]',
      'application/x-www-form-urlencoded',
    ],
    [
      'a map in another type',
      map({ m: read('request.method') }),
      constant({ 'content-type': 'text/plain' }),
      '{"m":"post"}',
      'text/plain',
    ],
  ])('body: %s', async (...[, body, headers, sent, contentType]) => {
    const echo = await seen(
      {
        method: 'POST',
        body: 'old',
        headers: { 'content-type': 'text/xml', 'content-encoding': 'gzip' },
      },
      { action: { body, ...(headers && { headers }) } },
      { buffers: true },
    )
    expect(echo.body).toBe(sent)
    expect(echo.headers['content-type']).toBe(contentType)
    expect(echo.headers['content-length']).toBe(String(sent.length))
    expect(echo.headers).not.toHaveProperty('content-encoding')
  })

  it('host from data', async () => {
    const server = await echoing()
    const action = { host: text('http://127.0.0.1:', read('request.query_params.port')) }
    const gateway = await gatewayTo({ action })
    for (let round = 0; round < 2; round++) {
      expect((await call(gateway, { path: `/x?port=${server.port}` })).status).toBe(200)
    }
  })
})

describe('what is refused', () => {
  it.each<[string, Setup['action'], string]>([
    ['userinfo', { path: constant('@evil.test/x') }, 'svc.error.invalid_data'],
    ['an absolute URL', { path: constant('http://evil.test/x') }, 'svc.error.invalid_data'],
    ['dots', { path: constant('/a/../b') }, 'svc.error.invalid_data'],
    [
      'dots from data',
      { path: text('/a/', read('request.query_params.v'), '/b') },
      'svc.error.invalid_data',
    ],
    ['line breaks in a path', { path: constant('/a\r\nb') }, 'svc.error.invalid_data'],
    [
      'line breaks in a header',
      { headers: map({ x: 'a\r\ny: z', m: read('request.method') }) },
      'svc.error.invalid_data',
    ],
    ['headers that are no map', { headers: read('request.method') }, 'ExpressionError'],
    ['a host that is no text', { host: constant(7) }, 'ExpressionError'],
    ['a constant host with a path', { host: constant('http://a/b') }, 'ExpressionError'],
    [
      'a host from data with a path',
      { host: text('http://a/', read('request.query_params.v')) },
      'svc.error.invalid_data',
    ],
    ['a missing key', { path: read('request.body.nope') }, 'ExpressionError'],
  ])('%s', async (_, action, code) => {
    expect(await refusal({ path: '/x?v=..' }, { action })).toBe(code)
  })

  it('limits that are no numbers', async () => {
    expect(await refusal({}, { limits: { timeout: read('request.method') } })).toBe(
      'ExpressionError',
    )
  })
})

describe('bodies of clients', () => {
  const big = Buffer.alloc(3_000_000, 'abcdefg')

  it.each([
    ['small, of known length', 'abc', false, { 'content-length': '3' }],
    ['small, chunked', 'abc', true, { 'transfer-encoding': 'chunked' }],
    ['large, of known length', big, false, { 'content-length': '3000000' }],
    ['large, chunked', big, true, { 'transfer-encoding': 'chunked' }],
  ])('%s', async (_, body, chunked, headers) => {
    const echo = await seen({ method: 'POST', body, chunked })
    expect(echo.headers).toMatchObject(headers)
    expect(echo.body === body.toString()).toBe(true)
  })

  it('read by dispatch', async () => {
    const echo = await seen({ method: 'POST', body: 'abc', chunked: true }, {}, { buffers: true })
    expect(echo).toMatchObject({ body: 'abc', headers: { 'content-length': '3' } })
  })

  it('none', async () => {
    const { headers } = await seen({ method: 'POST' }, {}, { buffers: true })
    expect(headers).toMatchObject({ 'content-length': '0' })
    const get = await seen({})
    expect(get.headers).not.toHaveProperty('content-length')
    expect(get.headers).not.toHaveProperty('transfer-encoding')
  })

  it('Expect is answered here', async () => {
    const echo = await seen({ method: 'POST', body: 'abc', headers: { expect: '100-continue' } })
    expect(echo.body).toBe('abc')
    expect(echo.headers).not.toHaveProperty('expect')
  })
})
