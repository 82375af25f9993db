// Clients and upstreams that abuse WebSockets through a forward of a whole gateway: nothing passes before a proven 101, no
// request is smuggled behind another answer, and whoever stops reading costs what a socket costs, until it goes.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { load, REALM } from '../component/gateway-client.ts'
import {
  type RawUpstream,
  startRawUpstream,
  switching,
} from '../dataplane/http/upgrade/raw-upstream.ts'
import { frame } from '../dataplane/wamp/frames.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'

const HANDSHAKE =
  'GET /ws2/chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
const PLAIN = 'GET /ws2/chat HTTP/1.1\r\nHost: a\r\n\r\n'
const SMUGGLED = 'GET /ws2/secret HTTP/1.1\r\nHost: a\r\n\r\n'
const HELLO = frame('hello', { isMasked: true })

type Play = (head: string, socket: Socket) => void

const accept: Play = (head, socket) => socket.write(switching(head))
const echo: Play = (head, socket) => {
  accept(head, socket)
  socket.pipe(socket)
}

let gateway: GatewayProcess
let upstream: RawUpstream
let play: Play = echo
const sockets: Socket[] = []

beforeAll(async () => {
  upstream = await startRawUpstream((head, socket) => {
    play(head, socket)
  })
  gateway = await startGateway()
  await load(gateway, {
    id: 'ws2',
    host: '_',
    realm_uri: REALM,
    versions: {
      v1: {
        base_path: '/ws2',
        paths: {
          '/chat': {
            get: { action: { type: 'forward', host: upstream.host, upgrade: ['websocket'] } },
          },
          '/secret': { get: { action: { type: 'static', body: 'secret' }, response: {} } },
        },
      },
    },
  })
})

beforeEach(() => {
  play = echo
  upstream.heads.length = 0
  upstream.bytes.length = 0
  upstream.sockets.length = 0
})

/** Nothing of a test is left in the gateway. */
afterEach(async () => {
  for (const socket of [...sockets.splice(0), ...upstream.sockets]) socket.destroy()
  await eventually(async () => {
    if ((await webSockets()) + (await connections()) > 0) throw new Error('connections are open')
  })
})

afterAll(async () => {
  await upstream[Symbol.asyncDispose]()
  await gateway.stop()
})

const metric = async (series: string): Promise<number> => {
  const { text } = await request(`${gateway.management}/metrics`)
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return Number(line?.split(' ')[1])
}

const webSockets = (): Promise<number> => metric('svc_gateway_websockets')
const connections = (): Promise<number> => metric('svc_gateway_connections{listener="public"}')

interface Client {
  readonly socket: Socket
  readonly text: () => string
}

const open = async (sent: string | Buffer): Promise<Client> => {
  const { hostname, port } = new URL(gateway.public)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  sockets.push(socket)
  let text = ''
  socket
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
    })
  await once(socket, 'connect')
  socket.write(sent)
  return { socket, text: () => text }
}

const holds = ({ text }: Client, part: string): Promise<void> =>
  eventually(() => {
    expect(text()).toContain(part)
  })

const ended = ({ socket }: Client): Promise<void> =>
  eventually(() => {
    expect(socket.readableEnded || socket.destroyed).toBe(true)
  })

const statusesOf = ({ text }: Client): readonly string[] =>
  Array.from(text().matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status = '']) => status)

const behindIt = (): number =>
  upstream.bytes.map((bytes) => bytes.length).reduce((sum, length) => sum + length, 0)

