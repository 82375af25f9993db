// Opens a listener for a server, which can be drained, closed and aborted. It knows nothing of what the server
// serves.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { urlOf } from '../../telemetry/bound-address.ts'
import { bind, type BindOptions } from './bind.ts'
import { DRAINING } from '../connections/pipelined-requests.ts'
import type { Address } from '../../telemetry/settings-table.ts'

export interface Listener {
  readonly address: Address
  /** `http://127.0.0.1:18080`. */
  readonly url: string
  /** Connections open now. */
  connections(): Promise<number>
  /** From now on every response has `Connection: close`. New connections are still accepted. */
  beginDraining(): void
  /** Closes connections that wait for their next request. New ones are still accepted. */
  closeIdle(): void
  /** Accepts no more connections; resolves when the last request has been answered. */
  close(): Promise<void>
  /** Destroys all connections that are left; `close` then resolves. */
  abort(): void
}

/** @throws StartError when the address cannot be had */
export const openListener = async (
  server: Server,
  scheme: 'http' | 'https',
  options: BindOptions,
): Promise<Listener> => {
  const sockets = trackConnections(server)
  const address = await bind(server, options)
  return {
    address,
    url: urlOf(scheme, address),
    connections: () =>
      new Promise((resolve) => {
        server.getConnections((error, count) => {
          resolve(error === null ? count : 0)
        })
      }),
    beginDraining: () => {
      announceClose(server)
    },
    closeIdle: () => {
      closeIdle(server)
    },
    close: () => closeServer(server),
    abort: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Also those that wait for their PROXY header and those that were upgraded, which the server does not know. */
const trackConnections = (server: Server): ReadonlySet<Socket> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

/** Node emits one of them for each request, by its Expect. */
const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'] as const

/** Replaces the request listeners, so that until then no request costs a check whether the listener drains. */
const announceClose = (server: Server): void => {
  server.emit(DRAINING)
  for (const event of REQUEST_EVENTS) {
    const listeners = server.listeners(event) as ((
      request: IncomingMessage,
      response: ServerResponse,
    ) => void)[]
    // With a listener Node would leave its own answer to it.
    if (listeners.length === 0) continue
    server.removeAllListeners(event)
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      response.shouldKeepAlive = false
      for (const listener of listeners) listener.call(server, request, response)
    })
  }
}

const SWEEP_MS = 50

/**
 * Reads what has arrived first, or a request in the kernel's buffer would be lost with its connection: Node runs
 * immediates right after it has read.
 */
const closeIdle = (server: Server): void => {
  setImmediate(() => {
    server.closeIdleConnections()
  })
}

/** `close` ends idle connections once; those that turn idle afterwards must be swept. */
const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const sweep = setInterval(() => {
      closeIdle(server)
    }, SWEEP_MS)
    setImmediate(() => {
      server.close(() => {
        clearInterval(sweep)
        resolve()
      })
    })
  })
