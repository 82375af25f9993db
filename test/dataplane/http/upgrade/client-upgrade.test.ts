// Opens WebSockets through a forward: up to a proven 101 not a byte of the client goes on, behind it all bytes do, both ways.

import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { WebSocket, WebSocketServer } from 'ws'
import { GatewayError } from '../../../../dataplane/gateway-error.ts'
import type { Authenticate } from '../../../../dataplane/security/schemes/authentication.ts'
import { createGuard } from '../../../../dataplane/upstream/destinations/guard.ts'
import { createUpstream } from '../../../../dataplane/upstream/pooled-upstream.ts'
import type { Upstream } from '../../../../dataplane/upstream/upstream.ts'
import type { RealmRecord } from '../../../../language/realm/record.ts'
import { eventually } from '../../../support/eventually.ts'
import { close, frame } from '../../wamp/frames.ts'
import {
  answers,
  apiOf,
  serveGateway,
  type ServedGateway,
  type ServedOptions,
} from '../served-gateway.ts'
import { accepted, refused } from '../verdicts.ts'
import { type RawUpstream, startRawUpstream, switching } from './raw-upstream.ts'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const REALMS = new Map<string, RealmRecord>([['com.acme', { uri: 'com.acme' }]])

let pool: Upstream
let gateway: ServedGateway
let upstream: RawUpstream

const serve = async (options: ServedOptions = {}): Promise<void> => {
  await gateway[Symbol.asyncDispose]()
  gateway = await serveGateway({ realms: REALMS, upstream: pool, ...options })
}

beforeEach(async () => {
  pool = createUpstream({ guard: createGuard() })
  gateway = await serveGateway({ realms: REALMS, upstream: pool })
  upstream = await startRawUpstream()
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
  await pool.close()
})

/** Replaces the upstream that accepts and echoes. */
const playUpstream = async (...respond: Parameters<typeof startRawUpstream>): Promise<void> => {
  await upstream[Symbol.asyncDispose]()
  upstream = await startRawUpstream(...respond)
}

const forward = (more: object = {}): object => ({
  action: { type: 'forward', host: upstream.host, upgrade: ['websocket'], ...more },
})

const api = (path: object = {}, version: object = {}, action: object = {}): unknown =>
  apiOf({ '/chat': { get: forward(action), ...path } }, { version })

type Head = Readonly<Record<string, string | undefined>>

const handshake = (more: Head = {}, line = 'GET /chat HTTP/1.1'): string => {
  const headers: Head = {
    Host: 'a.test',
    Connection: 'keep-alive, Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': KEY,
    ...more,
  }
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  )
  return `${line}\r\n${lines.join('')}\r\n`
}

interface Client {
  readonly socket: Socket
  /** All that came. */
  text(): string
  status(): number
  /** Behind the head. */
  bytes(): Buffer
}

const clients: Socket[] = []

afterEach(() => {
  for (const socket of clients.splice(0)) socket.destroy()
})

/** Sends `text`, and waits for the head of a response. */
const send = async (text: string | Buffer, localAddress?: string): Promise<Client> => {
  const socket = createConnection({ ...gateway.address, ...(localAddress && { localAddress }) })
  clients.push(socket)
  let all = Buffer.alloc(0)
  socket
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => {
      all = Buffer.concat([all, chunk])
    })
  socket.write(text)
  const end = (): number => all.indexOf('\r\n\r\n')
  await eventually(() => {
    expect(end() >= 0 || socket.destroyed).toBe(true)
  })
  return {
    socket,
    text: () => all.toString('latin1'),
    status: () => Number(all.toString('latin1').split(' ')[1]),
    bytes: () => all.subarray(end() + 4),
  }
}

const closed = ({ socket }: Client): Promise<void> =>
  eventually(() => {
    expect(socket.destroyed).toBe(true)
  })

const closedFrames = async (client: Client, code: number): Promise<void> => {
  await eventually(() => {
    const at = client.bytes().lastIndexOf(0x88)
    expect(at >= 0 && client.bytes().readUInt16BE(at + 2)).toBe(code)
  })
}

