// Limits of a version at what it serves beside its paths: `/ws`, and where programs and people log in.

import { createConnection } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createEndpoints } from '../../../../dataplane/http/builtin/endpoints.ts'
import type { OAuth2 } from '../../../../dataplane/oauth2/oauth2-endpoint.ts'
import type { Oidc } from '../../../../dataplane/oidc/oidc-endpoint.ts'
import { unauthorized } from '../../../../dataplane/security/schemes/challenge.ts'
import { startTestRouter, type TestRouter } from '../../wamp/relay/relay-rig.ts'
import { apiOf, answers, serveGateway, type ServedGateway } from '../served-gateway.ts'
import { accepted, refused } from '../verdicts.ts'

let router: TestRouter
let gateway: ServedGateway

const played = (status: number) => () => Promise.resolve({ status, headers: [], body: '' })

const OIDC: Oidc = {
  login: played(302),
  callback: played(302),
  logout: played(200),
  backChannelLogout: played(200),
}
const OAUTH2: OAuth2 = { token: played(200), revoke: played(200) }

beforeEach(async () => {
  router = await startTestRouter()
  const { handle } = createEndpoints({
    loadOidc: () => Promise.resolve(OIDC),
    loadOAuth2: () => Promise.resolve(OAUTH2),
    tokenKeys: { publicKeys: () => [] },
    ownOrigin: undefined,
  })
  gateway = await serveGateway({
    endpoints: handle,
    realms: new Map([['com.acme', { uri: 'com.acme', router: { url: router.url } }]]),
    trustedProxies: ['127.0.0.1/32'],
    authenticate: (_security, realmUri, { request }) => {
      const user = request.headers['x-user']
      return user === undefined
        ? refused(unauthorized('basic', realmUri))
        : accepted({ authid: String(user) })
    },
  })
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  await router[Symbol.asyncDispose]()
})

const CALLS = { requests: 2, seconds: 60 }
const SECURITY = [
  { type: 'oidc', provider: 'corp' },
  { type: 'oauth2', flow: 'client_credentials' },
]

const load = (calls: object = {}, { version = {}, ...api }: { version?: object } & object = {}) =>
  gateway.load(
    apiOf(
      { '/x': { get: answers('x') } },
      {
        defaults: { security: SECURITY, rate_limits: { calls: { ...CALLS, ...calls } } },
        ...api,
        version: { base_path: '/v1', ...version },
      },
    ),
  )

type Head = Readonly<Record<string, string>>

const HANDSHAKE: Head = {
  Host: 'a.test',
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol': 'wamp.2.json',
}

/** The head of the response, which may be a 101 and have no end. */
const open = async (
  more: Head = {},
): Promise<{ readonly status: number; readonly head: string }> => {
  const headers = { ...HANDSHAKE, 'X-Forwarded-For': '192.0.2.1', ...more }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = createConnection(gateway.address)
  socket.on('error', () => undefined)
  socket.write(`GET /v1/ws HTTP/1.1\r\n${lines.join('')}\r\n`)
  let head = ''
  for await (const chunk of socket) {
    head += (chunk as Buffer).toString('latin1')
    if (head.includes('\r\n\r\n')) break
  }
  return { status: Number(head.split(' ')[1]), head }
}

const ask = (request: string, headers: Head = {}) => {
  const [method = '', path = ''] = request.split(' ')
  return gateway.ask(method, path, { headers: { 'x-forwarded-for': '192.0.2.1', ...headers } })
}

const statuses = async (requests: readonly string[]): Promise<readonly number[]> => {
  const seen: number[] = []
  for (const request of requests)
    seen.push(request === 'ws' ? (await open()).status : (await ask(request)).status)
  return seen
}

const LOGIN = 'GET /v1/oidc/login'
const TOKEN = 'POST /v1/oauth/token'
const OTHERS = ['GET /v1/oidc/logout', 'POST /v1/oauth/revoke', 'GET /v1/oauth/verify']

