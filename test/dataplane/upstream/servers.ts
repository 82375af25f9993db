// Real upstreams on loopback for tests, well-behaved and not, and a sink that writes down what it hears.

import { createServer as createHttp, type RequestListener, type Server } from 'node:http'
import { createServer as createHttps } from 'node:https'
import {
  createServer as createTcp,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net'
import { createServer as createTls } from 'node:tls'
import type {
  Upstream,
  UpstreamCall,
  UpstreamError,
  UpstreamRequest,
  UpstreamSink,
} from '../../../dataplane/upstream/upstream.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'

export interface Listening {
  readonly origin: string
  readonly port: number
  /** Connections that were opened, all in all. */
  readonly opened: () => number
  readonly open: () => number
  close(): Promise<void>
}

/** Of a server that speaks TLS. */
export interface Secured {
  readonly key: string
  readonly cert: string
}

const listening = async (server: TcpServer | Server, protocol = 'http'): Promise<Listening> => {
  const sockets = new Set<Socket>()
  let opened = 0
  server.on('connection', (socket: Socket) => {
    opened++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `${protocol}://127.0.0.1:${port}`,
    port,
    opened: () => opened,
    open: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        for (const socket of sockets) socket.destroy()
      }),
  }
}

export const listenHttp = (listener: RequestListener, secured?: Secured): Promise<Listening> => {
  const options = { keepAliveTimeout: 60_000 }
  return secured === undefined
    ? listening(createHttp(options, listener))
    : listening(createHttps({ ...options, ...secured }, listener), 'https')
}

/** Speaks bytes: `onRequest` gets each chunk that a client sends. */
export const listenRaw = (
  onRequest: (socket: Socket, text: string) => void,
  secured?: Secured,
): Promise<Listening> => {
  const serve = (socket: Socket): void => {
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        onRequest(socket, chunk.toString('latin1'))
      })
  }
  return secured === undefined
    ? listening(createTcp(serve))
    : listening(serveTls(secured, serve), 'https')
}

/** Its sockets can be reset, as those of TCP can. */
const serveTls = (secured: Secured, serve: (socket: Socket) => void): TcpServer => {
  const raw = new Map<number | undefined, Socket>()
  return createTls({ ...secured, noDelay: true }, (socket) => {
    const under = raw.get(socket.remotePort)
    socket.resetAndDestroy = () => {
      under?.resetAndDestroy()
      return socket
    }
    serve(socket)
  }).on('connection', (socket: Socket) => {
    raw.set(socket.remotePort, socket)
  })
}

/** Of a port that nothing listens on, unless the test does. */
export const refusedOrigin = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`

interface Heard {
  status: number | undefined
  headers: readonly string[]
  body: string
  error: UpstreamError | undefined
  ended: boolean
}

export interface Asking extends Heard {
  readonly call: UpstreamCall
  /** Resolves at the end, however it comes. */
  readonly done: Promise<Heard>
}

export interface Ask extends Partial<Omit<UpstreamRequest, 'body'>> {
  readonly origin: string
  readonly body?: UpstreamRequest['body']
  /** Overrides of the sink. */
  readonly sink?: Partial<UpstreamSink>
}

export const ask = (upstream: Upstream, { sink, ...request }: Ask): Asking => {
  const heard: Heard = { status: undefined, headers: [], body: '', error: undefined, ended: false }
  let call: UpstreamCall = { abort: () => undefined, resume: () => undefined }
  const done = new Promise<Heard>((resolve) => {
    call = upstream.send(
      {
        method: 'GET',
        path: '/',
        headers: [],
        body: null,
        connectTimeoutMs: 5000,
        timeoutMs: 5000,
        isNamed: true,
        ...request,
      },
      {
        onHead(statusCode, headers) {
          heard.status = statusCode
          heard.headers = headers.map(String)
        },
        onData(chunk) {
          heard.body += chunk.toString('latin1')
          return true
        },
        onEnd() {
          heard.ended = true
          resolve(heard)
        },
        onError(error) {
          heard.error = error
          resolve(heard)
        },
        ...sink,
      },
    )
  })
  return Object.assign(heard, { call, done })
}

export const until = (condition: () => boolean, what: string): Promise<void> => {
  // Made once: what an error costs is the most of a look.
  const error = new Error(`waited in vain until ${what}`)
  return eventually(
    () => {
      if (!condition()) throw error
    },
    { everyMs: 2 },
  )
}
