// Peers that take one connection after the other on loopback and send what they are told, by WebSocket and by
// RawSocket: for what no real router does on demand. They know nothing of WAMP but its framing.

import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { WebSocketServer, type WebSocket } from 'ws'
import {
  FrameBatch,
  FrameReader,
  FRAME,
} from '../../../dataplane/wamp/transport/rawsocket-frames.ts'
import { SERIALIZERS } from '../../../dataplane/wamp/transport/serializers/by-name.ts'
import type { Serializer } from '../../../dataplane/wamp/transport/serializers/serializer.ts'
import type { SerializerName, WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import type { Certificate } from '../../support/certificates.ts'

export interface FakeRouterOptions {
  /** What it takes, whatever is offered; all when absent. */
  readonly serializers?: readonly SerializerName[]
  readonly tls?: Certificate
  /** RawSocket: a unix socket instead of a port. */
  readonly path?: string
  /** RawSocket: the upper half of its response's second byte; 15, that is 16 MiB, when absent. */
  readonly lengthNibble?: number
  /** Sends all that it receives back. */
  readonly isEcho?: boolean
}

export interface FakeRouter extends AsyncDisposable {
  readonly url: string
  readonly received: WampMessage[]
  /** Serializers that were offered, connection by connection. */
  readonly offers: SerializerName[][]
  /** Reads of the last connection that brought something. */
  readonly reads: number
  readonly connections: number
  /** As one message of the last connection. */
  sendPayload(payload: Uint8Array): void
  send(message: WampMessage): void
  /** The socket of the last connection. */
  readonly socket: Socket
}

const NAMES = Object.keys(SERIALIZERS) as SerializerName[]

/** What both have: the last connection's socket, and how to end. */
class Books {
  readonly received: WampMessage[] = []
  readonly offers: SerializerName[][] = []
  readonly #sockets = new Set<Socket>()
  last: Socket | undefined
  reads = 0
  serializer: Serializer = SERIALIZERS.json

  take(socket: Socket): void {
    this.last = socket
    this.reads = 0
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('data', () => this.reads++)
  }

  get socket(): Socket {
    if (this.last === undefined) throw new Error('no client is connected')
    return this.last
  }

  get connections(): number {
    return this.#sockets.size
  }

  end(server: Server): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    return new Promise((resolve) => {
      server.close(() => {
        resolve()
      })
    })
  }
}

const listen = (server: Server, at: string | undefined): Promise<number> =>
  new Promise((resolve) => {
    const listening = () => {
      resolve(at === undefined ? (server.address() as AddressInfo).port : 0)
    }
    if (at === undefined) server.listen(0, '127.0.0.1', listening)
    else server.listen(at, listening)
  })

export const startWebSocketRouter = async (
  options: FakeRouterOptions = {},
): Promise<
  FakeRouter & { readonly webSocket: WebSocket; readonly authorization: string | undefined }
> => {
  const taken = options.serializers ?? NAMES
  const books = new Books()
  const server = options.tls ? createHttpsServer(options.tls) : createHttpServer()
  let webSocket: WebSocket | undefined
  let authorization: string | undefined
  const webSockets = new WebSocketServer({
    server,
    handleProtocols: (offered) => {
      const names = [...offered].map((text) => text.split('.')[2] as SerializerName)
      books.offers.push(names)
      const name = names.find((each) => taken.includes(each))
      return name === undefined ? false : `wamp.2.${name}`
    },
  })
  webSockets.on('connection', (connection, request) => {
    webSocket = connection
    authorization = request.headers.authorization
    books.take(request.socket)
    const serializer = SERIALIZERS[connection.protocol.split('.')[2] as SerializerName]
    books.serializer = serializer
    connection.on('error', () => undefined)
    connection.on('message', (data: Buffer, isBinary) => {
      books.received.push(serializer.decode(data))
      if (options.isEcho) connection.send(data, { binary: isBinary })
    })
  })
  const port = await listen(server, undefined)
  const sendPayload = (payload: Uint8Array): void => {
    webSocket?.send(payload, { binary: !books.serializer.isText })
  }
  return {
    url: `${options.tls ? 'wss' : 'ws'}://127.0.0.1:${port}/ws`,
    received: books.received,
    offers: books.offers,
    get reads() {
      return books.reads
    },
    get connections() {
      return books.connections
    },
    get socket() {
      return books.socket
    },
    get authorization() {
      return authorization
    },
    get webSocket() {
      if (webSocket === undefined) throw new Error('no client is connected')
      return webSocket
    },
    send: (message) => {
      sendPayload(Buffer.from(books.serializer.encode(message) as string))
    },
    sendPayload,
    [Symbol.asyncDispose]: async () => {
      webSockets.close()
      await books.end(server)
    },
  }
}

export const frameOf = (type: number, payload: Uint8Array): Buffer => {
  const batch = new FrameBatch()
  batch.add(type as 0, payload, payload.length)
  return batch.take()
}

export const startRawSocketRouter = async (
  options: FakeRouterOptions = {},
): Promise<FakeRouter & { readonly pings: string[]; readonly pongs: string[] }> => {
  const taken = options.serializers ?? NAMES
  const books = new Books()
  const pings: string[] = []
  const pongs: string[] = []

  const talk = (socket: Socket): void => {
    books.take(socket)
    const reader = new FrameReader(2 ** 24, (type, payload) => {
      if (type === FRAME.ping) pings.push(payload.toString())
      if (type === FRAME.pong) pongs.push(payload.toString())
      if (type !== FRAME.message) return
      books.received.push(books.serializer.decode(payload))
      if (options.isEcho) socket.write(frameOf(FRAME.message, payload))
    })
    let isGreeted = false
    socket.on('data', (chunk) => {
      if (isGreeted) {
        reader.push(chunk)
        return
      }
      isGreeted = true
      const id = chunk.readUInt8(1) & 0x0f
      const serializer = NAMES.map((name) => SERIALIZERS[name]).find(
        ({ rawSocketId }) => rawSocketId === id,
      )
      if (chunk[0] !== 0x7f || serializer === undefined) {
        socket.destroy()
        return
      }
      books.offers.push([serializer.name])
      if (!taken.includes(serializer.name)) {
        socket.end(Buffer.of(0x7f, 0x10, 0, 0))
        return
      }
      books.serializer = serializer
      socket.write(Buffer.of(0x7f, ((options.lengthNibble ?? 15) << 4) | id, 0, 0))
      if (chunk.length > 4) reader.push(chunk.subarray(4))
    })
  }

  const server = options.tls ? createTlsServer(options.tls, talk) : createServer(talk)
  const port = await listen(server, options.path)
  const sendPayload = (payload: Uint8Array): void => {
    books.socket.write(frameOf(FRAME.message, payload))
  }
  const address = options.path ? `rs+unix:${options.path}` : `rs://127.0.0.1:${port}`
  return {
    url: options.tls ? `rss://127.0.0.1:${port}` : address,
    received: books.received,
    offers: books.offers,
    pings,
    pongs,
    get reads() {
      return books.reads
    },
    get connections() {
      return books.connections
    },
    get socket() {
      return books.socket
    },
    send: (message) => {
      sendPayload(Buffer.from(books.serializer.encode(message) as string))
    },
    sendPayload,
    [Symbol.asyncDispose]: () => books.end(server),
  }
}
