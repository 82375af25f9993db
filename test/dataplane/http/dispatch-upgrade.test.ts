import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { WebSocket } from 'ws'
import type { Exchange } from '../../../dataplane/actions/performer.ts'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { eventually } from '../../support/eventually.ts'
import { roundTrip } from '../round-trip.ts'
import { headerValues } from '../../support/raw-client.ts'
import {
  hello,
  helloText,
  responseText,
  startRawRouter,
  startTestRouter,
  type TestRouter,
} from '../wamp/relay/relay-rig.ts'
import {
  answers,
  apiOf,
  serveGateway,
  type ServedGateway,
  type ServedOptions,
} from './served-gateway.ts'
import { securityHome } from '../security/security-home.ts'
import { accepted, refused } from './verdicts.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
/** RFC 6455 §1.3. */
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

let router: TestRouter
let realms: Map<string, RealmRecord>
let gateway: ServedGateway

const serve = async (options: ServedOptions = {}): Promise<void> => {
  await gateway[Symbol.asyncDispose]()
  gateway = await serveGateway({ realms, ...options })
}

beforeEach(async () => {
  router = await startTestRouter()
  realms = new Map([
    ['com.acme', { uri: 'com.acme', router: { url: router.url } }],
    ['com.bare', { uri: 'com.bare' }],
    ['com.raw', { uri: 'com.raw', router: { url: 'rs://127.0.0.1:1' } }],
  ])
  gateway = await serveGateway({ realms })
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  await router[Symbol.asyncDispose]()
})

const X = { '/x': { get: answers('x') } }
const at = (
  base: string,
  { version = {}, ...more }: Readonly<Record<string, unknown>> & { readonly version?: object } = {},
): unknown => apiOf(X, { version: { base_path: base, ...version }, ...more })

type Head = Readonly<Record<string, string | undefined>>

const handshake = (path: string, more: Head = {}, line = `GET ${path} HTTP/1.1`): string => {
  const headers: Head = {
    Host: 'a.test',
    Connection: 'keep-alive, Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': KEY,
    'Sec-WebSocket-Protocol': 'wamp.2.json',
    ...more,
  }
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  )
  return `${line}\r\n${lines.join('')}\r\n`
}

/** The status line and headers of a response that may be a 101, which has no end. */
const headOf = async (...requests: readonly string[]) => {
  const socket = createConnection(gateway.address)
  socket.on('error', () => undefined)
  socket.write(requests.join(''))
  let text = ''
  for await (const chunk of socket) {
    text += (chunk as Buffer).toString('latin1')
    if (text.includes('\r\n\r\n')) break
  }
  const [statusLine = '', ...lines] = (text.split('\r\n\r\n')[0] ?? '').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 2),
    ]),
  )
  return { status: Number(statusLine.split(' ')[1]), headers, text }
}

const open = async (path: string, protocols = ['wamp.2.json']): Promise<WebSocket> => {
  const socket = new WebSocket(gateway.url.replace('http:', 'ws:') + path, protocols)
  socket.on('error', () => undefined)
  await once(socket, 'open')
  return socket
}

const said = async (socket: WebSocket): Promise<string> => {
  const [data] = (await once(socket, 'message')) as [Buffer]
  return data.toString()
}

describe('a version that says who may open its WebSocket', () => {
  it('serves none where it is closed, and leaves a path of its own to others', async () => {
    await gateway.load(at('/v1', { version: { wamp_websocket: false } }))
    expect((await headOf(handshake('/v1/ws'))).status).toBe(404)
    expect((await gateway.ask('GET', '/v1/ws')).status).toBe(404)
    expect((await gateway.ask('GET', '/v1/x')).status).toBe(200)
    expect(gateway.relays.size).toBe(0)
  })

  it('asks for its own credentials', async () => {
    await serve({ authenticate: () => refused(new GatewayError('svc.error.unauthorized', 'no')) })
    const wamp_websocket = { security: { type: 'basic' } }
    await gateway.load(at('/v1', { version: { wamp_websocket } }))
    expect((await headOf(handshake('/v1/ws'))).status).toBe(401)
    expect((await gateway.ask('GET', '/v1/x')).status).toBe(200)
  })

  it('closes connections where a new document closes it', async () => {
    await gateway.load(at('/v1'))
    const socket = await open('/v1/ws')
    const closed = once(socket, 'close')
    await gateway.load(at('/v1', { version: { wamp_websocket: false } }))
    expect((await closed)[0]).toBe(1001)
  })
})