describe('limits of the defaults', () => {
  it.each<[string, readonly string[], readonly number[]]>([
    ['hold for logins of people', [LOGIN, LOGIN, LOGIN], [302, 302, 429]],
    ['hold for tokens of programs', [TOKEN, TOKEN, TOKEN], [200, 200, 429]],
    ['hold for WebSockets', ['ws', 'ws', 'ws'], [401, 401, 429]],
    [
      'are one count for all of them and the paths',
      [LOGIN, TOKEN, 'ws', 'GET /v1/x'],
      [302, 200, 429, 429],
    ],
    [
      'count no OPTIONS there, and no method that is not served',
      [
        'OPTIONS /v1/oidc/login',
        'POST /v1/oidc/login',
        'HEAD /v1/oidc/login',
        'GET /v1/oauth/token',
        LOGIN,
        LOGIN,
      ],
      [204, 405, 405, 405, 302, 302],
    ],
    ['count no other endpoint', [...OTHERS, LOGIN, LOGIN], [200, 200, 401, 302, 302]],
  ])('%s', async (_, requests, expected) => {
    await load()
    expect(await statuses(requests)).toEqual(expected)
    expect(gateway.unexpected).toEqual([])
  })

  it('let WebSockets of another origin neither in nor count', async () => {
    await load({}, { version: { wamp_websocket: { security: { type: 'basic' } } } })
    const origins = ['https://evil.test', 'https://evil.test', 'https://evil.test']
    for (const Origin of origins) expect((await open({ Origin })).status).toBe(403)
    expect((await open({ 'X-User': 'alice' })).status).toBe(101)
  })

  it('count callers of WebSockets apart where they read who calls', async () => {
    await load({ by: '{{security.authid}}', requests: 1 })
    const seen: number[] = []
    for (const user of ['', 'alice', 'alice', 'bob'])
      seen.push((await open(user === '' ? {} : { 'X-User': user })).status)
    expect(seen).toEqual([401, 101, 429, 101])
  })

  it('hold no login back that needs a caller: none is known there', async () => {
    await load({ by: '{{security.authid}}', requests: 0 })
    expect(await statuses([LOGIN, TOKEN])).toEqual([302, 200])
  })

  it('are those of the version where it has some of that name', async () => {
    await load({ requests: 0 }, { version: { defaults: { rate_limits: { calls: {} } } } })
    expect(await statuses([LOGIN, TOKEN])).toEqual([302, 200])
  })

  it('say what is left in what they let pass, and in what they refuse', async () => {
    await load({ requests: 1 })
    const policy = '"calls";q=1;w=60'
    const allowed = await ask(LOGIN)
    expect(allowed.headers).toMatchObject({
      'ratelimit-policy': policy,
      ratelimit: '"calls";r=0;t=60',
    })
    const login = await ask(LOGIN, { origin: 'https://a.test' })
    expect(login.json()).toMatchObject({ code: 'svc.error.too_many_requests' })
    expect(login.headers).toMatchObject({
      'access-control-allow-origin': 'https://a.test',
      'retry-after': '60',
      'ratelimit-policy': policy,
      ratelimit: '"calls";r=0;t=60',
    })
    const { head } = await open()
    expect(head).toContain('retry-after: 60\r\n')
    expect(head).toContain(`ratelimit-policy: ${policy}\r\n`)
  })

  it('say what is left in the switch to a WebSocket', async () => {
    await load()
    const { status, head } = await open({ 'X-User': 'alice' })
    expect(status).toBe(101)
    expect(head).toContain('ratelimit: "calls";r=1;t=30\r\n')
  })

  it.each([LOGIN, 'ws'])(
    'are the reason in the access log and GET /why/:id: %s',
    async (request) => {
      await load({ requests: 0 })
      expect(await statuses([request])).toEqual([429])
      expect(gateway.log.at(-1)).toMatchObject({ status: 429, reason: 'rate_limit' })
      const [decision = '{}'] = gateway.decisions.find('id-1')
      expect(JSON.parse(decision)).toMatchObject({
        step: 'limit',
        reason: 'rate_limit',
        pointer: '/defaults/rate_limits/calls',
      })
    },
  )
})
