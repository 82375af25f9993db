// Endpoints of the gateway's own in the route table: which request goes to which, with what, and what is refused
// before. The rooms behind them are played.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createEndpoints, type EndpointDeps } from '../../../../dataplane/http/builtin/endpoints.ts'
import type { OAuth2, OAuthRequest } from '../../../../dataplane/oauth2/oauth2-endpoint.ts'
import type { Oidc, OidcResponse, OidcRequest } from '../../../../dataplane/oidc/oidc-endpoint.ts'
import { GatewayError } from '../../../../dataplane/gateway-error.ts'
import type { AuthenticateResult } from '../../../../dataplane/security/schemes/authentication.ts'
import { unauthorized } from '../../../../dataplane/security/schemes/challenge.ts'
import { eventually } from '../../../support/eventually.ts'
import { headerValues } from '../../../support/raw-client.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from '../served-gateway.ts'
import { accepted, refused } from '../verdicts.ts'

let gateway: ServedGateway
let asked: (readonly [name: string, request: OidcRequest | OAuthRequest])[]
let give: (name: string) => OidcResponse | Promise<OidcResponse>
let loads: string[]
let verdict: AuthenticateResult

const played =
  (name: string) =>
  (request: OidcRequest | OAuthRequest): Promise<Omit<OidcResponse, 'code'>> => {
    asked.push([name, request])
    return Promise.resolve(give(name))
  }

const OIDC: Oidc = {
  login: played('login'),
  callback: played('callback'),
  logout: played('logout'),
  backChannelLogout: played('backChannelLogout'),
}
const OAUTH2: OAuth2 = { token: played('token'), revoke: played('revoke') }

const KEY = { kty: 'EC', crv: 'P-256', x: 'eA', y: 'eQ', kid: 'k1', alg: 'ES256', use: 'sig' }

const serve = async (deps: Partial<EndpointDeps> = {}): Promise<void> => {
  const { handle } = createEndpoints({
    loadOidc: () => {
      loads.push('oidc')
      return Promise.resolve(OIDC)
    },
    loadOAuth2: () => {
      loads.push('oauth2')
      return Promise.resolve(OAUTH2)
    },
    tokenKeys: { publicKeys: () => [{ ...KEY, d: 'c2VjcmV0' }] },
    ownOrigin: 'https://api.example.com',
    ...deps,
  })
  gateway = await serveGateway({ endpoints: handle, authenticate: () => verdict })
}