describe('a connection', () => {
  it('is carried to the router of the realm and back', async () => {
    await gateway.load(at('/v1'))
    const socket = await open('/v1/ws', ['mqtt', 'wamp.2.cbor', 'wamp.2.json'])
    expect([socket.protocol, socket.extensions]).toEqual(['wamp.2.json', ''])
    socket.send('[1,"com.acme",{}]')
    expect(await said(socket)).toBe('[1,"com.acme",{}]')
    socket.send(helloText('x'.repeat(2_000_000)))
    expect(await said(socket)).toBe(helloText('x'.repeat(2_000_000)))
    expect(router.heads[0]).toMatchObject({ 'sec-websocket-protocol': 'wamp.2.cbor, wamp.2.json' })
    expect(router.heads[0]).not.toHaveProperty('sec-websocket-extensions')
    expect(gateway.relays.size).toBe(1)
    socket.close(1000, 'done')
    expect(await once(socket, 'close')).toEqual([1000, Buffer.from('done')])
    await eventually(async () => {
      expect([gateway.relays.size, await gateway.connections()]).toEqual([0, 0])
    })
  })

  it('of a client that says HELLO to another realm is ended, and the router hears nothing of it', async () => {
    const heard: string[] = []
    await router[Symbol.asyncDispose]()
    router = await startTestRouter((_, data) => heard.push((data as Buffer).toString()))
    realms.set('com.acme', { uri: 'com.acme', router: { url: router.url } })
    realms.set('com.bank', { uri: 'com.bank', router: { url: router.url } })
    await gateway.load(at('/v1'))
    const socket = await open('/v1/ws', ['wamp.2.cbor', 'wamp.2.json'])
    const closed = once(socket, 'close')
    const answer = said(socket)
    socket.send('[1,"com.bank",{}]')
    expect(JSON.parse(await answer)).toMatchObject({ 0: 3, 2: 'wamp.error.no_such_realm' })
    expect((await closed)[0]).toBe(1008)
    expect(heard).toEqual([])
  })

  it('is answered, counted and logged', async () => {
    const deprecated = { base_path: '/v1', is_deprecated: true }
    await gateway.load(apiOf(X, { version: deprecated }))
    const { headers, status, text } = await headOf(
      handshake('/v1/ws?token=secret', {
        Origin: 'https://a.test',
        Cookie: 'a=b',
        Authorization: 'x',
      }),
    )
    expect([status, headers]).toEqual([
      101,
      {
        upgrade: 'websocket',
        connection: 'Upgrade',
        'sec-websocket-accept': ACCEPT,
        'sec-websocket-protocol': 'wamp.2.json',
        'x-request-id': 'id-1',
        deprecation: 'true',
      },
    ])
    expect(text.endsWith('\r\n\r\n')).toBe(true)
    expect(gateway.log).toEqual([
      expect.objectContaining({ id: 'id-1', status: 101, api: 'api', version: 'v1', bytes: 0 }),
    ])
    expect([gateway.statuses, gateway.rows, gateway.unmatched]).toEqual([[101], ['GET /v1/ws'], []])
    expect([gateway.inFlight.count, gateway.refused]).toEqual([0, []])
    for (const name of ['origin', 'cookie', 'authorization'])
      expect(router.heads[0]).not.toHaveProperty(name)
  })

  it('may follow requests on a connection that is kept', async () => {
    await gateway.load(at('/'))
    await using client = await gateway.raw('GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n')
    expect((await client.response()).status).toBe(200)
    client.send([Buffer.from(handshake('/ws'))])
    expect(await client.stream.line()).toBe('HTTP/1.1 101 Switching Protocols')
  })

  it('is not taken while an earlier request of its connection waits', async () => {
    const waiting: Exchange[] = []
    await serve({ forward: (exchange) => waiting.push(exchange) })
    const paths = { '/slow': { get: { action: { type: 'forward', host: 'http://b.test' } } } }
    await gateway.load(apiOf(paths))
    await using client = await gateway.raw(
      'GET /slow HTTP/1.1\r\nHost: a.test\r\n\r\n',
      handshake('/ws'),
    )
    await eventually(() => {
      expect(waiting).toHaveLength(1)
    })
    waiting[0]?.succeed({ status_code: 200, headers: {}, body: 'slow', uri: '' })
    expect((await client.response()).status).toBe(200)
    expect((await client.response()).status).toBe(426)
  })

  it('is closed with 1001 when the gateway drains', async () => {
    await gateway.load(at('/'))
    const socket = await open('/ws')
    const closed = once(socket, 'close')
    await gateway.relays.closeAll()
    expect((await closed)[0]).toBe(1001)
    expect((await headOf(handshake('/ws'))).status).toBe(503)
  })
})

