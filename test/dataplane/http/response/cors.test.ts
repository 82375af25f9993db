// What `cors` of a document makes of preflights and responses, on the wire.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { GatewayError } from '../../../../dataplane/gateway-error.ts'
import { refused } from '../verdicts.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from '../served-gateway.ts'
import { serveUpstream } from './forward-server.ts'

const APP = 'https://app.example.com'
const EVIL = 'https://evilapp.example.com'
const CORS = { origins: [APP, 'https://*.shop.example.com'], credentials: true }
const PUBLIC = { origins: ['*'] }

let gateway: ServedGateway

beforeEach(async () => {
  gateway = await serveGateway({
    authenticate: () => refused(new GatewayError('svc.error.unauthorized', 'no')),
  })
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** Its CORS headers, `allow-origin` for short, with `vary`. */
const corsOf = (headers: Headers): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name === 'vary' || name.startsWith('access-control-')
        ? [[name.replace('access-control-', ''), value]]
        : [],
    ),
  )

const ask = async (method: string, path: string, headers: Record<string, string>) => {
  const response = await gateway.ask(method, path, { headers })
  return [response.status, corsOf(response.headers)] as const
}

const preflight = (path: string, method: string, more: Record<string, string> = {}, origin = APP) =>
  ask('OPTIONS', path, { origin, 'access-control-request-method': method, ...more })

const VARY = 'origin, access-control-request-method, access-control-request-headers'
const REFUSED = [
  204,
  { vary: 'access-control-request-method, access-control-request-headers, origin' },
]

describe('a response of a document with cors', () => {
  const ALLOWED = { 'allow-origin': APP, 'allow-credentials': 'true' }
  const paths = {
    '/x': {
      get: answers('x'),
      post: { action: { type: 'forward', host: 'http://127.0.0.1:9' } },
    },
    '/each': { get: answers('{{request.path}}') },
    '/typed': { get: answers('x', { on_result: { headers: { vary: 'Cookie' } } }) },
    '/secret': { security: { type: 'basic' }, get: answers('x') },
    '/https': { schemes: ['https'], get: answers('x') },
    '/small': { body_max_bytes: 1, post: answers('{{request.body}}') },
    '/broken': { get: answers('x', { on_result: { status_code: '{{request.path}}' } }) },
    '/none': { cors: false, get: answers('x') },
    '/own': { get: { cors: { origins: ['https://other.test'] }, ...answers('x') } },
  }

  beforeEach(async () => {
    await gateway.load(apiOf(paths, { defaults: { cors: CORS } }))
  })

  it.each<[string, string, string, Record<string, string>, number, object]>([
    ['a fixed response', 'GET', '/x', {}, 200, { vary: 'accept, origin' }],
    ['one that is rendered', 'GET', '/each', {}, 200, { vary: 'accept, origin' }],
    ['one with a Vary of its own', 'GET', '/typed', {}, 200, { vary: 'Cookie, accept, origin' }],
    ['401', 'GET', '/secret', {}, 401, { vary: 'accept, origin' }],
    ['405', 'PUT', '/x', {}, 405, { vary: 'origin' }],
    ['404 of another scheme', 'GET', '/https', {}, 404, { vary: 'origin' }],
    ['406', 'GET', '/x', { accept: 'image/png' }, 406, { vary: 'accept, origin' }],
    ['400', 'GET', '/broken', {}, 400, { vary: 'accept, origin' }],
    ['a simple OPTIONS', 'OPTIONS', '/x', {}, 204, { vary: 'origin' }],
  ])('%s names the origin', async (_, ...[method, path, headers, status, more]) => {
    // The second one may come from what the first has left.
    for (let turn = 0; turn < 2; turn++)
      expect(await ask(method, path, { origin: APP, ...headers })).toEqual([
        status,
        { ...ALLOWED, ...more },
      ])
  })

  it.each<[string, string, object]>([
    ['413', '/small', { json: 'long' }],
    ['415', '/small', { body: 'x', headers: { 'content-type': 'image/png' } }],
  ])('%s names the origin', async (status, path, { headers, ...more }: { headers?: object }) => {
    const response = await gateway.ask('POST', path, {
      ...more,
      headers: { origin: APP, ...headers },
    })
    expect(response.status).toBe(Number(status))
    expect(corsOf(response.headers)).toMatchObject(ALLOWED)
  })

  it.each([
    ['another origin', { origin: EVIL }],
    ['none', {}],
    ['null', { origin: 'null' }],
    ['two', { origin: `${APP}, ${EVIL}` }],
  ])('names no origin for %s, and varies all the same', async (_, headers) => {
    expect(await ask('GET', '/x', headers)).toEqual([200, { vary: 'accept, origin' }])
  })

  it('is not mixed up between origins', async () => {
    const other = 'https://a.b.shop.example.com'
    for (const origin of [APP, other, EVIL, APP])
      expect((await ask('GET', '/x', { origin }))[1]).toMatchObject(
        origin === EVIL ? { vary: 'accept, origin' } : { 'allow-origin': origin },
      )
  })

  it('follows the nearest cors, and none where it is false', async () => {
    expect(await ask('GET', '/none', { origin: APP })).toEqual([200, { vary: 'accept' }])
    expect(await ask('GET', '/own', { origin: APP })).toEqual([200, { vary: 'accept, origin' }])
    expect(await ask('GET', '/own', { origin: 'https://other.test' })).toEqual([
      200,
      { 'allow-origin': 'https://other.test', vary: 'accept, origin' },
    ])
  })
})