beforeEach(async () => {
  asked = []
  loads = []
  give = (name) => ({ status: 200, headers: [['content-type', 'text/plain']], body: name })
  verdict = refused(unauthorized('oidc', 'com.acme'))
  await serve()
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const secured = (
  paths: Readonly<Record<string, unknown>> = {},
  { version = {}, ...api }: Readonly<Record<string, unknown>> & { version?: object } = {},
): unknown =>
  apiOf(paths, {
    defaults: { security: { type: 'oidc', provider: 'corp' } },
    version: { base_path: '/v1', ...version },
    ...api,
  })

const OAUTH = {
  defaults: { security: { type: 'oauth2', flow: 'client_credentials' } },
}

describe('a request', () => {
  it.each([
    ['GET', '/v1/oidc/login', 'login'],
    ['GET', '/v1/oidc/login/', 'login'],
    ['GET', '/v1/oidc/%6Cogin', 'login'],
    ['GET', '/v1/oidc/corp/callback', 'callback'],
    ['GET', '/v1/oidc/logout', 'logout'],
    ['POST', '/v1/oidc/logout', 'logout'],
    ['POST', '/v1/oidc/corp/backchannel-logout', 'backChannelLogout'],
  ])('%s %s goes to %s', async (method, path, name) => {
    await gateway.load(secured())
    const response = await gateway.ask(method, path)
    expect([response.status, response.text]).toEqual([200, name])
  })

  it.each([
    ['POST', '/v1/oauth/token', 'token'],
    ['POST', '/v1/oauth/revoke', 'revoke'],
  ])('%s %s goes to %s', async (method, path, name) => {
    await gateway.load(secured({}, OAUTH))
    expect((await gateway.ask(method, path)).text).toBe(name)
  })

  it('is passed on as it is', async () => {
    await gateway[Symbol.asyncDispose]()
    await serve()
    await gateway.load(
      secured({}, { host: ':_.a.test', version: { base_path: '/:provider/[v1]' } }),
    )
    const url = '/x/v1/oidc/c%2Frp/callback?code=a%20b&state=%zz&code='
    await gateway.ask('GET', url, {
      headers: { host: 'www.a.test:8080', cookie: 'a=b; a=c; d=j:{"e":1}' },
    })
    expect(asked).toEqual([
      [
        'callback',
        {
          method: 'GET',
          path: '/x/v1/oidc/c%2Frp/callback',
          query: 'code=a%20b&state=%zz&code=',
          headers: expect.objectContaining({
            host: 'www.a.test:8080',
            cookie: 'a=b; a=c; d=j:{"e":1}',
          }),
          cookies: { a: 'b', d: { e: 1 } },
          address: '127.0.0.1',
          requestId: 'id-1',
          ownOrigin: 'https://api.example.com',
          realmUri: 'com.acme',
          routeProvider: 'corp',
          pathProvider: 'c/rp',
          body: '',
        },
      ],
    ])
  })

  it.each(['http://[::1/v1/oidc/login', 'http://a:b:c/v1/oidc/login'])(
    'whose target is no URL is refused, and over: %s',
    async (target) => {
      await gateway.load(secured({}, { host: '_' }))
      const line = `GET ${target} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`
      await using client = await gateway.raw(line)
      const response = await client.response()
      expect([response.status, JSON.parse(response.body.toString())]).toEqual([
        400,
        expect.objectContaining({ code: 'svc.error.invalid_data' }),
      ])
      expect([asked, gateway.inFlight.count, gateway.unmatched]).toEqual([[], 0, [400]])
    },
  )

  it('for a token that authenticates twice is passed on as if it did not at all', async () => {
    await gateway.load(secured({}, OAUTH))
    const line = 'POST /v1/oauth/token HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n'
    await using client = await gateway.raw(
      `${line}Authorization: Basic YTpi\r\nAuthorization: Basic Yzpk\r\nContent-Length: 0\r\n\r\n`,
    )
    await client.response()
    expect(asked[0]?.[1].headers.authorization).toBe('')
  })

  it.each([
    ['/v1/my-token', 'token'],
    ['/v1/my/revocation', 'revoke'],
  ])('for a token goes where the document has put it: %s', async (path, name) => {
    const flow = {
      type: 'oauth2',
      flow: 'client_credentials',
      token_path: '/my-token',
      revoke_token_path: '/my/revocation',
    }
    await gateway.load(secured({}, { defaults: { security: flow } }))
    expect((await gateway.ask('POST', path)).text).toBe(name)
    expect((await gateway.ask('POST', '/v1/oauth/token')).status).toBe(404)
  })

  it('for a token is passed on with its form', async () => {
    await gateway.load(
      secured(
        { '/x': { security: { type: 'oauth2', flow: 'implicit' }, get: answers('x') } },
        OAUTH,
      ),
    )
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    await gateway.ask('POST', '/v1/oauth/token?a=b', { headers: form, body: 'grant_type=é' })
    expect(asked).toEqual([
      [
        'token',
        expect.objectContaining({
          query: 'a=b',
          body: 'grant_type=é',
          realmUri: 'com.acme',
          flows: ['client_credentials', 'implicit'],
          address: '127.0.0.1',
          requestId: 'id-1',
        }),
      ],
    ])
  })

  it.each([
    ['POST', '/v1/oidc/logout', 'application/x-www-form-urlencoded', 'a=b'],
    ['POST', '/v1/oidc/logout', 'Application/X-WWW-Form-URLencoded; charset=UTF-8', 'a=b'],
    ['POST', '/v1/oidc/logout', 'application/json', ''],
    ['POST', '/v1/oidc/logout', 'application/x-www-form-urlencodedx', ''],
    ['GET', '/v1/oidc/logout', 'application/x-www-form-urlencoded', ''],
  ])('%s %s with a body of %s', async (method, path, type, body) => {
    await gateway.load(secured())
    const headers = { 'content-type': type, 'content-length': '3' }
    const options = { headers, body: 'a=b' }
    expect((await gateway.ask(method, path, options)).status).toBe(200)
    expect(asked[0]?.[1].body).toBe(body)
  })

  it('with a JSON body for a token is for the room to refuse', async () => {
    await gateway.load(secured({}, OAUTH))
    await gateway.ask('POST', '/v1/oauth/token', { json: { a: 1 } })
    expect(asked[0]?.[1]).toMatchObject({
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    })
  })
})

describe('a body', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }

  it.each([
    ['/v1/oauth/token', OAUTH],
    ['/v1/oidc/corp/backchannel-logout', {}],
  ])('of %s is at most 64 KiB', async (path, api) => {
    await gateway.load(secured({}, api))
    const most = 'x'.repeat(65_536)
    expect((await gateway.ask('POST', path, { headers: form, body: most })).status).toBe(200)
    const response = await gateway.ask('POST', path, { headers: form, body: `${most}x` })
    expect([response.status, response.json()]).toMatchObject([
      413,
      { code: 'svc.error.payload_too_large' },
    ])
    const client = await gateway.raw(
      `POST ${path} HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n`,
      `Content-Type: application/x-www-form-urlencoded\r\n\r\n10001\r\n${most}x\r\n0\r\n\r\n`,
    )
    expect((await client.response()).status).toBe(413)
    client.close()
    expect(asked).toHaveLength(1)
    expect(gateway.refused).toEqual(['svc.error.payload_too_large', 'svc.error.payload_too_large'])
  })

  it('of a client that goes is discarded', async () => {
    await gateway.load(secured({}, OAUTH))
    const client = await gateway.raw(
      'POST /v1/oauth/token HTTP/1.1\r\nHost: a.test\r\nContent-Length: 9\r\n\r\na=',
    )
    await eventually(() => {
      expect(gateway.inFlight.count).toBe(1)
    })
    client.close()
    await eventually(() => {
      expect([gateway.statuses, gateway.inFlight.count]).toEqual([[499], 0])
    })
    expect(asked).toEqual([])
  })
})

