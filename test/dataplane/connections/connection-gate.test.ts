// Real servers behind a gate: what balancers send before the first byte of HTTP or TLS, and who is closed.

import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import {
  type ConnectionGateOptions,
  createConnectionGate,
} from '../../../dataplane/connections/connection-gate.ts'
import { createPlainServer, createSecureServer } from '../../../dataplane/listen/http-server.ts'
import { type Listener, openListener } from '../../../dataplane/listen/listener.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { isAddressRead } from '../../../dataplane/client-address.ts'
import { createClientReader } from '../../../dataplane/http/request/forwarded.ts'
import { binaryHeader, proxyBinary, proxyLine } from '../../support/proxy-header.ts'
import { stopTimers } from '../stop-timers.ts'

stopTimers()

const LIMITS = {
  maxHeaderBytes: 16_384,
  headersTimeoutSeconds: 10,
  requestTimeoutSeconds: 0,
  keepAliveSeconds: 60,
}
const BALANCER = '127.0.0.1'
const ELSEWHERE = '127.0.0.2'

const authority = createCertificateAuthority('authority')
const servers: Server[] = []
const sockets: Socket[] = []
const refused: string[] = []
const faults: string[] = []
let answered = 0

afterEach(async () => {
  refused.length = 0
  faults.length = 0
  answered = 0
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) {
    const ended = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await ended
  }
})

/** Says who is connected and what they have sent. */
const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const { remoteAddress, remotePort, remoteFamily } = request.socket
  void text(request).then((body) => {
    answered++
    response.end(JSON.stringify([remoteAddress, remotePort, remoteFamily, body]))
  })
}

type Kind = 'plain' | 'TLS'

