// Lists what the gateway uses of Node without a public name, checks at the start that it is there, and says what follows
// where it is not.

// Two kinds can't be asked for at a start. Flags of V8 (`base/tune-v8.ts`, `base/collect-garbage.ts`,
// `compiler/compile-thread.ts`): V8 writes a line to stderr for one that it does not know, and the process is slower or
// larger. `_protocol_violation` of autobahn (`wamp/session/autobahn.ts`), which is loaded for the first realm with a router:
// without it a late response would end the session; the version is that of the lock file, whose tests have passed.

import { connect, Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { http } from '../../base/node-http.ts'
import type { Log } from '../../telemetry/log.ts'
import { parserOn, queuedBytesOf, responseOn, socketUnder } from '../connections/node-internals.ts'
import { overridePeer } from '../connections/peer-address.ts'
import { PRESETS_HEADS } from '../http/response/raw-head.ts'
import { StartError } from '../start-error.ts'
import { tcpHandleUnder } from '../upstream/http1/tls-end.ts'

export interface PrivateDoor {
  readonly name: string
  /** Safety depends on it: a gateway without it does not start. */
  readonly isVital: boolean
  /** What happens without it. */
  readonly missing: string
  readonly isThere: (seen: Conversation) => boolean
}

export const PRIVATE_DOORS: readonly PrivateDoor[] = [
  {
    name: "the one 'connection' listener of a server",
    isVital: true,
    missing: 'connections would be neither counted nor bounded',
    isThere: ({ listeners }) => listeners === 1,
  },
  {
    name: 'socket._httpMessage',
    isVital: true,
    missing:
      'connections in use would count as idle, and a client could get a second response to one request',
    isThere: ({ hasResponse }) => hasResponse,
  },
  {
    name: 'socket.parser with incoming and getCurrentBuffer',
    isVital: true,
    missing:
      'a client could get a second response to one request, or its next request be read from the middle',
    isThere: ({ hasParser }) => hasParser,
  },
  {
    name: 'TLSSocket._parent',
    isVital: true,
    missing: 'connections with TLS would all be closed',
    isThere: (): boolean => {
      const raw = new Socket()
      return socketUnder(new TLSSocket(raw, { isServer: true })) === raw
    },
  },
  {
    name: 'own properties of a socket over remoteAddress and remotePort',
    isVital: true,
    missing: 'clients behind a balancer with PROXY protocol would count as the balancer',
    isThere: (): boolean => {
      const socket = new Socket()
      overridePeer(socket, { address: '192.0.2.1', port: 7 })
      return socket.remoteAddress === '192.0.2.1' && socket.remotePort === 7
    },
  },
  {
    name: 'TLSSocket._handle._parent with readStart and readStop',
    isVital: false,
    missing: 'responses of https upstreams that end with their connection count as cut off',
    isThere: (): boolean => {
      const handle = tcpHandleUnder(new TLSSocket(new Socket()))
      return typeof handle?.readStart === 'function' && typeof handle.readStop === 'function'
    },
  },
  {
    name: 'ServerResponse._header',
    isVital: false,
    missing: 'Node writes the heads of responses, which takes 1.6 µs more for each',
    isThere: () => PRESETS_HEADS,
  },
  {
    name: 'socket._handle.writeQueueSize',
    isVital: false,
    missing:
      'a client that reads one large piece for longer than it may stall is cut off, although it reads',
    isThere: (): boolean => {
      // It is destroyed before it connects.
      const socket = connect({ host: '127.0.0.1', port: 9 }).on('error', () => undefined)
      const isThere = queuedBytesOf(socket) !== undefined
      socket.destroy()
      return isThere
    },
  },
]

/** Warns once of what is missing. @throws StartError for something that safety depends on */
export const checkPrivateDoors = (log: Log, doors: readonly PrivateDoor[]): void => {
  const seen = converse()
  const missing = doors.filter(({ isThere }) => !isThere(seen))
  const vital = missing.find(({ isVital }) => isVital)
  if (vital !== undefined)
    throw new StartError(
      `Node ${process.version} lacks ${vital.name}, without which ${vital.missing}: run the version of Node that this release comes with`,
    )
  if (missing.length === 0) return
  log.warn(
    'this version of Node lacks what the gateway uses: run the version that this release comes with',
    {
      node: process.version,
      lacks: missing.map((each) => `${each.name}: ${each.missing}`),
    },
  )
}

interface Conversation {
  readonly listeners: number
  readonly hasResponse: boolean
  readonly hasParser: boolean
}

/** The first request on a socket that leads nowhere, passed to a server as `connections/connection-gate.ts` does. */
const converse = (): Conversation => {
  let seen: Omit<Conversation, 'listeners'> = { hasResponse: false, hasParser: false }
  const server = http.createServer((request, response) => {
    const parser = parserOn(socket)
    seen = {
      hasResponse: responseOn(socket) === response,
      hasParser: parser?.incoming === request && typeof parser.getCurrentBuffer === 'function',
    }
  })
  const socket = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => {
      done()
    },
  })
  const listeners = server.rawListeners('connection')
  for (const listener of listeners) Reflect.apply(listener, server, [socket])
  socket.emit('data', Buffer.from('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n'))
  socket.destroy()
  return { ...seen, listeners: listeners.length }
}
