// Who may have an operation performed: verdicts that come at once, late, never, or wrong.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { Exchange } from '../../../dataplane/actions/performer.ts'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import type {
  Authenticate,
  Caller,
  AuthenticateResult,
} from '../../../dataplane/security/schemes/authentication.ts'
import { unauthorized } from '../../../dataplane/security/schemes/challenge.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { eventually } from '../../support/eventually.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'
import { accepted, identityOf, refused } from './verdicts.ts'

let gateway: ServedGateway

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const BASIC = { type: 'basic', groups: ['staff'] }
const ECHO = { 'access-control-allow-origin': '{{request.headers.origin}}' }

const secured = (operations: object, security: object = BASIC, headers: object = {}): unknown =>
  apiOf({ '/x': { security, headers, accepts: ['application/json'], ...operations } })

const serve = async (authenticate: Authenticate, document: unknown): Promise<void> => {
  gateway = await serveGateway({ authenticate })
  await gateway.load(document)
}

const ways: readonly (readonly [
  string,
  (verdict: AuthenticateResult) => ReturnType<Authenticate>,
])[] = [
  ['at once', (verdict) => verdict],
  ['later', (verdict) => new Promise((resolve) => setImmediate(resolve, verdict))],
]

describe.each(ways)('a verdict that comes %s', (_, give) => {
  it.each([
    ['evaluated', { get: answers('{{security.authid}} {{security.meta.dept}}') }, '"alice hats"'],
    ['fixed', { get: answers('secret') }, '"secret"'],
    [
      'as a whole',
      { get: answers('{{security}}') },
      JSON.stringify(identityOf({ meta: { dept: 'hats' } })),
    ],
  ])('lets the response through: %s', async (_name, operations, body) => {
    await serve(() => give(accepted({ meta: { dept: 'hats' } })), secured(operations))
    for (let round = 0; round < 2; round++) {
      const response = await gateway.ask('GET', '/x')
      expect([response.status, response.text]).toEqual([200, body])
    }
    const head = await gateway.ask('HEAD', '/x')
    expect([head.status, head.text]).toEqual([200, ''])
    expect(gateway.authentications).toEqual(['basic identity', 'basic identity', 'basic identity'])
    expect(gateway.inFlight.count).toBe(0)
  })

  it.each([
    [401, 'svc.error.unauthorized', unauthorized('basic', 'com.acme')],
    [403, 'svc.error.forbidden', new GatewayError('svc.error.forbidden', 'no')],
    [
      429,
      'svc.error.too_many_requests',
      new GatewayError('svc.error.too_many_requests', 'slower', {
        headers: { 'retry-after': '7' },
      }),
    ],
    [503, 'svc.error.overloaded', new GatewayError('svc.error.overloaded', 'away')],
    [500, 'svc.error.internal', new Error('secret reason')],
  ])('refuses: %i %s', async (status, code, error) => {
    await serve(() => give(refused(error)), secured({ get: answers('secret') }, BASIC, ECHO))
    const response = await gateway.ask('GET', '/x', { headers: { origin: 'https://app.test' } })
    expect(response.status).toBe(status)
    expect(response.json()).toMatchObject({ code })
    expect(response.text).not.toContain('secret')
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.test',
      ...(error instanceof GatewayError ? error.headers : {}),
    })
    expect([gateway.authentications, gateway.refused]).toEqual([[`basic ${code}`], [code]])
    expect(gateway.unexpected).toHaveLength(status === 500 ? 1 : 0)
    expect(gateway.inFlight.count).toBe(0)
  })

  it('refuses for CSRF with a body of its own', async () => {
    await serve(
      () => give(refused(new GatewayError('svc.error.forbidden', '', { reason: 'csrf' }))),
      secured({ post: answers('done') }, { type: 'oidc' }, ECHO),
    )
    const response = await gateway.ask('POST', '/x', {
      headers: { accept: 'application/msgpack', origin: 'https://app.test' },
    })
    expect([response.status, response.text]).toEqual([403, '{"error":"csrf_validation_failed"}'])
    expect(response.headers).toMatchObject({
      'content-type': 'application/json',
      'access-control-allow-origin': 'https://app.test',
    })
    expect(gateway.authentications).toEqual(['oidc csrf'])
  })

  it.each([
    ['a type that is not taken', { 'content-type': 'text/plain' }, 'x', 415],
    ['nothing in Accept that is served', { accept: 'image/png' }, undefined, 406],
    ['a body that is broken', { 'content-type': 'application/json' }, '{', 400],
  ])('comes first: %s', async (_name, headers, body, status) => {
    const document = secured({ post: answers('{{request.body}}') })
    const options = { headers, ...(body !== undefined && { body }) }
    await serve(() => give(refused(unauthorized('basic', 'r'))), document)
    expect((await gateway.ask('POST', '/x', options)).status).toBe(401)
    await gateway[Symbol.asyncDispose]()
    await serve(() => give(accepted()), document)
    expect((await gateway.ask('POST', '/x', options)).status).toBe(status)
  })

  it('a body is read after it', async () => {
    await serve(() => give(accepted()), secured({ post: answers('{{request.body.name}}') }))
    const response = await gateway.ask('POST', '/x', {
      headers: { 'content-type': 'application/json' },
      body: '{"name":"constructor"}',
    })
    expect([response.status, response.text]).toEqual([200, '"constructor"'])
  })

  it('OPTIONS needs none, nor does what is open', async () => {
    await serve(
      () => give(refused(unauthorized('basic', 'r'))),
      secured({ get: answers('x'), options: { action: {} } }),
    )
    expect((await gateway.ask('OPTIONS', '/x')).status).toBe(204)
    await gateway.load(secured({ get: answers('open') }, {}))
    expect((await gateway.ask('GET', '/x')).text).toBe('"open"')
    expect(gateway.authentications).toEqual([])
  })
})

