// Creates the node:http and node:https servers of the listeners, set up so that a hostile client costs little and
// every error can be an error record.

import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContextOptions, TlsOptions } from 'node:tls'
import { http } from '../../base/node-http.ts'
import type { GatewaySettings } from '../config.ts'
import type { ConnectionGate } from '../connections/connection-gate.ts'
import { type IsScarce, NEVER_SCARCE } from '../least-rate.ts'
import type { MemoryBudget } from '../memory/memory-budget.ts'
import { parserOn, responseOn } from '../connections/node-internals.ts'
import {
  MAX_WAITING_BYTES,
  PipelinedRequests,
  whenAnswered,
} from '../connections/pipelined-requests.ts'
import { createSocketResponse } from './socket-response.ts'
import { cutOffStalledClients, STALL_TIMES, type StallTimes } from './stalled-clients.ts'

/** What a listener does with requests. */
export interface ServerHandlers {
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void
  /** Handles what the parser rejected; must end or destroy the socket. If left out, Node sends its bare 400. */
  readonly onClientError?: (error: NodeJS.ErrnoException, socket: Duplex) => void
  /**
   * Handles a request to upgrade, with the bytes that came behind it; if left out, such a request is an ordinary one.
   */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /**
   * False: the request is an ordinary one after all. Called right before `onUpgrade`; if left out, all are upgraded.
   */
  readonly shouldUpgrade?: (request: IncomingMessage) => boolean
  /** While memory is short, heads of requests get half of their time. It also knows which limits only report. */
  readonly memory?: MemoryBudget
  /** Whether memory is short: slow clients are then disconnected sooner. If left out, never. */
  readonly isScarce?: IsScarce | undefined
}

export type ServerLimits = Pick<
  GatewaySettings,
  'maxHeaderBytes' | 'headersTimeoutSeconds' | 'requestTimeoutSeconds' | 'keepAliveSeconds'
> & {
  /** Decides which connections are accepted; if left out, all are. */
  readonly gate?: ConnectionGate
  readonly stalls?: StallTimes
  /** How late time-outs of heads and requests may be noticed; if left out, 1000. */
  readonly checkMs?: number
}

/** Plain HTTP/1.1. */
export const createPlainServer = (limits: ServerLimits, handlers: ServerHandlers): Server =>
  prepare(http.createServer(optionsOf(limits, handlers)), 'connection', limits, handlers)

/**
 * HTTP/1.1 over TLS 1.2 or newer. Certificates may be replaced later by `setSecureContext`.
 * @throws Error of OpenSSL when key and certificate do not match
 */
export const createSecureServer = (
  limits: ServerLimits,
  handlers: ServerHandlers,
  tls: TlsOptions,
): TlsServer =>
  prepare(
    createTlsServer({
      ...optionsOf(limits, handlers),
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      ...TLS,
      ...tls,
    }),
    'secureConnection',
    limits,
    handlers,
  )

/** Adds what every call of `setSecureContext` needs, as it starts from the defaults. */
export const withTlsFloor = (context: SecureContextOptions): SecureContextOptions => ({
  ...TLS,
  ...context,
})

const HANDSHAKE_TIMEOUT_MS = 10_000

const TLS = { minVersion: 'TLSv1.2' } as const satisfies SecureContextOptions

const optionsOf = (limits: ServerLimits, handlers: ServerHandlers): ServerOptions => ({
  maxHeaderSize: limits.maxHeaderBytes,
  headersTimeout: limits.headersTimeoutSeconds * 1000,
  requestTimeout: limits.requestTimeoutSeconds * 1000,
  keepAliveTimeout: limits.keepAliveSeconds * 1000,
  connectionsCheckingInterval: limits.checkMs ?? 1000,
  insecureHTTPParser: false,
  // Node would respond to a missing Host itself, without an error record; dispatch does it instead.
  requireHostHeader: false,
  noDelay: true,
  // Node 24.9 and newer. Called only for requests for an upgrade.
  shouldUpgradeCallback: (request) => {
    const { socket } = request
    if (ends.has(socket)) return false
    const { onUpgrade, shouldUpgrade } = handlers
    const isTaken =
      !hasTooManyLines(request) && (shouldUpgrade?.(request) ?? onUpgrade !== undefined)
    if (!isTaken && mayLoseBytes(request)) ends.set(socket, 'with-this-request')
    return isTaken
  },
})