describe('a 404 where no path matches', () => {
  const A = 'https://a.test'
  const documentOf = (id: string, base: string, origins: readonly string[]) =>
    apiOf(
      { '/x': { get: answers('x') } },
      {
        id,
        version: { base_path: base, defaults: { cors: { origins } } },
      },
    )

  it.each<[string, string, string, string | undefined]>([
    ['a version', '/v1/nothing', APP, APP],
    ['a version itself', '/v1', APP, APP],
    ['one within another', '/v1/inner/no/such', A, A],
    ['one within another, for the origin of the outer one', '/v1/inner/no', APP, undefined],
    ['a version, with a slash at its end', '/v1/no/', APP, APP],
    ['a version, for another origin', '/v1/nothing', EVIL, undefined],
  ])('names the origin below %s', async (_, path, origin, allowed) => {
    await gateway.load(documentOf('a', '/v1', [APP]), documentOf('b', '/v1/inner', [A]))
    expect(await ask('GET', path, { origin })).toEqual([
      404,
      { ...(allowed !== undefined && { 'allow-origin': allowed }), vary: 'origin' },
    ])
  })

  it('names none below no version', async () => {
    await gateway.load(documentOf('a', '/v1', [APP]))
    expect(await ask('GET', '/v2/x', { origin: APP })).toEqual([404, {}])
    expect(await ask('GET', '/v11', { origin: APP })).toEqual([404, {}])
  })
})

describe('a preflight', () => {
  const paths = {
    '/x': { get: answers('x'), delete: answers('') },
    '/secret': { security: { type: 'basic' }, put: answers('x') },
    '/declared': {
      put: answers('x'),
      options: { action: {}, response: { on_result: { status_code: 200 } } },
    },
    '/some': { cors: { ...CORS, allowed_methods: ['get'] }, get: answers('x'), put: answers('x') },
    '/headers': { cors: { ...CORS, allowed_headers: ['X-One', 'x-two'] }, get: answers('x') },
    '/any': {
      cors: { ...PUBLIC, allowed_headers: ['*'], max_age_seconds: 600 },
      get: answers('x'),
    },
    '/none': { cors: false, get: answers('x'), options: { action: {} } },
    '/own': { put: { cors: { origins: ['https://other.test'] }, ...answers('x') } },
  }

  beforeEach(async () => {
    await gateway.load(apiOf(paths, { defaults: { cors: CORS } }))
  })

  const allows = (methods: string, more: object = {}) => [
    204,
    {
      'allow-origin': APP,
      'allow-credentials': 'true',
      'allow-methods': methods,
      vary: REFUSED[1],
      ...more,
    },
  ]

  it.each<[string, string, string, Record<string, string>, string, object]>([
    ['allows the methods of the path', '/x', 'DELETE', {}, 'DELETE, GET, HEAD, OPTIONS', {}],
    ['needs no credentials', '/secret', 'PUT', {}, 'OPTIONS, PUT', {}],
    ['is answered where OPTIONS is declared', '/declared', 'PUT', {}, 'OPTIONS, PUT', {}],
    ['allows the methods that are listed', '/some', 'GET', {}, 'GET', {}],
    [
      'allows the headers that are listed',
      '/headers',
      'GET',
      { 'access-control-request-headers': 'x-one,x-three' },
      'GET, HEAD, OPTIONS',
      { 'allow-headers': 'x-one, x-two' },
    ],
    [
      'allows no headers where none are listed',
      '/x',
      'GET',
      { 'access-control-request-headers': 'authorization' },
      'DELETE, GET, HEAD, OPTIONS',
      {},
    ],
    [
      'is deaf to private networks',
      '/x',
      'GET',
      { 'access-control-request-private-network': 'true' },
      'DELETE, GET, HEAD, OPTIONS',
      {},
    ],
  ])('%s', async (_, ...[path, method, headers, methods, more]) => {
    const [status, cors] = await preflight(path, method, headers)
    expect([status, { ...cors, vary: REFUSED[1] }]).toEqual(allows(methods, more))
    expect(String(cors['vary']).split(', ').toSorted()).toEqual(VARY.split(', ').toSorted())
  })

  it('of every origin, with every header, is kept for as long as the document says', async () => {
    const asked = { 'access-control-request-headers': 'authorization, x-a' }
    expect(await preflight('/any', 'GET', asked)).toMatchObject([
      204,
      {
        'allow-origin': '*',
        'allow-methods': 'GET, HEAD, OPTIONS',
        'allow-headers': 'authorization, x-a',
        'max-age': '600',
      },
    ])
    const hostile = { 'access-control-request-headers': 'a;b' }
    expect((await preflight('/any', 'GET', hostile))[1]['allow-headers']).toBeUndefined()
  })

  it.each<[string, string, string, string]>([
    ['another origin', '/x', 'GET', EVIL],
    ['null', '/x', 'GET', 'null'],
    ['a method that the path lacks', '/x', 'PUT', APP],
    ['a method in small letters', '/x', 'get', APP],
    ['a method that is not listed', '/some', 'PUT', APP],
    ['an origin that this method does not allow', '/own', 'PUT', APP],
  ])('of %s is 204 and allows nothing', async (_, path, method, origin) => {
    const [status, { vary, ...cors }] = await preflight(path, method, {}, origin)
    expect([status, cors]).toEqual([204, {}])
    expect(vary).toContain('origin')
  })

  it.each<[string, object]>([
    ['of another origin', { cors: { origins: ['https://b.test'] } }],
    ['that has none', { cors: false }],
  ])('names no method %s: browsers remember all of them', async (_, more) => {
    const paths = { '/y': { put: answers('x'), delete: { ...answers('x'), ...more } } }
    await gateway.load(apiOf(paths, { defaults: { cors: { ...CORS, max_age_seconds: 600 } } }))
    const [status, headers] = await preflight('/y', 'PUT')
    expect([status, headers['allow-origin'], headers['allow-methods']]).toEqual([
      204,
      APP,
      'OPTIONS, PUT',
    ])
    const [, ofDelete] = await preflight('/y', 'DELETE')
    expect(ofDelete['allow-methods']).toBeUndefined()
  })

  it('is an OPTIONS like any other where cors is false', async () => {
    expect(await preflight('/none', 'GET')).toEqual([204, { vary: 'accept' }])
  })
})