describe('a page whose document redirects to the login', () => {
  const NAVIGATION = {
    host: 'api.test',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  }
  const provider = {
    issuer: 'https://idp.test',
    client_id: 'a',
    client_secret: 'b',
    redirect_uri: 'https://api.test/oidc/default/callback',
  }
  const realm: RealmRecord = {
    uri: 'com.acme',
    authmethods: ['oidcrp', 'cookie'],
    info: { oidc_providers: { default: provider } },
  }
  const open = async (error: Error, unauthenticated = 'redirect'): Promise<void> => {
    gateway = await serveGateway({
      authenticate: () => refused(error),
      realms: new Map([['com.acme', realm]]),
    })
    const headers = { 'cache-control': 'max-age=60', vary: 'origin', ...ECHO }
    const security = { type: 'oidc', unauthenticated }
    await gateway.load(secured({ get: answers('x'), post: answers('x') }, security, headers))
  }
  const VARY = 'origin, accept, cookie, sec-fetch-dest, sec-fetch-mode'

  it('goes there, and no cache keeps that', async () => {
    await open(unauthorized('oidc', 'com.acme'))
    const { status, headers } = await gateway.ask('GET', '/x?a=1', { headers: NAVIGATION })
    expect([status, headers.location]).toEqual([
      302,
      '/oidc/login?provider=default&redirect_uri=%2Fx%3Fa%3D1&redirected=true',
    ])
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      vary: VARY,
    })
    expect(headers).not.toHaveProperty('www-authenticate')
    expect([gateway.authentications, gateway.refused, gateway.statuses]).toEqual([
      ['oidc svc.error.unauthorized'],
      ['svc.error.unauthorized'],
      [302],
    ])
  })

  it.each([
    ['a script', 'GET', { 'sec-fetch-mode': 'cors' }],
    ['a form', 'POST', { 'content-type': 'application/json' }],
    ['HEAD', 'HEAD', {}],
  ])('%s gets the 401 that it always got', async (_name, method, more) => {
    await open(unauthorized('oidc', 'com.acme'))
    const { status, headers, text } = await gateway.ask(method, '/x', {
      headers: { ...NAVIGATION, ...more },
    })
    expect(status).toBe(401)
    expect(headers).toMatchObject({
      'www-authenticate': 'Bearer realm="com.acme"',
      'cache-control': 'max-age=60',
      vary: VARY,
    })
    expect(text).not.toContain('redirected')
  })

  it('says why it is 401 all the same, in a response that no cache keeps', async () => {
    await open(unauthorized('oidc', 'com.acme'))
    const { status, headers, text } = await gateway.ask('GET', '/x', {
      headers: { ...NAVIGATION, host: 'other.test' },
    })
    expect([status, headers['cache-control']]).toEqual([401, 'no-store'])
    expect(headers['www-authenticate']).toBe('Bearer realm="com.acme"')
    expect(text).toContain('Authenticate by oidc. Not redirected to the login: ')
  })

  it.each([
    [403, new GatewayError('svc.error.forbidden', 'no')],
    [429, new GatewayError('svc.error.too_many_requests', 'slower')],
    [503, new GatewayError('svc.error.overloaded', 'away')],
    [500, new Error('secret')],
  ])('stays where it is for %i', async (status, error) => {
    await open(error)
    const response = await gateway.ask('GET', '/x', { headers: NAVIGATION })
    expect([response.status, response.headers.location]).toEqual([status, undefined])
  })

  it('stays where it is unless the document says so', async () => {
    await open(unauthorized('oidc', 'com.acme'), 'reject')
    const { status, headers } = await gateway.ask('GET', '/x', { headers: NAVIGATION })
    expect([status, headers.location, headers.vary]).toEqual([401, undefined, 'origin, accept'])
  })
})

