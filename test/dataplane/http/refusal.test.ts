// Refusals in the words of a document (`on_refusal`): what others do to custom error pages, as the trackers of nginx, Kong,
// Envoy, Traefik and APISIX have it: a status that changes, a challenge that is lost, a page that fails, HEAD with a body,
// another tenant's page.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { Authenticate } from '../../../dataplane/security/schemes/authentication.ts'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import { rejected, unauthorized } from '../../../dataplane/security/schemes/challenge.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'
import { refused } from './verdicts.ts'

let gateway: ServedGateway
let verdict: ReturnType<Authenticate>

beforeEach(async () => {
  verdict = refused(unauthorized('basic', 'com.acme'))
  gateway = await serveGateway({
    authenticate: () => verdict,
    resourceOf: (id) => (id.includes('/') ? id : undefined),
  })
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  if (gateway.unexpected.length > 0) throw gateway.unexpected[0] as Error
})

const PAGE = '<h1>{{refusal.status}}</h1><p>{{refusal.message}}</p>'
const HTML = { headers: { 'content-type': 'text/html; charset=utf-8' }, body: PAGE }
const OWN = {
  body: { error: '{{refusal.code}}', id: '{{refusal.request_id}}', list: '{{refusal.errors}}' },
}

const BASIC = { type: 'basic' }
const small = {
  post: answers('{{request.body.n}}'),
  body_max_bytes: 10,
  accepts: ['application/json'],
}

const worded = (onRefusal: unknown, more: object = {}): unknown =>
  apiOf(
    {
      '/x/:id': { get: answers('{{request.bindings.id}}') },
      '/small': small,
      '/secured': { security: BASIC, get: answers('secret') },
      '/json': { provides: ['application/json'], get: answers('x') },
    },
    { defaults: { on_refusal: onRefusal, headers: { 'x-cors': '*', 'x-own': 'path' } }, ...more },
  )

describe('the bounds of a refusal, which anybody may cause', () => {
  it.each([
    ['404', 'GET', '/nope'],
    ['405', 'DELETE', '/x/7'],
    ['415', 'POST', '/small'],
  ])('end what takes more work than a page, at %s', async (status, method, target) => {
    const variables = { text: 'ab'.repeat(100_000) }
    const body = '{{variables.text |> replace(ab, {{request.id}})}}'
    await gateway.load(worded({ body }, { variables }))
    const options =
      method === 'POST' ? { body: 'x', headers: { 'content-type': 'text/plain' } } : {}
    const response = await gateway.ask(method, target, options)
    expect([response.status, response.json()]).toMatchObject([
      Number(status),
      { code: expect.stringMatching(/^svc\.error\./) },
    ])
  })

  it.each([
    ['of the path', 'DELETE', '/x/7'],
    ['of the version', 'GET', '/nope'],
  ])('leave CORS to `cors` and keep Vary: %s', async (_, method, target) => {
    const cors = { origins: ['https://a.test'] }
    const headers = {
      'access-control-allow-origin': '*',
      'access-control-allow-credentials': 'true',
      vary: 'accept-language',
    }
    const defaults = { cors, on_refusal: { headers } }
    await gateway.load(worded({}, { defaults }))
    for (const origin of ['https://a.test', 'https://evil.test']) {
      const response = await gateway.ask(method, target, { headers: { origin } })
      expect(response.headers['access-control-allow-origin']).toBe(
        origin === 'https://a.test' ? origin : undefined,
      )
      expect(response.headers['access-control-allow-credentials']).toBeUndefined()
      expect(String(response.headers.vary).toLowerCase().split(', ').sort()).toEqual([
        'accept-language',
        'origin',
      ])
    }
  })
})