const serve = async (
  kind: Kind,
  options: Partial<ConnectionGateOptions> = {},
  onRequest = answer,
): Promise<{ server: Server; port: number; listener: Listener }> => {
  const gate = createConnectionGate({
    max: 100,
    trustedProxies: [],
    proxyProtocol: [BALANCER],
    headerTimeoutMs: 5000,
    onRefused: (reason) => refused.push(reason),
    onBadHeader: (balancer, message) => faults.push(`${balancer}: ${message}`),
    ...options,
  })
  const handlers = {
    onRequest,
    onUpgrade: ({ url, socket: { remoteAddress } }: IncomingMessage, socket: Duplex) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n\r\n${String(remoteAddress)}`)
      if (url !== '/stay') socket.end()
      socket.on('error', () => undefined).on('end', () => socket.end())
      socket.resume()
    },
  }
  const limits = { ...LIMITS, gate }
  const server =
    kind === 'plain'
      ? createPlainServer(limits, handlers)
      : createSecureServer(limits, handlers, authority.issue('gateway.test'))
  servers.push(server)
  const listener = await openListener(server, 'http', {
    setting: 'public',
    address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
    socketMode: 0o660,
    keepSocketFile: false,
  })
  return { server, port: (server.address() as AddressInfo).port, listener }
}

const open = async (port: number, localAddress = BALANCER): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
  socket.on('error', () => undefined)
  sockets.push(socket)
  await once(socket, 'connect')
  return socket
}

/** Also by a reset. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.resume().once('close', () => {
      resolve()
    })
  })

/** How the bytes of a balancer arrive: its header, and then those of the client. */
type Sending = 'in one piece' | 'header first' | 'byte by byte'

/** What a client of the balancer speaks on: what it writes first goes out behind the header. */
const throughBalancer = (socket: Socket, header: Buffer, sending: Sending): Duplex => {
  let isFirst = true
  const write = async (chunk: Buffer): Promise<void> => {
    const bytes = isFirst && sending !== 'header first' ? Buffer.concat([header, chunk]) : chunk
    const pieces = isFirst && sending === 'byte by byte' ? [...bytes].map(toByte) : [bytes]
    isFirst = false
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve))
  }
  if (sending === 'header first') socket.write(header)
  const duplex = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) =>
      void write(chunk).then(() => {
        done()
      }),
    final: (done) => socket.end(done),
  })
  socket.on('data', (chunk: Buffer) => duplex.push(chunk))
  socket.on('close', () => duplex.push(null))
  return duplex
}

const toByte = (byte: number): Buffer => Buffer.from([byte])

const KEPT = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

const upgrade = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`

const POST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello'

/** All that comes back. */
const ask = async (
  kind: Kind,
  port: number,
  { header, sending = 'in one piece' }: { header: Buffer; sending?: Sending },
  request = POST,
): Promise<string> => {
  const client = throughBalancer(await open(port), header, sending)
  if (kind === 'plain') {
    client.write(request)
    return text(client)
  }
  const secure = connectTls({ socket: client, ca: authority.cert, servername: 'gateway.test' })
  secure.write(request)
  return text(secure)
}

const bodyOf = (response: string): unknown => JSON.parse(response.split('\r\n\r\n')[1] ?? '')

const KINDS: readonly Kind[] = ['plain', 'TLS']
const SENDINGS: readonly Sending[] = ['in one piece', 'header first', 'byte by byte']

describe.each(KINDS)('PROXY protocol, %s', (kind) => {
  it.each(SENDINGS)('both versions tell the address of the client, %s', async (sending) => {
    const { port } = await serve(kind)
    const tlvs = Buffer.alloc(1000, 3)
    const rows = [
      [proxyLine('192.0.2.1', 56_324), ['192.0.2.1', 56_324, 'IPv4', 'hello']],
      [proxyLine('2001:db8::1', 1), ['2001:db8::1', 1, 'IPv6', 'hello']],
      [proxyBinary('192.0.2.2', 65_535, tlvs), ['192.0.2.2', 65_535, 'IPv4', 'hello']],
    ] as const
    for (const [header, expected] of rows)
      expect(bodyOf(await ask(kind, port, { header, sending }))).toEqual(expected)
    expect([refused, faults]).toEqual([[], []])
  })

  const UNNAMED: readonly (readonly [string, Buffer])[] = [
    ['LOCAL', binaryHeader({ command: 0x20, family: 0 })],
    ['UNKNOWN', Buffer.from('PROXY UNKNOWN\r\n')],
    ['a Unix socket', binaryHeader({ family: 0x31, payload: Buffer.alloc(216) })],
  ]

  it.each(UNNAMED)('%s leaves the address of the balancer', async (_, header) => {
    const { port } = await serve(kind)
    expect(bodyOf(await ask(kind, port, { header }))).toContain(BALANCER)
  })

  it.each([
    ...UNNAMED.map(([name, header]) => [name, header, false] as const),
    ['an address', proxyLine('192.0.2.1'), true] as const,
  ])('%s names the client, whatever a trusted balancer forwards', async (_, header, expected) => {
    const readClient = createClientReader([BALANCER, '192.0.2.1'])
    const { port } = await serve(kind, {}, (request, response) => {
      request.headers['x-forwarded-for'] = '198.51.100.1'
      const clients = [undefined, readClient(request, 'http')]
      response.end(JSON.stringify(clients.map((client) => isAddressRead(request, client))))
    })
    expect(bodyOf(await ask(kind, port, { header }))).toEqual([expected, expected])
  })

  it('one header counts, another one behind it is no request', async () => {
    const { port } = await serve(kind)
    const header = proxyLine('192.0.2.1')
    const request = `${proxyLine('192.0.2.2').toString()}${POST}`
    expect(await ask(kind, port, { header }, request)).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('upgraded connections have the address too', async () => {
    const { port } = await serve(kind)
    const header = proxyLine('192.0.2.9')
    expect(await ask(kind, port, { header }, upgrade('/'))).toMatch(/192\.0\.2\.9$/)
  })
})

it.each(KINDS)('connections that have ended are not counted, %s', async (kind) => {
  const { server, port } = await serve(kind, { max: 2 })
  for (let each = 0; each < 5; each++) {
    expect(await ask(kind, port, { header: proxyLine('192.0.2.1') })).toMatch(/^HTTP\/1\.1 200 /)
    await eventually(async () => {
      expect(await connectionsOf(server)).toBe(0)
    })
  }
  expect(refused).toEqual([])
})

describe('a connection of a balancer', () => {
  it.each([
    ['without a header', POST, 'it does not begin with a PROXY header'],
    ['with a malformed one', `PROXY TCP4 a b 1 2\r\n${POST}`, 'version 1: an address is not TCP4'],
  ])('%s is closed without a response', async (_, sent, fault) => {
    const { port } = await serve('plain')
    const socket = await open(port)
    socket.write(sent)
    expect(await text(socket).catch(() => 'reset')).toMatch(/^(reset)?$/)
    expect([refused, faults]).toEqual([['proxy_header'], [`${BALANCER}: ${fault}`]])
  })

  it('that ends within its header is closed', async () => {
    const { port } = await serve('plain')
    const socket = await open(port)
    socket.end('PROXY TCP4')
    await closed(socket)
    expect([refused, faults]).toEqual([
      ['proxy_header'],
      [`${BALANCER}: the connection ended within the header`],
    ])
  })

  it('that ends without a byte is no failure', async () => {
    const { server, port } = await serve('plain')
    const socket = await open(port)
    socket.end()
    await closed(socket)
    await eventually(async () => {
      expect(await connectionsOf(server)).toBe(0)
    })
    expect([refused, faults]).toEqual([[], []])
  })

  it('has so long for its header, and not longer', async () => {
    const { server, port } = await serve('plain')
    const socket = await open(port)
    socket.write('PROXY TCP4')
    await eventually(async () => {
      expect(await connectionsOf(server)).toBe(1)
    })
    jest.advanceTimersByTime(4900)
    expect(refused).toEqual([])
    jest.advanceTimersByTime(1000)
    await closed(socket)
    expect([refused, faults]).toEqual([
      ['proxy_header'],
      [`${BALANCER}: the header did not arrive in time`],
    ])
  })

  it('ends with the server, also while its header has not come', async () => {
    const { server, port, listener } = await serve('plain')
    const socket = await open(port)
    await eventually(async () => {
      expect(await connectionsOf(server)).toBe(1)
    })
    servers.pop()
    const ended = closed(socket)
    server.close()
    listener.abort()
    await Promise.all([once(server, 'close'), ended])
    expect(refused).toEqual([])
  })

  it('waits for its next request like any other, and is closed as idle', async () => {
    const { server, port } = await serve('plain')
    const socket = await open(port)
    socket.write(Buffer.concat([proxyLine('192.0.2.1'), Buffer.from(KEPT)]))
    await once(socket, 'data')
    socket.write(KEPT)
    expect(String(await once(socket, 'data'))).toContain('192.0.2.1')
    const ended = closed(socket)
    await eventually(() => {
      server.closeIdleConnections()
      expect(socket.readableEnded).toBe(true)
    })
    await ended
  })
})

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.getConnections((_, count) => {
      resolve(count)
    })
  })

describe('a connection from elsewhere', () => {
  it.each([
    ['is served as it is', '', /^HTTP\/1\.1 200 [^]*"127\.0\.0\.2"/],
    ['may not say who it is', proxyLine('192.0.2.1').toString(), /^HTTP\/1\.1 400 /],
  ])('%s', async (_, header, expected) => {
    const { port } = await serve('plain')
    const socket = await open(port, ELSEWHERE)
    socket.write(`${header}${POST}`)
    expect(await text(socket)).toMatch(expected)
  })
})

describe('where all connections are in use', () => {
  const options = { max: 4, proxyProtocol: [], trustedProxies: [BALANCER] }

  const fill = async (port: number, sent: string): Promise<readonly Socket[]> => {
    const opened: Socket[] = []
    while (opened.length < 4) opened.push(await open(port))
    for (const socket of opened) socket.write(sent)
    return opened
  }

  const firstOf = ([first]: readonly Socket[]): Socket => {
    if (first === undefined) throw new Error('nothing was opened')
    return first
  }

  it.each([
    ['that has been answered', KEPT],
    ['that has sent nothing', ''],
    ['whose request is not complete', 'GET /'],
  ])('a new address gets the place of one %s', async (_, sent) => {
    const { server, port } = await serve('plain', options)
    const opened = await fill(port, sent)
    await eventually(async () => {
      expect([await connectionsOf(server), answered]).toEqual([4, sent === KEPT ? 4 : 0])
    })
    const ended = closed(firstOf(opened))
    const socket = await open(port, ELSEWHERE)
    socket.write(POST)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
    await ended
    expect(refused).toEqual(['made_room'])
  })

  it('a new address gets the place of one whose handshake is not complete', async () => {
    const { server, port } = await serve('TLS', options)
    const opened = await fill(port, '')
    await eventually(async () => {
      expect(await connectionsOf(server)).toBe(4)
    })
    const ended = closed(firstOf(opened))
    const socket = await open(port, ELSEWHERE)
    const secure = connectTls({ socket, ca: authority.cert, servername: 'gateway.test' })
    secure.write(POST)
    expect(await text(secure)).toMatch(/^HTTP\/1\.1 200 /)
    await ended
    expect(refused).toEqual(['made_room'])
  })

  it('those that are answered stay, and the new one is closed', async () => {
    const responses: ServerResponse[] = []
    const { port } = await serve('plain', options, (_, response) => responses.push(response))
    const opened = await fill(port, KEPT)
    await eventually(() => {
      expect(responses).toHaveLength(4)
    })
    const socket = await open(port, ELSEWHERE)
    expect(await text(socket).catch(() => 'reset')).toMatch(/^(reset)?$/)
    expect(refused).toEqual(['full'])
    const allReceived = Promise.all(opened.map((each) => once(each, 'data')))
    for (const response of responses) response.end()
    await allReceived
  })

  it('those that ask at the same moment stay, and the new one is closed', async () => {
    const responses: ServerResponse[] = []
    const { port } = await serve('plain', options, (_, response) => {
      if (responses.push(response) <= 4) response.end()
    })
    const opened = await fill(port, KEPT)
    await Promise.all(opened.map((each) => once(each, 'data')))
    const opening = open(port, ELSEWHERE)
    // The server hears of the new connection first: Node connects in the next tick.
    process.nextTick(() => {
      for (const socket of opened) socket.write(KEPT)
    })
    expect(await text(await opening).catch(() => 'reset')).toMatch(/^(reset)?$/)
    expect(refused).toEqual(['full'])
    await eventually(() => {
      expect(responses).toHaveLength(8)
    })
    const allReceived = Promise.all(opened.map((each) => once(each, 'data')))
    for (const response of responses.slice(4)) response.end()
    await allReceived
  })

  it('upgraded ones stay', async () => {
    const { port } = await serve('plain', options)
    const opened = await fill(port, upgrade('/stay'))
    await Promise.all(opened.map((each) => once(each, 'data')))
    const socket = await open(port, ELSEWHERE)
    expect(await text(socket).catch(() => 'reset')).toMatch(/^(reset)?$/)
    expect(refused).toEqual(['full'])
  })
})