describe('the handshake', () => {
  const invalid = 'svc.error.invalid_data'
  const version = 'svc.error.upgrade_required'

  it.each<readonly [string, Head, number, string?]>([
    ['as it should be', {}, 101],
    ['names in any case', { Connection: 'UPGRADE', Upgrade: 'WebSocket' }, 101],
    ['one protocol of several', { 'Sec-WebSocket-Protocol': 'x, wamp.2.json ,y' }, 101],
    ['extensions', { 'Sec-WebSocket-Extensions': 'permessage-deflate' }, 101],
    ['another version', { 'Sec-WebSocket-Version': '8' }, 426, version],
    ['no version', { 'Sec-WebSocket-Version': undefined }, 426, version],
    ['no key', { 'Sec-WebSocket-Key': undefined }, 400, invalid],
    ['a key too short', { 'Sec-WebSocket-Key': 'AAAA' }, 400, invalid],
    ['a key that is none', { 'Sec-WebSocket-Key': `${KEY.slice(0, -3)}!==` }, 400, invalid],
    ['two keys', { 'Sec-WebSocket-Key': `${KEY}\r\nSec-WebSocket-Key: ${KEY}` }, 400, invalid],
    ['no protocol', { 'Sec-WebSocket-Protocol': undefined }, 400, invalid],
    ['no WAMP protocol', { 'Sec-WebSocket-Protocol': 'mqtt, wamp.1, wamp.2.' }, 400, invalid],
    [
      'a protocol that is not read',
      { 'Sec-WebSocket-Protocol': 'wamp.2.json.batched' },
      400,
      invalid,
    ],
    ['a name that every object has', { 'Sec-WebSocket-Protocol': 'constructor' }, 400, invalid],
    ['a protocol that is no token', { 'Sec-WebSocket-Protocol': 'wamp.2.a b' }, 400, invalid],
    [
      'a protocol the router lacks',
      { 'Sec-WebSocket-Protocol': 'wamp.2.cbor' },
      502,
      'svc.error.bad_gateway',
    ],
  ])('%s', async (_, more, status, code = '') => {
    await gateway.load(at('/'))
    const response = await headOf(handshake('/ws', more))
    expect(response.status).toBe(status)
    expect(gateway.refused).toEqual(code === '' ? [] : [code])
    expect(gateway.statuses).toEqual([status])
  })

  it('tells which version is spoken', async () => {
    await gateway.load(at('/'))
    const { headers } = await headOf(handshake('/ws', { 'Sec-WebSocket-Version': '8' }))
    expect(headers).toMatchObject({
      upgrade: 'websocket',
      connection: 'close, upgrade',
      'sec-websocket-version': '13',
    })
  })

  it('a refusal is an error record, and the end of the connection', async () => {
    await gateway.load(at('/'))
    await using client = await gateway.raw(
      handshake('/ws', { 'Sec-WebSocket-Key': '', Accept: 'application/json' }),
      'frames before the handshake is over',
    )
    const response = await client.response()
    expect(response.status).toBe(400)
    expect(headerValues(response, 'connection')).toEqual(['close'])
    expect(headerValues(response, 'x-request-id')).toEqual(['id-1'])
    expect(JSON.parse(response.body.toString())).toEqual({
      code: 'svc.error.invalid_data',
      message: 'Sec-WebSocket-Key is not 16 bytes in base64',
      description: '',
      request_id: 'id-1',
    })
    expect(await client.more()).toBe(false)
    await eventually(async () => {
      expect(await gateway.connections()).toBe(0)
    })
    expect(gateway.inFlight.count).toBe(0)
  })
})