describe('a response', () => {
  it('goes out as it is given', async () => {
    await gateway.load(secured({}, { version: { is_deprecated: true } }))
    give = () => ({
      status: 302,
      headers: [
        ['location', 'https://idp.test/authorize?state=%20a'],
        ['set-cookie', 'svc_ticket_com.acme=a.b.c; Path=/; Max-Age=2592000; SameSite=Lax; Secure'],
        ['set-cookie', 'svc_csrf_a%2Fb=1; Path=/; Max-Age=2592000; SameSite=Lax; Secure'],
        ['cache-control', 'no-store'],
      ],
      body: '',
    })
    const client = await gateway.raw('GET /v1/oidc/login HTTP/1.1\r\nHost: a.test\r\n\r\n')
    const response = await client.response()
    client.close()
    expect(response.status).toBe(302)
    expect(headerValues(response, 'set-cookie')).toEqual([
      'svc_ticket_com.acme=a.b.c; Path=/; Max-Age=2592000; SameSite=Lax; Secure',
      'svc_csrf_a%2Fb=1; Path=/; Max-Age=2592000; SameSite=Lax; Secure',
    ])
    const names = ['location', 'cache-control', 'content-length', 'x-content-type-options']
    expect(names.map((name) => headerValues(response, name))).toEqual([
      ['https://idp.test/authorize?state=%20a'],
      ['no-store'],
      ['0'],
      ['nosniff'],
    ])
    expect(headerValues(response, 'x-powered-by')).toEqual([])
    expect([headerValues(response, 'x-request-id'), headerValues(response, 'deprecation')]).toEqual(
      [['id-1'], ['true']],
    )
  })

  it('is counted and logged like any other', async () => {
    await gateway.load(secured())
    await gateway.ask('GET', '/v1/oidc/corp/callback?code=secret')
    expect([gateway.rows, gateway.statuses]).toEqual([['GET /v1/oidc/:provider/callback'], [200]])
    expect(gateway.log).toMatchObject([
      { id: 'id-1', method: 'GET', status: 200, bytes: 8, api: 'api', version: 'v1' },
    ])
    expect([gateway.unmatched, gateway.inFlight.count]).toEqual([[], 0])
  })

  it.each([
    ['a rejection', () => Promise.reject(new Error('secret'))],
    [
      'what is thrown',
      () => {
        throw new Error('secret')
      },
    ],
    [
      'a header that would split the response',
      () => ({ status: 302, headers: [['location', '/a\r\nset-cookie: b']], body: '' }),
    ],
  ] as const)('instead of %s: 500, and nothing of it is shown', async (_, giving) => {
    await gateway.load(secured())
    give = giving as typeof give
    const response = await gateway.ask('GET', '/v1/oidc/login', {
      headers: { origin: 'https://x' },
    })
    expect([response.status, response.json()]).toMatchObject([500, { code: 'svc.error.internal' }])
    expect(response.text).not.toMatch(/secret|set-cookie|\.ts/)
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': 'https://x',
      'cache-control': 'no-store',
    })
    expect(gateway.unexpected).toHaveLength(1)
    expect([gateway.statuses, gateway.inFlight.count]).toEqual([[500], 0])
  })

  it('that a room refuses with is an error record', async () => {
    await gateway.load(secured())
    give = () => Promise.reject(new GatewayError('svc.error.overloaded', 'busy'))
    const response = await gateway.ask('GET', '/v1/oidc/login')
    expect([response.status, response.json()]).toMatchObject([
      503,
      { code: 'svc.error.overloaded' },
    ])
    expect([gateway.unexpected, gateway.refused]).toEqual([[], ['svc.error.overloaded']])
  })

  it('is not written when the client has gone', async () => {
    await gateway.load(secured())
    let settle: (response: OidcResponse) => void = () => undefined
    give = () =>
      new Promise((resolve) => {
        settle = resolve
      })
    const client = await gateway.raw('GET /v1/oidc/login HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await eventually(() => {
      expect(asked).toHaveLength(1)
    })
    client.close()
    await eventually(async () => {
      expect(await gateway.connections()).toBe(0)
    })
    settle({ status: 200, headers: [], body: 'x' })
    await eventually(() => {
      expect([gateway.statuses, gateway.inFlight.count]).toEqual([[499], 0])
    })
    expect(gateway.unexpected).toEqual([])
  })
})

