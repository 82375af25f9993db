// Connections for tests of the WebSocket relay: a router that is a `ws` server or a plain socket that says what a
// test wants, a front where clients that are past their handshake come in, and clients of raw bytes.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { RelayHandshake } from '../../../../dataplane/wamp/relay/handshake.ts'
import type { Relays } from '../../../../dataplane/wamp/relay/relays.ts'
import { frame } from '../frames.ts'

export const HANDSHAKE = { key: 'dGhlIHNhbXBsZSBub25jZQ==', protocols: ['wamp.2.json'] } as const
export const REALM = 'com.acme'
export const PLACE = { realmUri: REALM, from: undefined, whyOver: (): undefined => undefined }

/** A HELLO that a client may send, as text; a router would ignore the last element. */
export const helloText = (word: string): string => `[1,"${REALM}",{},"${word}"]`

/** As a client sends it. */
export const hello = (word: string): Buffer => frame(helloText(word), { opcode: 1, isMasked: true })

/** As `startTestRouter` sends it back. */
export const echoed = (word: string): Buffer => frame(helloText(word), { opcode: 1 })

/** RFC 6455 §1.3. */
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

export interface TestRouter extends AsyncDisposable {
  readonly url: string
  readonly connections: ReadonlySet<WebSocket>
  /** Heads of the handshakes that it got, names in lower case. */
  readonly heads: readonly Readonly<Record<string, string | string[] | undefined>>[]
}

/** Speaks `wamp.2.json`, offers compression, and echoes unless a test sets something else. */
export const startTestRouter = async (
  onMessage = (socket: WebSocket, data: RawData, isBinary: boolean): void => {
    socket.send(data, { binary: isBinary })
  },
): Promise<TestRouter> => {
  const heads: TestRouter['heads'][number][] = []
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    perMessageDeflate: true,
    handleProtocols: (offered) => (offered.has('wamp.2.json') ? 'wamp.2.json' : false),
  })
  server.on('connection', (socket, request) => {
    heads.push({ ...request.headers, url: request.url })
    socket.on('error', () => undefined)
    socket.on('message', (data, isBinary) => {
      onMessage(socket, data, isBinary)
    })
  })
  await once(server, 'listening')
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/realm?x=1`,
    connections: server.clients,
    heads,
    [Symbol.asyncDispose]: async () => {
      for (const socket of server.clients) socket.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}

export interface SocketServer extends AsyncDisposable {
  readonly port: number
  readonly sockets: ReadonlySet<Socket>
}

const listen = async (
  allowHalfOpen: boolean,
  onSocket: (socket: Socket) => void,
): Promise<SocketServer> => {
  const sockets = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen, noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

export interface RawRouter extends SocketServer {
  readonly url: string
}

export const responseText = (more: Readonly<Record<string, string | undefined>> = {}): string => {
  const headers: Readonly<Record<string, string | undefined>> = {
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Accept': ACCEPT,
    'Sec-WebSocket-Protocol': 'wamp.2.json',
    ...more,
  }
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  )
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`
}

/** Answers each handshake with `answer`, then leaves the socket to `onOpen`. */
export const startRawRouter = async (
  response = responseText(),
  onOpen: (socket: Socket) => void = () => undefined,
): Promise<RawRouter> => {
  const server = await listen(false, (socket) => {
    let head = ''
    const onData = (chunk: Buffer): void => {
      head += chunk.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      socket.removeListener('data', onData).resume()
      const key = /^sec-websocket-key: (.*)$/im.exec(head)?.[1]?.trim() ?? ''
      const accept = createHash('sha1')
        .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64')
      socket.write(response.replace(ACCEPT, accept), 'latin1')
      onOpen(socket)
    }
    socket.on('data', onData)
  })
  return Object.assign(server, { url: `ws://127.0.0.1:${server.port}/` })
}

export interface Front extends SocketServer {
  /** What became of opening, in order: `open`, or a code. */
  readonly outcomes: string[]
}

/** Every connection is a client whose handshake has been read; `head` came with it. */
export const startFront = async (
  relays: Relays,
  head: Buffer = Buffer.alloc(0),
  handshake: RelayHandshake = HANDSHAKE,
): Promise<Front> => {
  const outcomes: string[] = []
  // As a server of node:http has it.
  const server = await listen(true, (socket) => {
    const gone = new AbortController()
    socket.once('close', () => {
      gone.abort()
    })
    relays.open(PLACE, handshake, gone.signal).then(
      (opened) => {
        outcomes.push('open')
        opened.start(socket, head)
      },
      (error: unknown) => {
        outcomes.push((error as { code?: string }).code ?? String(error))
        socket.destroy()
      },
    )
  })
  return Object.assign(server, { outcomes })
}

export interface FrameClient extends AsyncDisposable {
  readonly socket: Socket
  /** All that has come so far. */
  readonly received: () => Buffer
  readonly hasEnded: () => boolean
  readonly isClosed: () => boolean
}

export const openClient = async (port: number): Promise<FrameClient> => {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true })
  const chunks: Buffer[] = []
  let ended = false
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('end', () => {
    ended = true
  })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return {
    socket,
    received: () => Buffer.concat(chunks),
    hasEnded: () => ended,
    isClosed: () => socket.destroyed,
    [Symbol.asyncDispose]: async () => {
      socket.destroy()
      await Promise.resolve()
    },
  }
}