describe('a false answer of the upstream', () => {
  it.each<[string, string, Play]>([
    [
      'a 101 of another key',
      '504',
      (head, socket) => {
        socket.write(switching(head, { 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOp=' }))
      },
    ],
    [
      'a 101 that announces a body',
      '504',
      (head, socket) => {
        socket.write(`${switching(head, { 'content-length': String(SMUGGLED.length) })}${SMUGGLED}`)
      },
    ],
    [
      'a 101 to h2c',
      '504',
      (head, socket) => {
        socket.write(switching(head, { upgrade: 'h2c' }))
      },
    ],
    [
      'a 101 behind an interim 101',
      '504',
      (head, socket) => {
        socket.write(`HTTP/1.1 101 S\r\nUpgrade: websocket\r\n\r\n${switching(head)}`)
      },
    ],
    [
      'a 101 behind a final response',
      '200',
      (head, socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${switching(head)}`)
      },
    ],
    [
      'a 426 and bytes behind it',
      '426',
      (_, socket) => {
        const smuggled = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled'
        socket.write(
          `HTTP/1.1 426 No\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n${smuggled}`,
        )
      },
    ],
    [
      'a 426 that pretends to switch',
      '426',
      (head, socket) => {
        socket.write(
          `${switching(head).replace('101', '426').slice(0, -2)}Content-Length: 0\r\n\r\n`,
        )
      },
    ],
  ])(
    '%s opens nothing, and what the client sent behind ends with it',
    async (_, status, answer) => {
      play = answer
      const client = await open(HANDSHAKE + SMUGGLED)
      await ended(client)
      expect(statusesOf(client)).toEqual([status])
      expect(client.text()).not.toMatch(/secret|smuggled/)
      expect([upstream.heads.length, behindIt()]).toEqual([1, 0])
      // Its connection serves nothing else.
      play = (__, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext')
      const next = await open(PLAIN)
      await holds(next, 'next')
      expect([upstream.sockets.length, statusesOf(next).join()]).toEqual([2, '200'])
    },
  )

  it('a right 101 to a plain GET is no switch', async () => {
    play = (_, socket) =>
      socket.write(switching('\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n'))
    const client = await open(PLAIN)
    await holds(client, '\r\n\r\n')
    expect(statusesOf(client)).toEqual(['504'])
    expect(upstream.heads.join('')).not.toMatch(/^(upgrade|sec-websocket-.*):/im)
  })

  it('a second 101 is bytes of the WebSocket', async () => {
    play = (head, socket) => {
      socket.write(switching(head) + switching(head))
    }
    const client = await open(HANDSHAKE)
    await eventually(() => {
      expect(statusesOf(client)).toEqual(['101', '101'])
    })
    expect(await webSockets()).toBe(1)
  })
})

describe('a half-closed socket', () => {
  it('of the client is ended at both ends, with all that was sent before', async () => {
    play = accept
    const client = await open(HANDSHAKE)
    await holds(client, ' 101 ')
    client.socket.end(HELLO)
    await eventually(() => {
      expect(upstream.bytes[0]).toEqual(HELLO)
      expect(upstream.sockets[0]?.readableEnded).toBe(true)
    })
    // The upstream never ends its half.
    await ended(client)
  })

  it('of the upstream likewise', async () => {
    play = accept
    const client = await open(HANDSHAKE)
    await holds(client, ' 101 ')
    upstream.sockets[0]?.end(frame('bye'))
    await holds(client, 'bye')
    await ended(client)
    await eventually(() => {
      expect(upstream.sockets[0]?.destroyed).toBe(true)
    })
  })

  it('of a client before the 101 opens nothing', async () => {
    play = () => undefined
    const client = await open(HANDSHAKE)
    await eventually(() => {
      expect(upstream.heads).toHaveLength(1)
    })
    client.socket.end()
    await eventually(() => {
      expect(upstream.sockets[0]?.readableEnded).toBe(true)
    })
    await ended(client)
  })
})

it('200 sockets of which no end reads stop their senders, delay no other, and are closed whole', async () => {
  // Of most no more than the kernel keeps for them; of the last few far more.
  const few = frame(Buffer.alloc(100_000))
  const many = frame(Buffer.alloc(64 << 20))
  let number = 0
  play = (head, socket) => {
    accept(head, socket)
    socket.pause()
    socket.write(number++ < 197 ? few : many)
  }
  const stalled: Client[] = []
  for (let count = 0; count < 200; count++) {
    const client = await open(HANDSHAKE)
    stalled.push(client)
    await holds(client, ' 101 ')
    client.socket.pause()
    client.socket.write(count < 197 ? few : many)
  }
  expect(await webSockets()).toBe(200)
  const senders = [
    ...stalled.slice(197).map(({ socket }) => socket),
    ...upstream.sockets.slice(197),
  ]
  // More than the kernel and the gateway together keep waits at the sender.
  expect(senders.map(({ writableLength }) => writableLength > 1 << 20)).toEqual(
    senders.map(() => true),
  )
  play = echo
  const other = await open(Buffer.concat([Buffer.from(HANDSHAKE), HELLO]))
  await holds(other, HELLO.toString('latin1'))
  expect((await request(`${gateway.public}/ws2/secret`)).status).toBe(200)
  for (const { socket } of stalled) socket.destroy()
  await eventually(async () => {
    expect(await webSockets()).toBe(1)
  })
}, 60_000)