describe('the rooms', () => {
  it('are loaded when they are requested, once', async () => {
    await gateway.load(secured({ '/x': { security: {}, get: answers('x') } }, OAUTH))
    await gateway.ask('GET', '/v1/x')
    await gateway.ask('OPTIONS', '/v1/oauth/token')
    expect(loads).toEqual([])
    await Promise.all([1, 2].map(() => gateway.ask('POST', '/v1/oauth/token')))
    await gateway.ask('POST', '/v1/oauth/revoke')
    expect(loads).toEqual(['oauth2'])
  })

  it('that fail to load are loaded again', async () => {
    await gateway[Symbol.asyncDispose]()
    let attempts = 0
    await serve({
      loadOidc: () =>
        attempts++ === 0 ? Promise.reject(new Error('no such file')) : Promise.resolve(OIDC),
    })
    await gateway.load(secured())
    expect((await gateway.ask('GET', '/v1/oidc/login')).status).toBe(500)
    expect((await gateway.ask('GET', '/v1/oidc/login')).status).toBe(200)
  })

  it('can be loaded before', async () => {
    const { warmUp } = createEndpoints({
      loadOidc: () => Promise.reject(new Error('no such file')),
      loadOAuth2: () => {
        loads.push('oauth2')
        return Promise.resolve(OAUTH2)
      },
      tokenKeys: { publicKeys: () => [] },
      ownOrigin: undefined,
    })
    await warmUp()
    await warmUp()
    expect(loads).toEqual(['oauth2'])
  })
})