describe('what asks for no WebSocket', () => {
  const plain = (line: string, more = ''): string => `${line}\r\nHost: a.test\r\n${more}\r\n`
  const upgrade = (protocol: string): string => `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`

  it.each([
    ['GET of /ws', plain('GET /ws HTTP/1.1'), 426],
    ['HEAD of /ws', plain('HEAD /ws HTTP/1.1'), 426],
    ['OPTIONS of /ws', plain('OPTIONS /ws HTTP/1.1'), 426],
    ['POST of /ws', plain('POST /ws HTTP/1.1', 'Content-Length: 1\r\n') + '1', 426],
    ['POST that asks', handshake('', {}, 'POST /ws HTTP/1.1'), 426],
    ['a body', handshake('/ws', { 'Content-Length': '1' }) + '1', 426],
    ['HTTP/1.0', handshake('', {}, 'GET /ws HTTP/1.0'), 426],
    ['another protocol', plain('GET /ws HTTP/1.1', upgrade('h2c')), 426],
    ['an upgrade that is not in Connection', handshake('/ws', { Connection: 'close' }), 426],
    ['two hosts', handshake('/ws', { Host: 'a.test\r\nHost: b.test' }), 400],
    ['no host', handshake('/ws', { Host: undefined }), 400],
    ['a path, WebSocket', handshake('/x'), 200],
    ['a path, h2c', plain('GET /x HTTP/1.1', upgrade('h2c')), 200],
    [
      'a path, POST and h2c',
      plain('POST /x HTTP/1.1', `${upgrade('h2c')}Content-Length: 1\r\n`) + '1',
      405,
    ],
    ['nothing there', handshake('/y'), 404],
    ['nothing there at all', handshake('/ws/x'), 404],
    ['a broken path', handshake('/%zz'), 400],
    ['another case', handshake('/WS'), 404],
  ])('%s', async (_, text, status) => {
    await gateway.load(at('/'))
    const response = await headOf(text)
    expect(response.status).toBe(status)
    const is426 = status === 426
    expect(response.headers['upgrade']).toBe(is426 ? 'websocket' : undefined)
    expect(gateway.refused.includes('svc.error.upgrade_required')).toBe(is426)
    expect(response.headers['allow'] ?? '').not.toContain('WS')
    expect(router.heads).toEqual([])
    expect(gateway.inFlight.count).toBe(0)
  })

  it('a path with bindings goes on serving /ws to plain requests', async () => {
    await gateway.load(apiOf({ '/:name': { get: answers('{{request.bindings.name}}') } }))
    expect((await gateway.ask('GET', '/ws')).text).toBe('"ws"')
    expect((await gateway.ask('PUT', '/ws')).status).toBe(405)
    expect((await headOf(handshake('/ws'))).status).toBe(101)
  })
})