describe('the words of a document', () => {
  it.each<[number, string, string, object]>([
    [400, 'POST', '/small', { json: {} }],
    [401, 'GET', '/secured', {}],
    [404, 'GET', '/nope', {}],
    [405, 'DELETE', '/x/7', {}],
    [406, 'GET', '/json', { headers: { accept: 'image/png' } }],
    [413, 'POST', '/small', { json: { n: 'x'.repeat(50) } }],
    [415, 'POST', '/small', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ])('stand for %i', async (status, method, target, options) => {
    await gateway.load(worded(HTML))
    const response = await gateway.ask(method, target, options)
    expect([response.status, response.headers['content-type']]).toEqual([
      status,
      'text/html; charset=utf-8',
    ])
    expect(response.text).toMatch(new RegExp(`^<h1>${status}</h1><p>[A-Za-z][^<>]+</p>$`))
    expect(response.headers['x-content-type-options']).toBe('nosniff')
    expect(gateway.log[0]).toMatchObject({ status })
  })

  it.each([
    [403, 'svc.error.forbidden'],
    [408, 'svc.error.request_timeout'],
    [426, 'svc.error.upgrade_required'],
    [429, 'svc.error.too_many_requests'],
    [503, 'svc.error.overloaded'],
  ] as const)('stand for %i, whatever step has refused', async (status, code) => {
    verdict = refused(new GatewayError(code, 'not now'))
    await gateway.load(worded(OWN))
    const response = await gateway.ask('GET', '/secured')
    expect([response.status, response.json()]).toMatchObject([status, { error: code }])
    expect(gateway.refused).toEqual([code])
  })

  it.each([
    ['no credentials', unauthorized('basic', 'com.acme')],
    ['a wrong password, or an unknown user', rejected('basic', 'com.acme')],
  ])('keep the challenge for %s, whatever they say of it', async (_, error) => {
    verdict = refused(error)
    const headers = { 'WWW-Authenticate': 'Negotiate', 'x-own': 'refusal', 'x-request-id': 'mine' }
    await gateway.load(worded({ headers, body: '{{refusal.message}}' }))
    const response = await gateway.ask('GET', '/secured')
    expect([response.status, response.json()]).toEqual([401, error.message])
    expect(response.headers).toMatchObject({
      'www-authenticate': error.headers['www-authenticate'],
      'x-own': 'refusal',
      'x-cors': '*',
      'x-request-id': 'id-1',
    })
  })

  it('keep Allow of 405, Retry-After of 429 and the end of a connection', async () => {
    const headers = { allow: 'BREW', 'retry-after': '9', connection: 'keep-alive' }
    await gateway.load(worded({ headers, body: 'no' }))
    const unserved = await gateway.ask('DELETE', '/x/7')
    expect(unserved.headers.allow).toBe('GET, HEAD, OPTIONS')
    const slower = { headers: { 'retry-after': '7' } }
    verdict = refused(new GatewayError('svc.error.too_many_requests', 'slower', slower))
    const throttled = await gateway.ask('GET', '/secured')
    expect([throttled.status, throttled.headers['retry-after']]).toEqual([429, '7'])
    const large = await gateway.ask('POST', '/small', { json: { n: 'x'.repeat(50) } })
    expect([large.status, large.headers.connection, large.json()]).toEqual([413, 'close', 'no'])
  })

  it('are negotiated where they name no type, and win over problem details', async () => {
    await gateway.load(worded(OWN))
    const accept = 'application/problem+json, application/json;q=0.1'
    const response = await gateway.ask('GET', '/nope', { headers: { accept } })
    expect(response.headers['content-type']).toBe('application/json')
    expect(response.json()).toEqual({ error: 'svc.error.not_found', id: 'id-1', list: [] })
    const packed = await gateway.ask('GET', '/nope', { headers: { accept: 'application/msgpack' } })
    expect(packed.headers['content-type']).toBe('application/msgpack')
  })

  it('leave the record where they have headers alone', async () => {
    await gateway.load(worded({ headers: { 'x-own': 'refusal', 'content-type': 'text/html' } }))
    const accept = 'application/problem+json'
    const response = await gateway.ask('DELETE', '/x/7', { headers: { accept } })
    expect(response.json()).toMatchObject({ code: 'svc.error.method_not_allowed', status: 405 })
    expect(response.headers).toMatchObject({ 'x-own': 'refusal', 'content-type': accept })
  })

  it('have no body for HEAD, and its length', async () => {
    await gateway.load(worded(HTML))
    const whole = await gateway.ask('GET', '/nope')
    const head = await gateway.ask('HEAD', '/nope')
    expect([head.status, head.text]).toEqual([404, ''])
    expect(head.headers['content-length']).toBe(whole.headers['content-length'])
  })

  it('may be empty', async () => {
    await gateway.load(worded({ body: '' }))
    const response = await gateway.ask('GET', '/nope')
    expect([response.status, response.text, response.headers['content-length']]).toEqual([
      404,
      '',
      '0',
    ])
    expect(response.headers['content-type']).toBeUndefined()
  })

  it('read the request, and never what it brought in its body', async () => {
    const body = {
      all: '{{request |> get(body)}}',
      path: '{{request.path}}',
      id: '{{request.bindings |> get(id, none)}}',
      code: '{{status_codes |> get(com.acme.a)}}',
      mine: '{{variables.mine}}',
    }
    const more = {
      variables: { mine: 'of {{request.method}}' },
      status_codes: { 'com.acme.a': 410 },
    }
    await gateway.load(worded({ body }, more))
    const bad = await gateway.ask('POST', '/small', { json: { a: 1 } })
    expect([bad.status, bad.json()]).toEqual([
      400,
      { all: '', path: '/small', id: 'none', code: 410, mine: 'of post' },
    ])
    const wrong = await gateway.ask('DELETE', '/x/7')
    expect([wrong.status, wrong.json()]).toMatchObject([405, { id: '7' }])
  })

  it('are those of the path, where it has its own', async () => {
    const paths = {
      '/own': { on_refusal: { body: 'path' }, get: answers('x') },
      '/x': { get: answers('x') },
    }
    await gateway.load(apiOf(paths, { defaults: { on_refusal: { body: 'default' } } }))
    const texts = ['/own', '/x', '/nope'].map(async (path) =>
      (await gateway.ask('PUT', path)).json(),
    )
    expect(await Promise.all(texts)).toEqual(['path', 'default', 'default'])
  })

  it.each([
    ['a redirect', { status: 302, headers: { location: '/login' } }],
    ['an error of the gateway', { status: 500 }],
  ])('do not stand for %s', async (_, options) => {
    verdict = refused(new GatewayError('svc.error.unauthorized', 'no', options))
    await gateway.load(worded(HTML))
    const response = await gateway.ask('GET', '/secured')
    expect([response.status, response.json()]).toMatchObject([options.status, { message: 'no' }])
  })

  it('do not stand for the 403 of CSRF, which pages read', async () => {
    verdict = refused(new GatewayError('svc.error.forbidden', 'no', { reason: 'csrf' }))
    await gateway.load(worded(HTML))
    const response = await gateway.ask('GET', '/secured')
    expect([response.status, response.json()]).toEqual([403, { error: 'csrf_validation_failed' }])
  })
})

describe('words that fail', () => {
  it.each([
    ['an expression', { body: '{{request.headers.x-none}}' }],
    ['a header that none can be', { headers: { 'x-a': '{{request.query_params.a}}' }, body: 'x' }],
    [
      'too much work',
      { body: ['{{request.query_params.b |> split(x)}}', '{{request.query_params.b |> integer}}'] },
    ],
  ])('leave the record of the same status, and are logged: %s', async (_, onRefusal) => {
    await gateway.load(worded(onRefusal))
    for (const [method, path, status] of [
      ['GET', '/secured', 401],
      ['DELETE', '/x/7', 405],
      ['GET', '/nope', 404],
    ] as const) {
      const response = await gateway.ask(method, `${path}?a=%0d%0ax&b=xx`)
      expect([response.status, response.json()]).toMatchObject([
        status,
        { message: expect.any(String) },
      ])
      expect(response.headers['x-cors']).toBe(status === 404 ? undefined : '*')
    }
    expect(gateway.failures.map(({ status, failure }) => [status, failure.reason])).toEqual([
      [401, 'expression'],
      [405, 'expression'],
      [404, 'expression'],
    ])
  })

  it('use up what the request has left, and no more', async () => {
    const body = `${'{{request.query_params.b}}'.repeat(8)}{{refusal.code}}`
    const post = answers('{{request.body.t}}{{request.body.t}}{{request.body.nope}}')
    await gateway.load(apiOf({ '/x': { post } }, { defaults: { on_refusal: { body } } }))
    const query = `b=${'x'.repeat(14_000)}`
    const fresh = await gateway.ask('GET', `/nope?${query}`)
    expect([fresh.status, fresh.text.length > 100_000]).toEqual([404, true])
    const json = { t: 'x'.repeat(4_150_000) }
    const spent = await gateway.ask('POST', `/x?${query}`, { json })
    expect([spent.status, spent.json()]).toMatchObject([400, { code: 'svc.error.invalid_data' }])
  })
})

describe('a path that no document has', () => {
  const version = (base_path: string, body: string | undefined): object => ({
    base_path,
    paths: { '/x': { get: answers('x') } },
    ...(body !== undefined && { defaults: { on_refusal: { body } } }),
  })
  const document = (id: string, host: string, versions: object): unknown => ({
    id,
    host,
    realm_uri: 'com.acme',
    versions,
  })
  const ask = async (path: string, host = 'a.test'): Promise<unknown> => {
    const response = await gateway.ask('GET', path, { headers: { host } })
    expect(response.status).toBe(404)
    const body = response.json()
    return typeof body === 'string' ? body : 'record'
  }

  it.each([
    ['/v1/nope', 'v1'],
    ['/v1/sub/nope', 'sub'],
    ['/v1/sub', 'sub'],
    ['/v1/subs/nope', 'v1'],
    ['/v2/nope', 'record'],
    ['/v3/acme/nope/deeper', 'tenant'],
    ['/v3', 'root'],
    ['/nope', 'root'],
    ['/', 'root'],
    [`/v1${'/a'.repeat(200)}`, 'v1'],
    ['/v1/..%2fx', 'v1'],
  ])('%s has the words of the longest base path: %s', async (path, words) => {
    await gateway.load(
      document('ns/a', 'a.test', {
        root: version('/', 'root'),
        v1: version('/v1', 'v1'),
        sub: version('/v1/sub', 'sub'),
        v2: version('/v2', undefined),
        v3: version('/v3/:tenant', 'tenant'),
      }),
    )
    expect(await ask(path)).toBe(words)
  })

  it('has none where it cannot be read', async () => {
    await gateway.load(document('ns/a', 'a.test', { root: version('/', 'root') }))
    const response = await gateway.ask('GET', '/%zz')
    expect([response.status, response.json()]).toMatchObject([
      400,
      { code: 'svc.error.invalid_data' },
    ])
  })

  it('has those of the namespace that owns the host alone', async () => {
    await gateway.load(
      document('ns/a', 'a.test', { v1: version('/v1', 'a') }),
      document('ns/more', '[...].test', { v2: version('/v2', 'more') }),
      document('other/b', '_', { v1: version('/v1/long', 'b'), v3: version('/v3', 'b') }),
    )
    expect(await ask('/v1/nope')).toBe('a')
    expect(await ask('/v1/long/nope')).toBe('a')
    expect(await ask('/v3/nope')).toBe('record')
    expect(await ask('/v3/nope', 'b.example')).toBe('b')
  })

  it('has those of a version that serves no WebSocket, too', async () => {
    await gateway.load(
      document('ns/a', 'a.test', { v1: { ...version('/v1', 'a'), wamp_websocket: false } }),
    )
    expect(await ask('/v1/nope')).toBe('a')
    expect(await ask('/v1/ws')).toBe('a')
  })

  it('has those of a version whose base path has a binding beside text', async () => {
    await gateway.load(document('ns/a', 'a.test', { v1: version('/:t.api', 'a') }))
    expect(await ask('/foo.api/nope')).toBe('a')
  })

  it('has none once the document is gone', async () => {
    await gateway.load(document('ns/a', 'a.test', { v1: version('/v1', 'a') }))
    expect(await ask('/v1/nope')).toBe('a')
    await gateway.remove('ns/a')
    expect(await ask('/v1/nope')).toBe('record')
  })
})