describe('methods', () => {
  it.each([
    ['POST', '/v1/oidc/login', 'GET, OPTIONS'],
    ['HEAD', '/v1/oidc/login', 'GET, OPTIONS'],
    ['HEAD', '/v1/oidc/corp/callback', 'GET, OPTIONS'],
    ['POST', '/v1/oidc/corp/callback', 'GET, OPTIONS'],
    ['HEAD', '/v1/oidc/logout', 'GET, OPTIONS, POST'],
    ['GET', '/v1/oidc/corp/backchannel-logout', 'OPTIONS, POST'],
    ['DELETE', '/v1/oidc/verify', 'GET, HEAD, OPTIONS'],
    ['TRACE', '/v1/oidc/logout', 'GET, OPTIONS, POST'],
  ])('%s %s: 405', async (method, path, allow) => {
    await gateway.load(secured())
    const response = await gateway.ask(method, path, { headers: { origin: 'https://app.test' } })
    expect([response.status, response.headers.allow]).toEqual([405, allow])
    expect(gateway.refused).toEqual(['svc.error.method_not_allowed'])
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.test',
      vary: 'Origin',
      'cache-control': 'no-store',
    })
    expect(asked).toEqual([])
  })

  it.each(['/v1/oidc/login', '/v1/oidc/corp/callback', '/v1/oidc/logout', '/v1/oidc/verify'])(
    'OPTIONS %s echoes the origin, never with credentials',
    async (path) => {
      await gateway.load(secured())
      const response = await gateway.ask('OPTIONS', path, {
        headers: {
          origin: 'https://app.test',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'x-csrf-token, content-type',
        },
      })
      expect([response.status, response.text]).toEqual([204, ''])
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': 'https://app.test',
        'access-control-allow-headers': 'x-csrf-token, content-type',
        'access-control-allow-methods': response.headers.allow,
        vary: 'Origin',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      })
      expect(response.headers['access-control-allow-credentials']).toBeUndefined()
    },
  )

  it.each(['a b', 'a: b', ',', 'x'.repeat(1025)])(
    'OPTIONS does not echo header names that are none: %s',
    async (names) => {
      await gateway.load(secured())
      const { headers } = await gateway.ask('OPTIONS', '/v1/oidc/login', {
        headers: { 'access-control-request-headers': names },
      })
      expect(headers['access-control-allow-headers']).toBeUndefined()
      expect(headers['access-control-allow-origin']).toBeUndefined()
    },
  )
})