describe('whose router', () => {
  const api = (id: string, realm: string, base: string, more: object = {}): unknown =>
    apiOf(
      { [`/${id}`]: { get: answers(id) } },
      { id, realm_uri: realm, version: { base_path: base, ...more } },
    )

  it.each<readonly [string, string, number, string[]]>([
    ['the only one', '/one/ws', 101, ['GET /one/ws']],
    ['optional segments taken', '/opt/v1/ws', 101, ['GET /opt/[v1]/ws']],
    ['optional segments left out', '/opt/ws/', 101, ['GET /opt/[v1]/ws']],
    ['a binding', '/acme/tenant/ws', 101, ['GET /:tenant/tenant/ws']],
    ['of those that share a path the one that has one', '/shared/ws', 101, ['GET /shared/ws']],
    ['the realm has none', '/bare/ws', 404, []],
    ['the realm has one by RawSocket', '/raw/ws', 404, []],
    ['there is no such realm', '/nobody/ws', 404, []],
    ['the version is not active', '/off/ws', 404, []],
    ['another scheme', '/https/ws', 404, ['GET /https/ws']],
  ])('%s', async (_, path, status, rows) => {
    await gateway.load(
      api('bare-shared', 'com.bare', '/shared'),
      api('one', 'com.acme', '/one'),
      api('opt', 'com.acme', '/opt/[v1]'),
      api('tenant', 'com.acme', '/:tenant/tenant'),
      api('acme-shared', 'com.acme', '/shared'),
      api('bare', 'com.bare', '/bare'),
      api('raw', 'com.raw', '/raw'),
      api('nobody', 'com.nobody', '/nobody'),
      api('off', 'com.acme', '/off', { is_active: false }),
      api('https', 'com.acme', '/https', { defaults: { schemes: ['https'] } }),
    )
    expect((await headOf(handshake(path))).status).toBe(status)
    expect(gateway.rows).toEqual(rows)
    const id = rows.length === 0 ? /^$/ : path === '/shared/ws' ? /^acme-shared$/ : /^\w+$/
    expect(gateway.log[0]?.api).toMatch(id)
  })

  it('the oldest serves the scheme that is requested', async () => {
    await serve({ trustedProxies: ['127.0.0.1'] })
    await gateway.load(
      api('secure', 'com.acme', '/', { defaults: { schemes: ['https'] } }),
      api('plain', 'com.acme', '/', { defaults: { schemes: ['http'] } }),
    )
    const proxied = { 'X-Forwarded-Proto': 'https', 'X-Request-Id': 'from-outside' }
    expect((await headOf(handshake('/ws'))).status).toBe(101)
    const { headers } = await headOf(handshake('/ws', proxied))
    expect(headers['x-request-id']).toBe('from-outside')
    expect(gateway.log.map(({ api: id }) => id)).toEqual(['plain', 'secure'])
  })

  it('follows documents and realms', async () => {
    const status = async (): Promise<number> => (await headOf(handshake('/ws'))).status
    expect(await status()).toBe(404)
    await gateway.load(api('a', 'com.late', '/'))
    expect(await status()).toBe(404)
    realms.set('com.late', { uri: 'com.late', router: { urls: [router.url] } })
    expect(await status()).toBe(101)
    realms.delete('com.late')
    expect(await status()).toBe(404)
  })
})

describe('the document that let a connection in', () => {
  const openFirst = async (): Promise<WebSocket> => {
    await serve({ relayLimits: { checkMs: 20 } })
    realms.set('com.other', { uri: 'com.other', router: { url: router.url } })
    await gateway.load(at('/'), at('/other', { id: 'other' }))
    return open('/ws')
  }

  it.each([
    ['is deleted', () => gateway.remove('api')],
    ['is deactivated', () => gateway.load(at('/', { version: { is_active: false } }))],
    ['goes to another realm', () => gateway.load(at('/', { realm_uri: 'com.other' }))],
  ])('%s: it is closed with 1001, though another one of the realm stays', async (_, change) => {
    const socket = await openFirst()
    const closed = once(socket, 'close')
    await change()
    expect((await closed)[0]).toBe(1001)
    await eventually(() => {
      expect(gateway.relays.size).toBe(0)
    })
  })

  it('is replaced: it stays, wherever its /ws is now', async () => {
    const socket = await openFirst()
    const other = await open('/other/ws')
    const closed = once(other, 'close')
    await gateway.load(at('/elsewhere', { version: { security: { type: 'basic' } } }))
    // Both are looked at together.
    await gateway.remove('other')
    await closed
    socket.send(helloText('x'))
    expect(await said(socket)).toBe(helloText('x'))
  })
})