it('exposes headers, and takes the place of CORS headers that are written by hand', async () => {
  const headers = { 'access-control-allow-origin': EVIL, 'access-control-max-age': '5', 'x-a': '1' }
  const cors = { ...PUBLIC, exposed_headers: ['X-A', 'location'] }
  const paths = {
    '/x': { headers, get: answers('x'), post: answers('x', { on_result: { headers } }) },
  }
  await gateway.load(apiOf(paths, { defaults: { cors } }))
  const own = { 'allow-origin': '*', 'expose-headers': 'x-a, location' }
  expect(await ask('GET', '/x', { origin: APP })).toEqual([200, { ...own, vary: 'accept, origin' }])
  expect(await ask('POST', '/x', { origin: APP })).toEqual([
    200,
    { ...own, vary: 'accept, origin' },
  ])
  expect(await ask('PUT', '/x', { origin: APP })).toEqual([405, { ...own, vary: 'origin' }])
})

describe('the CORS headers of an upstream', () => {
  const head =
    'access-control-allow-origin: *\r\naccess-control-allow-credentials: true\r\nvary: Accept-Encoding\r\n'

  it.each<[string, string, object, number]>([
    ['that passes through', `HTTP/1.1 200 OK\r\n${head}content-length: 1\r\n\r\nx`, {}, 200],
    ['that fails', `HTTP/1.1 502 Bad Gateway\r\n${head}content-length: 1\r\n\r\nx`, {}, 502],
    [
      'that the document passes on',
      `HTTP/1.1 200 OK\r\n${head}content-length: 1\r\n\r\nx`,
      { on_result: { headers: '{{action.result.headers}}' } },
      200,
    ],
    ['that answers nonsense', 'HTTP/1.1 99 no\r\n\r\n', {}, 504],
  ])('give way to those of the document: one %s', async (_, text, response, status) => {
    const { gateway: forwarding } = await serveUpstream(text, {
      response,
      api: { defaults: { cors: { origins: [APP] } } },
    })
    const answered = await forwarding.ask('GET', '/x', { headers: { origin: APP } })
    expect(answered.status).toBe(status)
    const { vary, ...cors } = corsOf(answered.headers)
    expect(cors).toEqual({ 'allow-origin': APP })
    expect(vary).toContain('origin')
  })
})