describe('where endpoints and documents meet', () => {
  it('each has its methods; Allow is the union; the document gives the headers', async () => {
    await gateway.load(
      secured({
        '/oidc/login': { headers: { 'x-of': 'document' }, put: answers('put'), security: {} },
      }),
    )
    expect((await gateway.ask('PUT', '/v1/oidc/login')).text).toBe('"put"')
    expect((await gateway.ask('GET', '/v1/oidc/login')).text).toBe('login')
    const wrong = await gateway.ask('DELETE', '/v1/oidc/login')
    expect([wrong.status, wrong.headers.allow, wrong.headers['x-of']]).toEqual([
      405,
      'GET, OPTIONS, PUT',
      'document',
    ])
    expect((await gateway.ask('HEAD', '/v1/oidc/login')).status).toBe(405)
    expect((await gateway.ask('OPTIONS', '/v1/oidc/login')).headers.allow).toBe('GET, OPTIONS, PUT')
  })

  it('a document’s GET brings HEAD, not the endpoint’s', async () => {
    await gateway.load(secured({ '/oauth/token': { get: answers('x'), security: {} } }, OAUTH))
    const head = await gateway.ask('HEAD', '/v1/oauth/token')
    const post = await gateway.ask('POST', '/v1/oauth/token')
    expect([head.status, post.text]).toEqual([200, 'token'])
    expect((await gateway.ask('PUT', '/v1/oauth/token')).headers.allow).toBe(
      'GET, HEAD, OPTIONS, POST',
    )
  })

  it('what a document serves with bindings or a tail stands behind', async () => {
    await gateway.load(
      secured({
        '/:a/:b': { security: {}, get: answers('bound') },
        '/[...]': { security: {}, get: answers('tail') },
      }),
    )
    expect((await gateway.ask('GET', '/v1/oidc/login')).text).toBe('login')
    expect((await gateway.ask('GET', '/v1/oidc/other')).text).toBe('"bound"')
    expect((await gateway.ask('GET', '/v1/oidc/a/b/c')).text).toBe('"tail"')
  })

  it('of two documents the older one’s settings count', async () => {
    const provider = (id: string, name: string) =>
      secured({}, { id, defaults: { security: { type: 'oidc', provider: name } } })
    await gateway.load(provider('b', 'older'), provider('a', 'younger'))
    await gateway.ask('GET', '/v1/oidc/login')
    expect(asked[0]?.[1]).toMatchObject({ routeProvider: 'older' })
    expect(gateway.log[0]?.api).toBe('b')
  })

  it('schemes of the version hold', async () => {
    await gateway.load(
      secured({}, { defaults: { schemes: ['https'], security: { type: 'oidc' } } }),
    )
    const response = await gateway.ask('GET', '/v1/oidc/login')
    expect([response.status, response.json()]).toMatchObject([
      404,
      { description: 'This path is served over https.' },
    ])
  })

  it('without paths, and not when inactive', async () => {
    await gateway.load(secured({}))
    expect((await gateway.ask('GET', '/v1/oidc/login')).status).toBe(200)
    await gateway.load(secured({}, { version: { is_active: false } }))
    expect((await gateway.ask('GET', '/v1/oidc/login')).status).toBe(404)
    expect((await gateway.ask('GET', '/oidc/login')).status).toBe(404)
  })

  it('without a shell there are none', async () => {
    await using bare = await serveGateway()
    await bare.load(secured())
    expect((await bare.ask('GET', '/v1/oidc/login')).status).toBe(404)
    expect((await bare.ask('GET', '/.well-known/jwks.json')).status).toBe(404)
  })
})

describe('verify', () => {
  it('tells who somebody is, in JSON and in headers', async () => {
    await gateway.load(secured())
    verdict = accepted({
      type: 'oidc',
      authid: 'zoë\n%',
      username: ' eve ',
      authroles: ['a,b', 'staff'],
      groups: [],
      session: 't1',
      scope: { realm: 'com.acme', client_id: 'spa', device_id: 'all' },
    })
    const response = await gateway.ask('GET', '/v1/oidc/verify')
    expect(response.json()).toMatchObject({
      type: 'oidc',
      authid: 'zoë\n%',
      authroles: ['a,b', 'staff'],
      groups: [],
      scope: { client_id: 'spa' },
    })
    const own = Object.entries(response.headers).filter(([name]) => name.startsWith('x-svc-'))
    expect(Object.fromEntries(own)).toEqual({
      'x-svc-type': 'oidc',
      'x-svc-realm-uri': 'com.acme',
      'x-svc-authid': 'zo%C3%AB%0A%25',
      'x-svc-username': '%20eve%20',
      'x-svc-authmethod': 'password',
      'x-svc-authroles': 'a%2Cb,staff',
      'x-svc-session': 't1',
    })
    expect(response.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json',
    })
    const head = await gateway.ask('HEAD', '/v1/oidc/verify')
    expect([head.status, head.text, head.headers['x-svc-session']]).toEqual([200, '', 't1'])
    expect(gateway.authentications).toEqual(['oidc identity', 'oidc identity'])
  })

  it.each([
    ['/v1/oidc/verify', {}, 'oidc'],
    ['/v1/oauth/verify', OAUTH, 'oauth2'],
  ])('%s refuses with an error record', async (path, api, scheme) => {
    await gateway.load(secured({}, api))
    const response = await gateway.ask('GET', path)
    expect([response.status, response.json()]).toMatchObject([
      401,
      { code: 'svc.error.unauthorized' },
    ])
    expect(response.headers).toMatchObject({
      'cache-control': 'no-store',
      'www-authenticate': expect.stringContaining('Bearer realm='),
    })
    expect(gateway.authentications).toEqual([`${scheme} svc.error.unauthorized`])
  })

  it.each([
    [
      '/v1/oidc/verify',
      { type: 'oidc', provider: 'corp', groups: ['admins'] },
      {},
      { type: 'oidc', provider: 'corp' },
    ],
    [
      '/v1/oauth/verify',
      { type: 'oauth2', flow: 'implicit', scopes: ['read'] },
      { '/x': { security: { type: 'oauth2', flow: 'client_credentials' }, get: answers('x') } },
      {
        type: 'oauth2',
        flow: 'client_credentials',
        tokenPath: '/oauth/token',
        revokeTokenPath: '/oauth/revoke',
      },
    ],
  ])('%s asks for any of the schemes, and for no groups', async (path, security, paths, guard) => {
    const guards: unknown[] = []
    await gateway[Symbol.asyncDispose]()
    const { handle } = createEndpoints({
      loadOidc: () => Promise.resolve(OIDC),
      loadOAuth2: () => Promise.resolve(OAUTH2),
      tokenKeys: { publicKeys: () => [] },
      ownOrigin: undefined,
    })
    gateway = await serveGateway({
      endpoints: handle,
      authenticate: (guard) => {
        guards.push(guard)
        return Promise.resolve(accepted())
      },
    })
    await gateway.load(secured(paths, { defaults: { security } }))
    expect((await gateway.ask('GET', path)).status).toBe(200)
    expect(guards).toEqual([[guard]])
  })
})