/** Connections on which no further request is performed: from now on, or after the one that is about to start. */
const ends = new WeakMap<Duplex, 'with-this-request' | 'over'>()

/**
 * Node drops the bytes that came in one read with a request for an upgrade that is not upgraded, perhaps a part of
 * the next request, and parses what comes later as the beginning of one. Nothing is lost only if the head is the end
 * of what came.
 */
const mayLoseBytes = ({ socket, headers }: IncomingMessage): boolean => {
  if ('content-length' in headers || 'transfer-encoding' in headers) return true
  const bytes = parserOn(socket)?.getCurrentBuffer?.() ?? Buffer.alloc(0)
  return bytes.length < 4 || bytes.indexOf('\r\n\r\n') !== bytes.length - 4
}

const prepare = <S extends Server>(
  server: S,
  event: 'connection' | 'secureConnection',
  limits: ServerLimits,
  handlers: ServerHandlers,
): S => {
  const { onClientError, onRequest, memory } = handlers
  const isScarce = scarcityOf(limits, handlers)
  cutOffStalledClients(server, event, {
    ...(limits.stalls ?? STALL_TIMES),
    idleMs: idleMsOf(limits),
    isScarce,
  })
  server.on(event, (socket: Socket) => {
    socket.destroySoon = closeGently
    // Node caches it when it is read: otherwise a client that disconnects has no address in logs and failure counts.
    return socket.remoteAddress
  })
  // Node silently drops header lines beyond this: one more shows that there were too many.
  server.maxHeadersCount = MAX_HEADER_LINES + 1
  memory?.onTight((isTight) => {
    server.headersTimeout = (limits.headersTimeoutSeconds * 1000) / (isTight ? 2 : 1)
  })
  const pipelined = new PipelinedRequests(server, { isScarce, start: onRequest })
  const startInTurn = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    const end = ends.get(socket)
    // The connection is closing: the response would reach no client (RFC 9112 §9.6).
    if (end === 'over') return
    if (end === 'with-this-request') {
      ends.set(socket, 'over')
      response.shouldKeepAlive = false
    }
    if (hasTooManyLines(request)) refuseHead(server, socket)
    else if (response.socket === null) pipelined.hold(request, response)
    else onRequest(request, response)
  }
  server.on('request', startInTurn)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response)
    startInTurn(request, response)
  })
  // RFC 9110 §10.1.1: an expectation other than 100-continue may be ignored; Node would answer 417.
  server.on('checkExpectation', startInTurn)
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    // Node has removed its own listeners: an unhandled 'error' event, such as a reset, would end the process.
    socket.on('error', () => undefined)
    connectInTurn(socket, () => {
      if (ends.has(socket)) return
      if (hasTooManyLines(request)) refuseHead(server, socket)
      else answerConnect(request, socket, onRequest)
    })
  })
  if (onClientError !== undefined)
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      if (!pipelined.isTimeoutOfOurs(error, socket) && isStillRead(error, socket))
        pipelined.onError(error, socket, () => {
          onClientError(error, socket)
        })
    })
  if (handlers.onUpgrade !== undefined) server.on('upgrade', handlers.onUpgrade)
  limits.gate?.guard(server, event)
  return server
}

/**
 * RFC 9110 §10.1.1: `100 Continue` goes out when something reads the body; a response that comes before that comes alone.
 * A client that then sends no body leaves its end open, so the connection ends with that response.
 */
const continueWhenRead = (request: IncomingMessage, response: ServerResponse): void => {
  const read = request._read.bind(request)
  // What others say of the connection meanwhile stays, such as that the listener drains.
  let { shouldKeepAlive } = response
  let isRead = false
  Object.defineProperty(response, 'shouldKeepAlive', {
    get: () => isRead && shouldKeepAlive,
    set: (keeps: boolean) => {
      shouldKeepAlive = keeps
    },
  })
  request._read = (size) => {
    request._read = read
    if (!response.headersSent && !response.destroyed) {
      isRead = true
      response.writeContinue()
    }
    read(size)
  }
}