it.each([
  [401, unauthorized('basic', 'com.acme')],
  [403, new GatewayError('svc.error.forbidden', 'no')],
  [429, new GatewayError('svc.error.too_many_requests', 'slower')],
])('%i comes alone to a client that waits for 100 Continue', async (status, error) => {
  await serve(() => refused(error), secured({ post: answers('{{request.body}}') }))
  await using client = await gateway.raw(
    'POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n',
  )
  expect(await client.stream.line()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  const rest = (await client.stream.takeToEnd()).toString().toLowerCase()
  expect(rest).toContain('connection: close')
})

describe('what is requested', () => {
  it('the demands, the realm, the client', async () => {
    const asked: unknown[] = []
    const authenticate: Authenticate = (security, realmUri, caller: Caller) => {
      const { request, address, requestId } = caller
      asked.push([security, realmUri, address, requestId, request.headers.authorization])
      return accepted()
    }
    gateway = await serveGateway({ authenticate, trustedProxies: ['127.0.0.1'] })
    await gateway.load(secured({ get: answers('x') }))
    await gateway.ask('GET', '/x', {
      headers: {
        authorization: 'Basic YTpi',
        'x-forwarded-for': '198.51.100.7',
        'x-request-id': 'trace-1',
      },
    })
    await gateway.ask('GET', '/x')
    const demanded = [{ ...BASIC, pointer: '/versions/v1/paths/~1x/security' }]
    expect(asked).toEqual([
      [demanded, 'com.acme', '198.51.100.7', 'trace-1', 'Basic YTpi'],
      [demanded, 'com.acme', '127.0.0.1', 'id-1', undefined],
    ])
  })
})

describe('while it is waited for', () => {
  it('nothing of the body is read; a client that goes is not performed for', async () => {
    let decide: (verdict: AuthenticateResult) => void = () => undefined
    const performed: Exchange[] = []
    gateway = await serveGateway({
      authenticate: () =>
        new Promise((resolve) => {
          decide = resolve
        }),
      forward: (exchange) => {
        performed.push(exchange)
      },
    })
    await gateway.load(secured({ post: { action: { type: 'forward', host: 'a' }, response: {} } }))
    const client = await gateway.raw(
      'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":',
    )
    await eventually(() => {
      expect(gateway.inFlight.count).toBe(1)
    })
    client.close()
    await eventually(async () => {
      expect(await gateway.connections()).toBe(0)
    })
    decide(accepted())
    await eventually(() => {
      expect(gateway.statuses).toEqual([499])
    })
    expect([performed, gateway.refused, gateway.unexpected]).toEqual([[], [], []])
    expect(gateway.authentications).toEqual([])
    expect(gateway.inFlight.count).toBe(0)
  })

  it('a client that has gone is known by the address', async () => {
    const seen: string[] = []
    await serve(
      async (_, __, caller) => {
        await eventually(() => {
          expect(caller.request.socket.destroyed).toBe(true)
        })
        seen.push(caller.address)
        return refused(unauthorized('basic', 'r'))
      },
      secured({ get: answers('x') }),
    )
    const client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
    await eventually(() => {
      expect(gateway.inFlight.count).toBe(1)
    })
    client.close()
    await eventually(() => {
      expect([gateway.statuses, seen]).toEqual([[499], ['127.0.0.1']])
    })
    expect(gateway.log[0]?.peername).toMatch(/^127\.0\.0\.1:[1-9]\d+$/)
  })

  it('others are answered', async () => {
    let decide: (verdict: AuthenticateResult) => void = () => undefined
    await serve(
      (_, __, { request }) =>
        request.headers['x-slow'] === undefined
          ? accepted()
          : new Promise((resolve) => {
              decide = resolve
            }),
      secured({ get: answers('x') }),
    )
    const slow = gateway.ask('GET', '/x', { headers: { 'x-slow': '1' } })
    await eventually(() => {
      expect(gateway.inFlight.count).toBe(1)
    })
    expect((await gateway.ask('GET', '/x')).status).toBe(200)
    decide(accepted())
    expect((await slow).status).toBe(200)
  })
})

describe('an authenticator that breaks its word', () => {
  it.each([
    ['rejects', () => Promise.reject(new Error('secret'))],
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
  ] as const)('%s: 500, and nothing is performed', async (_, authenticate) => {
    await serve(authenticate, secured({ get: answers('x') }))
    const response = await gateway.ask('GET', '/x')
    expect([response.status, gateway.unexpected]).toEqual([500, [new Error('secret')]])
    expect(response.text).not.toContain('secret')
    expect(gateway.inFlight.count).toBe(0)
  })
})