describe('who may', () => {
  const allowed = ['https://app.test', 'http://localhost:8080']

  it.each<readonly [string, readonly string[] | undefined, string | undefined, number]>([
    ['none are listed', undefined, 'https://evil.test', 101],
    ['the list is empty', [], 'https://evil.test', 101],
    ['listed', allowed, 'https://app.test', 101],
    ['listed, with a port', allowed, 'http://localhost:8080', 101],
    ['listed as a URL of another spelling', ['HTTPS://App.test:443/'], 'https://app.test', 101],
    ['listed, of an app', ['capacitor://localhost'], 'capacitor://localhost', 101],
    ['not listed', allowed, 'https://evil.test', 403],
    ['another scheme', allowed, 'http://app.test', 403],
    ['another port', allowed, 'http://localhost', 403],
    ['a longer name', allowed, 'https://app.test.evil.test', 403],
    ['opaque', allowed, 'null', 403],
    ['two', allowed, 'https://app.test\r\nOrigin: https://evil.test', 403],
    ['no browser', allowed, undefined, 101],
  ])('by origin: %s', async (_, origins, origin, status) => {
    realms.set('com.acme', {
      uri: 'com.acme',
      router: { url: router.url },
      ...(origins && { allowed_origins: origins }),
    })
    await gateway.load(at('/'))
    expect((await headOf(handshake('/ws', { Origin: origin }))).status).toBe(status)
    expect(gateway.refused).toEqual(status === 403 ? ['svc.error.forbidden'] : [])
  })

  const PROVIDER = {
    issuer: 'https://idp.test',
    client_id: 'c',
    client_secret: 's',
    redirect_uri: 'https://api.test/v1/oidc/corp/callback',
  }
  const COOKIE = 'svc_ticket_com.acme=a.b.c'

  it.each<readonly [string, { listed?: readonly string[]; baseUrl?: string; head: Head }, number]>([
    ['the own origin', { head: { Origin: 'https://api.test' } }, 101],
    ['any page', { head: { Origin: 'https://evil.test' } }, 403],
    ['a neighbour', { head: { Origin: 'https://evil.api.test' } }, 403],
    ['the own name without TLS', { head: { Origin: 'http://api.test' } }, 403],
    ['an opaque one', { head: { Origin: 'null' } }, 403],
    ['what Host says', { head: { Host: 'evil.test', Origin: 'http://evil.test' } }, 403],
    ['nowhere', { head: {} }, 403],
    ['a listed one', { listed: allowed, head: { Origin: 'https://app.test' } }, 101],
    ['one beside those listed', { listed: allowed, head: { Origin: 'https://evil.test' } }, 403],
    ['the own one beside those', { listed: allowed, head: { Origin: 'https://api.test' } }, 101],
    ['the base URL', { baseUrl: 'https://gw.test/x', head: { Origin: 'https://gw.test' } }, 101],
    [
      'elsewhere than the base URL',
      { baseUrl: 'https://gw.test', head: { Origin: 'https://api.test' } },
      403,
    ],
    [
      'any page, with a header that decides alone',
      { head: { Origin: 'https://evil.test', Authorization: 'Bearer a.b.c' } },
      101,
    ],
  ])('whose ticket comes by cookie, from %s', async (_, { listed, baseUrl, head }, status) => {
    realms.set('com.acme', {
      uri: 'com.acme',
      router: { url: router.url },
      info: { oidc_providers: { corp: PROVIDER } },
      ...(listed && { allowed_origins: listed }),
    })
    await serve({ authenticate: () => accepted(), ...(baseUrl && { baseUrl }) })
    await gateway.load(at('/', { defaults: { security: { type: 'oidc' } } }))
    const response = await headOf(handshake('/ws', { Cookie: COOKIE, ...head }))
    expect(response.status).toBe(status)
    expect(gateway.authentications).toEqual(status === 101 ? ['oidc identity'] : [])
  })

  it.each<readonly [string, { listed?: readonly string[]; baseUrl?: string; head: Head }, number]>([
    ['no browser', { head: {} }, 101],
    ['a page of that host', { head: { Origin: 'https://a.test' } }, 101],
    [
      'a page of that host and port',
      { head: { Host: 'A.test:81', Origin: 'http://a.test:81' } },
      101,
    ],
    ['another port', { head: { Origin: 'http://a.test:8080' } }, 403],
    ['a neighbour', { head: { Origin: 'https://evil.a.test' } }, 403],
    ['a longer name', { head: { Origin: 'https://a.test.evil.test' } }, 403],
    ['an opaque one', { head: { Origin: 'null' } }, 403],
    ['an opaque one, no host', { head: { Host: '', Origin: 'null' } }, 403],
    ['the base URL', { baseUrl: 'https://gw.test/x', head: { Origin: 'https://gw.test' } }, 101],
    ['a listed one', { listed: allowed, head: { Origin: 'https://app.test' } }, 101],
    ['one beside those listed', { listed: allowed, head: { Origin: 'https://a.test' } }, 403],
  ])('by password, from %s', async (_, { listed, baseUrl, head }, status) => {
    realms.set('com.acme', {
      uri: 'com.acme',
      router: { url: router.url },
      ...(listed && { allowed_origins: listed }),
    })
    await serve({ authenticate: () => accepted(), ...(baseUrl && { baseUrl }) })
    await gateway.load(at('/', { defaults: { security: { type: 'basic' } } }))
    const authorization = `Basic ${Buffer.from('ada:x').toString('base64')}`
    const response = await headOf(handshake('/ws', { Authorization: authorization, ...head }))
    expect(response.status).toBe(status)
    expect(gateway.authentications).toEqual(status === 101 ? ['basic identity'] : [])
  })

  it.each([
    ['a network it is in', '127.0.0.0/8', 403],
    ['a network it is not in', '192.0.2.0/24', 101],
  ])('by %s, or with nothing, from any page', async (_, network, status) => {
    await serve({ authenticate: () => accepted() })
    await gateway.load(at('/', { defaults: { security: [{ networks: [network] }, {}] } }))
    const response = await headOf(handshake('/ws', { Origin: 'https://evil.test' }))
    expect(response.status).toBe(status)
  })

  const secured = at('/', { defaults: { security: { type: 'basic', groups: ['staff'] } } })

  it('no client, without credentials', async () => {
    await gateway.load(secured)
    const { status, headers } = await headOf(handshake('/ws'))
    expect([status, headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('Basic realm="com.acme"'),
    ])
    expect([gateway.refused, gateway.rows, router.heads]).toEqual([
      ['svc.error.unauthorized'],
      ['GET /ws'],
      [],
    ])
  })

  it('no client outside of its networks, and says by which address', async () => {
    const home = securityHome({ realms: [{ uri: 'com.acme' }] })
    await serve({ authenticate: (...given) => home.authenticate(...given) })
    await gateway.load(at('/', { security: { networks: ['192.0.2.0/24'] } }))
    const response = await headOf(handshake('/ws', { 'X-Forwarded-For': '192.0.2.7' }))
    expect([response.status, router.heads]).toEqual([403, []])
    expect(gateway.failures).toMatchObject([
      { path: '/ws', code: 'svc.error.forbidden', failure: { reason: 'network_proxy' } },
    ])
    const [decision = ''] = gateway.decisions.find(response.headers['x-request-id'] ?? '')
    expect(decision).toContain('"reason":"network_proxy"')
  })

  it.each([
    ['who is known', () => accepted(), 101],
    ['who is known later', () => Promise.resolve(accepted()), 101],
    ['who may not', () => refused(new GatewayError('svc.error.forbidden', 'no')), 403],
    [
      'who may not, it turns out',
      () => Promise.resolve(refused(new GatewayError('svc.error.forbidden', 'no'))),
      403,
    ],
    ['who cannot be checked', () => Promise.reject(new Error('no such file')), 500],
  ])('%s', async (_, verdict, status) => {
    const asked: unknown[] = []
    await serve({
      authenticate: (security, realmUri, { address, requestId, request }) => {
        asked.push([security, realmUri, address, requestId, request.headers.authorization])
        return verdict()
      },
    })
    await gateway.load(secured)
    expect((await headOf(handshake('/ws', { Authorization: 'Basic YTpi' }))).status).toBe(status)
    expect(asked).toEqual([
      [
        [{ type: 'basic', groups: ['staff'], pointer: '/defaults/security' }],
        'com.acme',
        '127.0.0.1',
        'id-1',
        'Basic YTpi',
      ],
    ])
    expect(gateway.unexpected).toHaveLength(status === 500 ? 1 : 0)
  })
})