/** A client that goes on sending, or never disconnects, keeps its connection no longer than this. */
const LINGER_MS = 1000

/**
 * RFC 9112 §9.6: a connection that is closed while bytes of the client are unread is reset, and the client may lose the
 * response that came before the end of its body, such as a 413. So what comes is read for a moment, and dropped.
 */
function closeGently(this: Socket): void {
  const unread = parserOn(this)?.incoming
  if (unread?.complete !== false) {
    Socket.prototype.destroySoon.call(this)
    return
  }
  ends.set(this, 'over')
  this.end()
  unread.resume()
  const timer = setTimeout(() => this.destroy(), LINGER_MS)
  this.once('close', () => {
    clearTimeout(timer)
  })
}

/** Connections that sent malformed HTTP, and how many bytes of each had been read when that was found. */
const faultyFrom = new WeakMap<Duplex, number>()

/**
 * After an error the parser rejects each further chunk too: only the first error is passed on, and little more is read.
 */
const isStillRead = ({ code }: NodeJS.ErrnoException, socket: Duplex): boolean => {
  if (!(socket instanceof Socket) || code === 'ECONNRESET') return true
  // Nothing can be said behind the last response, whatever else comes.
  if (ends.get(socket) === 'over' && !socket.writable) return false
  if (code === 'HPE_INVALID_EOF_STATE' && responseOn(socket)?.req.complete === true) {
    // The client has ended its half and waits for nothing, just as after a complete request.
    socket.end()
    return false
  }
  const from = faultyFrom.get(socket)
  if (from === undefined) faultyFrom.set(socket, socket.bytesRead)
  else if (socket.bytesRead - from > MAX_WAITING_BYTES) socket.pause()
  return from === undefined
}

/** Memory or connections are more than half used. */
const scarcityOf = (
  { gate }: ServerLimits,
  { isScarce = NEVER_SCARCE }: ServerHandlers,
): IsScarce => (gate === undefined ? isScarce : () => gate.isHalfFull || isScarce())

/** Longer than any connection may be idle or take for a head, as Node's own time-outs count bytes as activity. */
const idleMsOf = ({ keepAliveSeconds, headersTimeoutSeconds }: ServerLimits): number =>
  keepAliveSeconds === 0 || headersTimeoutSeconds === 0
    ? Infinity
    : (keepAliveSeconds + headersTimeoutSeconds + 1) * 1000

/**
 * Node creates two strings for each line: a head of 16 kB in tiny lines costs 125 kB until it is complete. Envoy
 * accepts 100 lines.
 */
const MAX_HEADER_LINES = 128

/** Name, value, name, … */
const hasTooManyLines = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.length > 2 * MAX_HEADER_LINES

/** Rejects a head in the same way as the parser rejects one with too many bytes. */
const refuseHead = (server: Server, socket: Duplex): void => {
  ends.set(socket, 'over')
  const error = new Error(`more than ${MAX_HEADER_LINES} header lines`)
  const overflow = Object.assign(error, { code: 'HPE_HEADER_OVERFLOW' })
  // Node's own response, if the listener has none.
  if (!server.emit('clientError', overflow, socket)) {
    socket.end('HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n')
  }
}

/** Waits for the responses to earlier requests: Node has released the socket, and what it did for them. */
const connectInTurn = (socket: Duplex, run: () => void): void => {
  if (!(socket instanceof Socket) || responseOn(socket) === undefined) {
    run()
    return
  }
  socket.on('drain', () => responseOn(socket)?.emit('drain'))
  // Only a reader notices that the client disconnects; what follows a CONNECT is for a tunnel that is not opened.
  socket.once('end', () => socket.destroy()).resume()
  whenAnswered(socket, run)
}

/**
 * There are no tunnels: CONNECT is rejected like any unknown method. Node would close the connection without a
 * response.
 */
const answerConnect = (
  request: IncomingMessage,
  socket: Duplex,
  onRequest: ServerHandlers['onRequest'],
): void => {
  // An authority is no path, and Express would send its own message for it.
  if (request.url?.startsWith('/') !== true) request.url = '/'
  const response = createSocketResponse(request, socket)
  if (response !== undefined) onRequest(request, response)
}