describe('a WebSocket through a forward', () => {
  it('is carried with what was negotiated, between libraries', async () => {
    const server = new WebSocketServer({
      host: '127.0.0.1',
      port: 0,
      perMessageDeflate: { threshold: 0 },
      handleProtocols: () => 'chat.2',
    })
    await once(server, 'listening')
    const heads: Record<string, unknown>[] = []
    server.on('connection', (socket, request) => {
      heads.push({ ...request.headers, url: request.url })
      socket.on('message', (data, isBinary) => {
        socket.send(data as Buffer, { binary: isBinary })
      })
      socket.on('close', (code, reason) => heads.push({ code, reason: reason.toString() }))
    })
    const { port } = server.address() as { readonly port: number }
    await gateway.load(api({}, {}, { host: `http://127.0.0.1:${port}` }))
    const url = `${gateway.url.replace('http:', 'ws:')}/chat?room=1`
    const socket = new WebSocket(url, ['chat.1', 'chat.2'], { headers: { Host: 'a.test' } })
    await once(socket, 'open')
    expect([socket.protocol, socket.extensions]).toEqual(['chat.2', 'permessage-deflate'])
    for (const text of ['hello', 'x'.repeat(300_000)]) {
      socket.send(text)
      const [data] = (await once(socket, 'message')) as [Buffer]
      expect(data.toString() === text).toBe(true)
    }
    expect(heads[0]).toMatchObject({
      url: '/chat?room=1',
      'x-forwarded-host': 'a.test',
      'x-request-id': 'id-1',
      connection: 'Upgrade',
      upgrade: 'websocket',
    })
    socket.close(4001, 'enough')
    await eventually(() => {
      expect(heads[1]).toEqual({ code: 4001, reason: 'enough' })
    })
    await eventually(async () => {
      expect([gateway.relays.size, await gateway.connections()]).toEqual([0, 0])
    })
    expect([gateway.statuses, gateway.rows, gateway.inFlight.count]).toEqual([
      [101],
      ['GET /chat'],
      0,
    ])
    await new Promise((resolve) => {
      server.close(resolve)
    })
  })

  it('sends nothing of the client before the 101, and then all of it', async () => {
    let accept: (() => void) | undefined
    await playUpstream((head, socket) => {
      accept = () => {
        socket.write(switching(head))
      }
    })
    await gateway.load(api())
    const early = frame('early', { isMasked: true })
    const sent = send(Buffer.concat([Buffer.from(handshake()), early]))
    await eventually(() => {
      expect(upstream.heads).toHaveLength(1)
    })
    expect(upstream.bytes[0]).toEqual(Buffer.alloc(0))
    accept?.()
    expect((await sent).status()).toBe(101)
    await eventually(() => {
      expect(upstream.bytes[0]).toEqual(early)
    })
  })

  it('passes on what the upstream sends along with its 101', async () => {
    const hello = frame('{"sid":1}', { opcode: 1 })
    await playUpstream((head, socket) => {
      socket.write(Buffer.concat([Buffer.from(switching(head)), hello]))
    })
    await gateway.load(api())
    const client = await send(handshake())
    await eventually(() => {
      expect(client.bytes()).toEqual(hello)
    })
  })

  it('sends no header that the client names in Connection, and no second protocol to switch to', async () => {
    await gateway.load(api())
    const client = await send(
      handshake({
        Connection: 'Upgrade, x-secret, sec-websocket-protocol',
        Upgrade: 'h2c, websocket',
        'X-Secret': 'a',
        'x-forwarded-for': '192.0.2.1',
      }),
    )
    expect(client.status()).toBe(101)
    const head = upstream.heads[0] ?? ''
    expect(head).not.toMatch(/x-secret|h2c|192\.0\.2\.1/i)
    expect(head.match(/^upgrade: .*$/gim)).toEqual(['upgrade: websocket'])
    expect(head.match(/^connection: .*$/gim)).toEqual(['connection: Upgrade'])
    expect(head).not.toMatch(/^(content-length|transfer-encoding):/im)
  })

  it('sends the handshake of the client, whatever headers the document writes', async () => {
    await gateway.load(
      api(
        {},
        {},
        { headers: { 'x-a': 'b', 'sec-websocket-protocol': 'mine', Sec_WebSocket_Key: 'x' } },
      ),
    )
    expect((await send(handshake({ 'Sec-WebSocket-Protocol': 'yours' }))).status()).toBe(101)
    const head = upstream.heads[0] ?? ''
    expect(head.match(/^sec.websocket.*$/gim)).toEqual([
      'sec-websocket-version: 13',
      `sec-websocket-key: ${KEY}`,
      'sec-websocket-protocol: yours',
    ])
    expect(head).toContain('x-a: b\r\n')
  })

  it('passes on headers of the 101 as of any response', async () => {
    await playUpstream((head, socket) => {
      socket.write(
        switching(head, { 'set-cookie': 'lb=1', 'x-request-id': 'forged', 'keep-alive': '5' }),
      )
    })
    await gateway.load(api())
    const text = (await send(handshake())).text().toLowerCase()
    expect(text).toContain('set-cookie: lb=1\r\n')
    expect(text).toContain('x-request-id: id-1\r\n')
    expect(text).not.toMatch(/forged|keep-alive/)
  })

  it.each([
    ['no accept', { 'sec-websocket-accept': '' }],
    ['the accept of another key', { 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOp=' }],
    ['another protocol', { upgrade: 'h2c' }],
    ['another protocol beside it', { upgrade: 'websocket, h2c' }],
    ['no protocol', { upgrade: '' }],
    ['no Upgrade in Connection', { connection: 'keep-alive' }],
    ['a length', { 'content-length': '5' }],
    ['chunks', { 'transfer-encoding': 'chunked' }],
    ['a sub-protocol that was not offered', { 'sec-websocket-protocol': 'b' }],
    ['two sub-protocols', { 'sec-websocket-protocol': 'a, a' }],
    ['an extension that was not offered', { 'sec-websocket-extensions': 'x-mine' }],
    [
      'an extension behind one that was',
      { 'sec-websocket-extensions': 'permessage-deflate, x-mine; a=1' },
    ],
    ['an endless head', { 'x-long': 'x'.repeat(70_000) }],
  ])('is bad_gateway where the 101 has %s', async (_, lines) => {
    await playUpstream((head, socket) => socket.write(switching(head, lines)))
    await gateway.load(api())
    const early = frame('secret', { isMasked: true })
    const offer = {
      'Sec-WebSocket-Protocol': 'a',
      'Sec-WebSocket-Extensions': 'permessage-deflate',
    }
    const client = await send(Buffer.concat([Buffer.from(handshake(offer)), early]))
    expect([client.status(), gateway.failures[0]?.code]).toEqual([504, 'svc.error.bad_gateway'])
    expect(gateway.failures[0]?.failure.reason).toBe('malformed')
    await closed(client)
    expect(upstream.bytes.map((each) => each.length)).toEqual([0])
    expect([gateway.relays.size, gateway.inFlight.count]).toEqual([0, 0])
  })

  it.each([
    ['HTTP/1.0', (head: string) => switching(head).replace('HTTP/1.1', 'HTTP/1.0')],
    ['a bare LF', (head: string) => switching(head).replaceAll('\r\n', '\n')],
    ['no HTTP', () => 'hello\r\n\r\n'],
  ])('is bad_gateway where the 101 is %s', async (_, response) => {
    await playUpstream((head, socket) => socket.write(response(head)))
    await gateway.load(api())
    expect((await send(handshake())).status()).toBe(504)
    expect(gateway.failures[0]?.code).toBe('svc.error.bad_gateway')
  })

  it.each([
    [200, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    [403, 'HTTP/1.1 403 No\r\ncontent-length: 2\r\n\r\nno'],
    [
      426,
      'HTTP/1.1 426 Upgrade Required\r\nupgrade: foo\r\nconnection: upgrade\r\ncontent-length: 0\r\n\r\n',
    ],
    [302, 'HTTP/1.1 302 Found\r\nlocation: /login\r\ncontent-length: 0\r\n\r\n'],
  ])(
    'gets another answer, %i, as an answer, and the connection ends with what came early',
    async (status, text) => {
      await playUpstream((_, socket) => socket.write(text))
      await gateway.load(api())
      // What a proxy that believes every upgrade would pass on as the client's own request.
      const smuggled = 'GET /admin HTTP/1.1\r\nHost: a.test\r\n\r\n'
      const client = await send(handshake() + smuggled)
      expect(client.status()).toBe(status)
      await closed(client)
      expect(client.text().match(/HTTP\/1\.1/g)).toHaveLength(1)
      expect(client.text()).toMatch(/connection: close/i)
      expect(upstream.bytes.map((each) => each.toString())).toEqual([''])
      expect(gateway.statuses).toEqual([status])
    },
  )

  it('is tried again before the 101, and never behind it', async () => {
    await playUpstream((head, socket, number) => {
      if (number === 0) socket.destroy()
      else socket.write(switching(head))
    })
    await gateway.load(api({}, {}, { retries: 2 }))
    const client = await send(handshake())
    expect([client.status(), upstream.heads.length]).toEqual([101, 2])
    upstream.sockets[1]?.resetAndDestroy()
    await closed(client)
    expect(upstream.heads).toHaveLength(2)
  })
})

describe('a request that is no handshake, or a bad one', () => {
  const plain = (line: string, more = ''): string => `${line}\r\nHost: a.test\r\n${more}\r\n`
  const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

  it.each<[string, string, number, number]>([
    ['a plain GET', plain('GET /chat HTTP/1.1'), 200, 1],
    ['h2c', plain('GET /chat HTTP/1.1', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'), 200, 1],
    ['HTTP/1.0', handshake({}, 'GET /chat HTTP/1.0'), 200, 1],
    ['another version', handshake({ 'Sec-WebSocket-Version': '8' }), 426, 0],
    ['no version', handshake({ 'Sec-WebSocket-Version': undefined }), 426, 0],
    ['a bad key', handshake({ 'Sec-WebSocket-Key': 'abc' }), 400, 0],
    ['two keys', handshake({ 'Sec-WebSocket-Key': `${KEY}\r\nSec-WebSocket-Key: ${KEY}` }), 400, 0],
    ['no key', handshake({ 'Sec-WebSocket-Key': undefined }), 400, 0],
    ['no Upgrade in Connection', handshake({ Connection: 'keep-alive' }), 400, 0],
    ['POST', handshake({}, 'POST /chat HTTP/1.1'), 405, 0],
    ['a forward without upgrade', handshake({}, 'GET /plain HTTP/1.1'), 400, 0],
    [
      'h2c to a forward without upgrade',
      plain('GET /plain HTTP/1.1', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'),
      200,
      1,
    ],
    ['no forward', handshake({}, 'GET /static HTTP/1.1'), 200, 0],
  ])('%s', async (_, text, status, forwarded) => {
    await playUpstream((__, socket) => socket.write(OK))
    const plainForward = { action: { type: 'forward', host: upstream.host } }
    await gateway.load(
      apiOf({
        '/chat': { get: forward() },
        '/plain': { get: plainForward },
        '/static': { get: answers('x') },
      }),
    )
    const client = await send(text)
    expect(client.status()).toBe(status)
    expect(upstream.heads.length).toBe(forwarded)
    expect(upstream.heads.join('')).not.toMatch(/^upgrade:/im)
    expect(client.text().includes('sec-websocket-version: 13')).toBe(status === 426)
  })

  it('says why a forward without upgrade takes none', async () => {
    await gateway.load(
      apiOf({ '/chat': { get: { action: { type: 'forward', host: upstream.host } } } }),
    )
    const { headers } = { headers: { upgrade: 'websocket', connection: 'upgrade' } }
    const response = await send(handshake(headers))
    await eventually(() => {
      expect(response.text()).toContain('This path takes no WebSocket connections')
    })
    expect(response.text()).toContain('upgrade: [websocket]')
  })

  it('behind a request whose response is outstanding is refused', async () => {
    await playUpstream(() => undefined)
    await gateway.load(
      apiOf({
        '/chat': { get: forward() },
        '/slow': { get: { action: { type: 'forward', host: upstream.host } } },
      }),
    )
    const socket = createConnection(gateway.address)
    clients.push(socket)
    let text = ''
    socket
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
    socket.write(plain('GET /slow HTTP/1.1') + handshake())
    await eventually(() => {
      expect(upstream.heads).toHaveLength(1)
    })
    upstream.sockets[0]?.write(OK)
    await eventually(() => {
      expect(text).toContain('HTTP/1.1 400')
    })
    expect(upstream.heads).toHaveLength(1)
  })
})

describe('who may open one', () => {
  const unauthorized = new GatewayError('svc.error.unauthorized', 'no')
  const security = { type: 'oidc' }
  const withRealm = (allowed: readonly string[]): Map<string, RealmRecord> =>
    new Map([
      [
        'com.acme',
        {
          uri: 'com.acme',
          ...(allowed.length > 0 && { allowed_origins: allowed }),
        },
      ],
    ])

  it('is evaluated before the upstream is called', async () => {
    await serve({ authenticate: () => refused(unauthorized) })
    await gateway.load(api({ security: { type: 'basic' } }))
    const client = await send(handshake())
    expect([client.status(), upstream.heads]).toEqual([401, []])
  })

  it.each<[string, object | undefined, Head, readonly string[], number]>([
    ['nobody in particular, any page', undefined, { Origin: 'https://x.test' }, [], 101],
    ['nobody, a page not listed', undefined, { Origin: 'https://x.test' }, ['https://a.test'], 403],
    ['nobody, a listed page', undefined, { Origin: 'https://a.test' }, ['https://a.test'], 101],
    ['a cookie, no page', security, { Cookie: 'svc=1' }, [], 403],
    ['a cookie, another page', security, { Cookie: 'svc=1', Origin: 'https://x.test' }, [], 403],
    ['a cookie, the own page', security, { Cookie: 'svc=1', Origin: 'https://gw.test' }, [], 101],
    [
      'a header, any page',
      security,
      { Authorization: 'Bearer x', Origin: 'https://x.test' },
      [],
      101,
    ],
    ['a password, another page', { type: 'basic' }, { Origin: 'https://x.test' }, [], 403],
    ['a password, the page of the host', { type: 'basic' }, { Origin: 'http://a.test' }, [], 101],
    ['a password, no page', { type: 'basic' }, {}, [], 101],
    [
      'a network it is in, or nothing: any page',
      [{ networks: ['127.0.0.0/8'] }, {}],
      { Origin: 'https://x.test' },
      [],
      403,
    ],
    [
      'a network it is not in, or nothing: any page',
      [{ networks: ['192.0.2.0/24'] }, {}],
      { Origin: 'https://x.test' },
      [],
      101,
    ],
  ])('%s', async (...[, own, headers, allowed, status]) => {
    await serve({
      authenticate: () => accepted(),
      realms: withRealm(allowed),
      baseUrl: 'https://gw.test',
    })
    await gateway.load(api(own === undefined ? {} : { security: own }))
    const client = await send(handshake(headers))
    expect(client.status()).toBe(status)
    expect(upstream.heads).toHaveLength(status === 101 ? 1 : 0)
  })
})

describe('the end', () => {
  const CHECKS = { checkMs: 5 }

  /** Whether bytes still come back. */
  const echoes = async (client: Client): Promise<void> => {
    const sent = frame('still there', { isMasked: true })
    client.socket.write(sent)
    await eventually(() => {
      expect(client.bytes()).toEqual(sent)
    })
  }

  it.each<[string, object]>([
    ['is replaced', { status_codes: {} }],
    ['is replaced without that path', { paths: { '/y': { get: answers('y') } } }],
  ])('does not come where the document %s', async (_, version) => {
    await serve({ relayLimits: CHECKS })
    await gateway.load(api())
    const client = await send(handshake())
    await gateway.load(api({}, version))
    await echoes(client)
    expect(client.socket.destroyed).toBe(false)
  })

  it('comes where the version is not active any more', async () => {
    await serve({ relayLimits: CHECKS })
    await gateway.load(api())
    const client = await send(handshake())
    expect(client.status()).toBe(101)
    await gateway.load(api({}, { is_active: false }))
    await closedFrames(client, 1001)
  })

  it('where the document is deleted, for both', async () => {
    await playUpstream((head, socket) => socket.write(switching(head)))
    await serve({ relayLimits: CHECKS })
    await gateway.load(api())
    const client = await send(handshake())
    await gateway.remove('api')
    await closedFrames(client, 1001)
    await eventually(() => {
      expect(upstream.bytes[0]?.[0]).toBe(0x88)
      expect(gateway.relays.size).toBe(0)
    })
  })

  /** Opens one, and lets the credentials be refused from then on. */
  const openThenRefuse = async (
    security: { readonly type: 'basic' | 'oauth2' | 'oidc' },
    code: 'svc.error.unauthorized' | 'svc.error.forbidden' | 'svc.error.overloaded',
  ) => {
    const asked = { count: 0, isRefused: false }
    const authenticate: Authenticate = () => {
      asked.count++
      return asked.isRefused
        ? refused(new GatewayError(code, 'ended'))
        : accepted({ type: security.type })
    }
    await serve({ relayLimits: CHECKS, authenticate, baseUrl: 'https://gw.test' })
    await gateway.load(api({ security }))
    const client = await send(handshake({ Authorization: 'Bearer x' }))
    expect(client.status()).toBe(101)
    asked.isRefused = true
    return { client, asked }
  }

  it.each([
    ['a ticket that has ended', { type: 'oidc' }, 'svc.error.unauthorized'],
    [
      'a token that has ended',
      { type: 'oauth2', flow: 'client_credentials' },
      'svc.error.unauthorized',
    ],
    ['a ticket that may no more', { type: 'oidc' }, 'svc.error.forbidden'],
  ] as const)('is 1008 of %s', async (_, security, code) => {
    const { client } = await openThenRefuse(security, code)
    await closedFrames(client, 1008)
    // What is checked for a connection that is open is no request.
    expect(gateway.authentications).toEqual([`${security.type} identity`])
  })

  it('is 1008 where credentials that have ended leave no identity', async () => {
    let isAnonymous = false
    const authenticate: Authenticate = () =>
      isAnonymous ? { kind: 'anonymous' } : accepted({ type: 'oidc' })
    await serve({ relayLimits: CHECKS, authenticate, baseUrl: 'https://gw.test' })
    await gateway.load(api({ security: [{ type: 'oidc' }, {}] }))
    const client = await send(handshake({ Authorization: 'Bearer x' }))
    expect(client.status()).toBe(101)
    isAnonymous = true
    await closedFrames(client, 1008)
  })

  it('does not come of what can not be found out at present', async () => {
    const { client, asked } = await openThenRefuse({ type: 'oidc' }, 'svc.error.overloaded')
    const before = asked.count
    await eventually(() => {
      expect(asked.count).toBeGreaterThan(before + 1)
    })
    await echoes(client)
  })

  it('does not come of a password, which is not requested again', async () => {
    const { client, asked } = await openThenRefuse({ type: 'basic' }, 'svc.error.unauthorized')
    await echoes(client)
    expect(asked.count).toBe(1)
  })

  it('with 1001 at a drain, and none is opened then', async () => {
    await gateway.load(api())
    const client = await send(handshake())
    const closing = gateway.relays.closeAll()
    await closedFrames(client, 1001)
    expect((await send(handshake())).status()).toBe(503)
    client.socket.end()
    await closing
  })

  it('behind a frame that is under way, never within it', async () => {
    await playUpstream((head, socket) => socket.write(switching(head)))
    await serve({ relayLimits: { ...CHECKS, lingerMs: 60_000 } })
    await gateway.load(api())
    const client = await send(handshake())
    const whole = frame('x'.repeat(100))
    upstream.sockets[0]?.write(whole.subarray(0, 50))
    await eventually(() => {
      expect(client.bytes()).toHaveLength(50)
    })
    await gateway.remove('api')
    await eventually(() => {
      expect(upstream.bytes[0]?.[0]).toBe(0x88)
    })
    upstream.sockets[0]?.write(whole.subarray(50))
    await closedFrames(client, 1001)
    expect(client.bytes().subarray(0, whole.length)).toEqual(whole)
    client.socket.destroy()
    upstream.sockets[0]?.destroy()
  })

  it('after a time without a byte', async () => {
    await serve({ relayLimits: { ...CHECKS, idleMs: 10 } })
    await gateway.load(api())
    const client = await send(handshake())
    await closedFrames(client, 1001)
    expect(client.status()).toBe(101)
  })

  it.each<[string, () => void]>([
    ['ends', () => upstream.sockets[0]?.end()],
    ['resets', () => upstream.sockets[0]?.resetAndDestroy()],
  ])('of the upstream, which %s, is that of the client', async (_, leave) => {
    await playUpstream((head, socket) => socket.write(switching(head)))
    await gateway.load(api())
    const client = await send(handshake())
    leave()
    await closed(client)
    await eventually(async () => {
      expect([gateway.relays.size, await gateway.connections()]).toEqual([0, 0])
    })
    expect(gateway.unexpected).toEqual([])
  })

  it.each<[string, (socket: Socket) => void]>([
    ['ends', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ])('of the client, which %s, is that of the upstream', async (_, leave) => {
    await playUpstream((head, socket) => socket.write(switching(head)))
    await gateway.load(api())
    const client = await send(handshake())
    leave(client.socket)
    await eventually(async () => {
      expect(upstream.sockets[0]?.readableEnded === true || upstream.sockets[0]?.destroyed).toBe(
        true,
      )
      expect([gateway.relays.size, await gateway.connections()]).toEqual([0, 0])
    })
  })

  it.each<[string, (socket: Socket) => void]>([
    ['ends', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ])('of a client that %s before the 101 ends the handshake', async (_, leave) => {
    await playUpstream(() => undefined)
    await gateway.load(api())
    const socket = createConnection(gateway.address)
    clients.push(socket)
    socket.on('error', () => undefined)
    socket.write(handshake())
    await eventually(() => {
      expect(upstream.heads).toHaveLength(1)
    })
    leave(socket)
    await eventually(async () => {
      expect(upstream.sockets[0]?.readableEnded === true || upstream.sockets[0]?.destroyed).toBe(
        true,
      )
      expect(await gateway.connections()).toBe(0)
    })
    expect([gateway.statuses, gateway.inFlight.count]).toEqual([[499], 0])
  })

  it('of a handshake that takes too long is a timeout', async () => {
    await playUpstream(() => undefined)
    await gateway.load(api({}, {}, { timeout: 20 }))
    expect((await send(handshake())).status()).toBe(504)
    expect(gateway.failures[0]?.code).toBe('svc.error.timeout')
  })
})

describe('how many', () => {
  it.each<[string, { maxRelays: number; realmShare?: number; clientShare?: number }, number]>([
    ['in all', { maxRelays: 2 }, 2],
    ['of a realm', { maxRelays: 4, realmShare: 0.5, clientShare: 1 }, 2],
    ['of a client', { maxRelays: 4, realmShare: 1, clientShare: 0.25 }, 1],
  ])('%s', async (_, relayLimits, most) => {
    await serve({ relayLimits: { clientShare: 1, realmShare: 1, ...relayLimits } })
    await gateway.load(api())
    const open: Client[] = []
    for (let count = 0; count < most; count++) open.push(await send(handshake()))
    expect(open.map((each) => each.status())).toEqual(open.map(() => 101))
    const refusedOne = await send(handshake())
    expect([refusedOne.status(), upstream.heads.length]).toEqual([503, most])
    for (const { socket } of open) socket.destroy()
    await eventually(() => {
      expect(gateway.relays.size).toBe(0)
    })
    expect((await send(handshake())).status()).toBe(101)
  })

  it('another client still may', async () => {
    await serve({ relayLimits: { maxRelays: 4, realmShare: 1, clientShare: 0.25 } })
    await gateway.load(api())
    expect((await send(handshake())).status()).toBe(101)
    expect((await send(handshake())).status()).toBe(503)
    expect((await send(handshake(), '127.0.0.2')).status()).toBe(101)
  })

  it('a handshake that is refused by the upstream counts no more', async () => {
    await serve({ relayLimits: { maxRelays: 1, realmShare: 1, clientShare: 1 } })
    await playUpstream((_, socket) => socket.write('HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n'))
    await gateway.load(api())
    for (let count = 0; count < 3; count++) {
      const client = await send(handshake())
      expect(client.status()).toBe(403)
      await closed(client)
      await eventually(async () => {
        expect(await gateway.connections()).toBe(0)
      })
    }
  })

  it('an upstream that takes nothing stops its client', async () => {
    await playUpstream((head, socket) => {
      socket.write(switching(head))
      socket.pause()
    })
    await gateway.load(api())
    const client = await send(handshake())
    const chunk = frame(Buffer.alloc(1 << 20), { isMasked: true })
    let sent = 0
    while (client.socket.write(chunk) || client.socket.writableLength < 1 << 20) {
      sent += chunk.length
      if (sent > 256 << 20) break
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(sent).toBeLessThan(64 << 20)
    expect(client.socket.writableLength).toBeGreaterThan(0)
  })
})

/** RFC 6455 §5.2: whatever one can say, right or wrong. */
const CORPUS: readonly (readonly [string, Buffer])[] = [
  ...Array.from({ length: 16 }, (_, opcode) => opcode)
    .filter((opcode) => opcode !== 8)
    .map((opcode): [string, Buffer] => [
      `opcode ${opcode}`,
      frame('abc', { opcode, isMasked: true }),
    ]),
  ...[0, 1, 125, 126, 127, 65_535, 65_536, 200_000].map((length): [string, Buffer] => [
    `${length} bytes`,
    frame(Buffer.alloc(length, 7), { isMasked: true }),
  ]),
  ...[1, 2, 3, 4, 5, 6, 7].map((reserved): [string, Buffer] => [
    `reserved bits ${reserved}`,
    frame('abc', { reserved, isMasked: true }),
  ]),
  [
    'fragments with a ping between',
    Buffer.concat([
      frame('a', { opcode: 1, isFinal: false, isMasked: true }),
      frame('p', { opcode: 9, isMasked: true }),
      frame('b', { opcode: 0, isFinal: false, isMasked: true }),
      frame('c', { opcode: 0, isMasked: true }),
    ]),
  ],
  [
    'fragments out of order',
    Buffer.concat([
      frame('a', { opcode: 0, isMasked: true }),
      frame('b', { opcode: 1, isFinal: false, isMasked: true }),
      frame('c', { opcode: 1, isMasked: true }),
    ]),
  ],
  ['a control frame in fragments', frame('p', { opcode: 9, isFinal: false, isMasked: true })],
  ['a long control frame', frame(Buffer.alloc(300), { opcode: 9, isMasked: true })],
  ['no mask', frame('abc', { opcode: 1 })],
  ['no UTF-8', frame(Buffer.from([0xff, 0xfe]), { opcode: 1, isMasked: true })],
  ...[
    0, 999, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1015, 2999,
    3000, 3999, 4000, 4999, 65_535,
  ].map((code): [string, Buffer] => [`close ${code}`, close(code, { isMasked: true })]),
  ['close without a code', frame('', { opcode: 8, isMasked: true })],
  ['close with half a code', frame('a', { opcode: 8, isMasked: true })],
]

it('bytes pass both ways as they are, whatever frame they make', async () => {
  await gateway.load(api())
  const changed = await Promise.all(
    CORPUS.map(async ([name, bytes], number) => {
      const client = await send(handshake({ 'X-Number': String(number) }))
      const at = upstream.heads.findIndex((head) => head.includes(`x-number: ${number}\r\n`))
      // In two pieces, of which the first ends within the header.
      client.socket.write(bytes.subarray(0, 1))
      await new Promise((resolve) => setImmediate(resolve))
      client.socket.write(bytes.subarray(1))
      await eventually(() => {
        expect(client.bytes().length).toBe(bytes.length)
      })
      const isSame = upstream.bytes[at]?.equals(bytes) === true && client.bytes().equals(bytes)
      return isSame ? [] : [name]
    }),
  )
  expect(changed.flat()).toEqual([])
})