describe('when the router does not', () => {
  it('is away: 502', async () => {
    await gateway.load(at('/'))
    await router[Symbol.asyncDispose]()
    const { status, text } = await headOf(handshake('/ws'))
    expect([status, gateway.refused]).toEqual([502, ['svc.error.bad_gateway']])
    expect(text).not.toContain(new URL(router.url).port)
    router = await startTestRouter()
  })

  it('refuses: 502', async () => {
    await using refusing = await startRawRouter('HTTP/1.1 401 Unauthorized\r\n\r\n')
    realms.set('com.acme', { uri: 'com.acme', router: { url: refusing.url } })
    await gateway.load(at('/'))
    expect((await headOf(handshake('/ws'))).status).toBe(502)
  })

  it('is too busy: 503', async () => {
    await serve({ relayLimits: { maxRelays: 1 } })
    await gateway.load(at('/'))
    const socket = await open('/ws')
    const { status, headers } = await headOf(handshake('/ws'))
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    socket.terminate()
  })

  it.each<readonly [string, (socket: Socket) => unknown]>([
    ['is reset', (socket) => socket.resetAndDestroy()],
    ['closes', (socket) => socket.destroy()],
    ['says no more', (socket) => socket.end()],
    ['speaks before its turn, then closes', (socket) => socket.end('early')],
  ])('answers, and the client %s: it is hung up', async (_, leave) => {
    await using silent = await startRawRouter('')
    realms.set('com.acme', { uri: 'com.acme', router: { url: silent.url } })
    await gateway.load(at('/'))
    const socket = createConnection(gateway.address)
    socket.write(handshake('/ws'))
    await eventually(() => {
      expect(silent.sockets.size).toBe(1)
    })
    leave(socket)
    await eventually(() => {
      expect([silent.sockets.size, gateway.inFlight.count]).toEqual([0, 0])
    })
    expect([gateway.statuses, gateway.refused]).toEqual([[499], []])
    await eventually(async () => {
      expect(await gateway.connections()).toBe(0)
    })
    socket.destroy()
  })

  it('answers late: what the client has sent meanwhile is the first that it gets', async () => {
    let answer: () => void = () => undefined
    const received: Buffer[] = []
    await using late = await startRawRouter('', (socket) => {
      socket.on('data', (chunk) => received.push(chunk))
      answer = () => socket.write(responseText())
    })
    realms.set('com.acme', { uri: 'com.acme', router: { url: late.url } })
    await gateway.load(at('/'))
    const socket = createConnection(gateway.address)
    const frames = [1, 2, 3].map((byte) => hello(String(byte).repeat(30_000)))
    socket.write(handshake('/ws'))
    await eventually(() => {
      expect(late.sockets.size).toBe(1)
    })
    for (const each of frames) socket.write(each)
    await roundTrip()
    answer()
    await eventually(() => {
      expect(Buffer.concat(received).equals(Buffer.concat(frames))).toBe(true)
    })
    socket.destroy()
  })
})