describe('/.well-known/jwks.json', () => {
  const PATH = '/.well-known/jwks.json'

  it('holds public keys alone, for a while', async () => {
    const response = await gateway.ask('GET', PATH)
    expect([response.status, response.json()]).toEqual([200, { keys: [KEY] }])
    expect(response.headers).toMatchObject({
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      'content-type': 'application/json',
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
    })
    expect(response.headers.vary).toBeUndefined()
    expect([gateway.rows, gateway.log[0]?.api]).toEqual([[`GET ${PATH}`], ''])
  })

  it.each(['*', '"x", W/%', '%'])('If-None-Match: %s', async (header) => {
    const { etag = '' } = (await gateway.ask('GET', PATH)).headers
    const headers = { 'if-none-match': header.replace('%', etag) }
    const response = await gateway.ask('GET', PATH, { headers })
    expect([response.status, response.text, response.headers.etag]).toEqual([304, '', etag])
    const other = await gateway.ask('GET', PATH, { headers: { 'if-none-match': '"x"' } })
    expect(other.status).toBe(200)
  })

  it('HEAD, OPTIONS, and nothing else', async () => {
    const head = await gateway.ask('HEAD', PATH)
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await gateway.ask('OPTIONS', PATH)).status).toBe(204)
    const post = await gateway.ask('POST', PATH, { body: 'x' })
    expect([post.status, post.headers.allow, post.json()]).toMatchObject([
      405,
      'GET, HEAD, OPTIONS',
      { code: 'svc.error.method_not_allowed' },
    ])
  })

  it('wins over documents, on every host, in every spelling', async () => {
    await gateway.load(
      apiOf({
        '/[...]': { get: answers('tail') },
        '/.well-known/jwks.json': { get: answers('document') },
        '/.well-known/other': { get: answers('other') },
      }),
    )
    for (const path of [PATH, `${PATH}/`, '/%2Ewell-known/jwks%2ejson', `${PATH}?a=b`])
      expect((await gateway.ask('GET', path, { headers: { host: 'b.test' } })).json()).toEqual({
        keys: [KEY],
      })
    for (const [path, text] of [
      ['/.well-known/other', '"other"'],
      ['/.well-known%2Fjwks.json', '"tail"'],
      ['/.well-known/jwks.json/x', '"tail"'],
      ['/.well-known', '"tail"'],
    ] as const)
      expect((await gateway.ask('GET', path)).text).toBe(text)
  })
})
