// Limits and handlers in, a node:http or node:https server out, set so that a hostile client costs little
// and every refusal can be an error record.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContextOptions, TlsOptions } from 'node:tls'
import type { GatewaySettings } from './config.ts'
import { createSocketResponse } from './socket-response.ts'
import { cutOffStalledClients, STALL_TIMES, type StallTimes } from './stalled-clients.ts'

/** What a listener does with what comes in. */
export interface ServerHandlers {
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void
  /** What the parser refused; must end or destroy the socket. Node's own bare 400 if left out. */
  readonly onClientError?: (error: NodeJS.ErrnoException, socket: Duplex) => void
  /** A request that asks to upgrade, and what came behind it; without it such a request is a plain one. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** False: such a request is a plain one all the same. Asked right before `onUpgrade`; all are taken if left out. */
  readonly shouldUpgrade?: (request: IncomingMessage) => boolean
}

export type ServerLimits = Pick<
  GatewaySettings,
  | 'maxHeaderBytes'
  | 'maxConnections'
  | 'headersTimeoutSeconds'
  | 'requestTimeoutSeconds'
  | 'keepAliveSeconds'
> & {
  readonly stalls?: StallTimes
  /** How late the time-outs of heads and requests may be noticed; 1000 if left out. */
  readonly checkMs?: number
}

/** Plain HTTP/1.1. */
export const createPlainServer = (limits: ServerLimits, handlers: ServerHandlers): Server =>
  prepare(createServer(optionsOf(limits, handlers)), 'connection', limits, handlers)

/**
 * HTTP/1.1 over TLS 1.2 or newer. Certificates may be replaced later by `setSecureContext`.
 * @throws Error of OpenSSL when key and certificate do not fit
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

/** What `setSecureContext` must be given again: it starts from nothing. */
export const withTlsFloor = (context: SecureContextOptions): SecureContextOptions => ({
  ...TLS,
  ...context,
})

const HANDSHAKE_TIMEOUT_MS = 10_000

const TLS = { minVersion: 'TLSv1.2' } as const satisfies SecureContextOptions

const optionsOf = (
  limits: ServerLimits,
  { shouldUpgrade }: ServerHandlers,
): Parameters<typeof createServer>[0] => ({
  maxHeaderSize: limits.maxHeaderBytes,
  headersTimeout: limits.headersTimeoutSeconds * 1000,
  requestTimeout: limits.requestTimeoutSeconds * 1000,
  keepAliveTimeout: limits.keepAliveSeconds * 1000,
  connectionsCheckingInterval: limits.checkMs ?? 1000,
  insecureHTTPParser: false,
  // Node would answer a missing Host by itself, without an error record: dispatch does.
  requireHostHeader: false,
  noDelay: true,
  // Node 24.9 and newer.
  ...(shouldUpgrade && {
    shouldUpgradeCallback: (request) => !hasTooManyLines(request) && shouldUpgrade(request),
  }),
})

const prepare = <S extends Server>(
  server: S,
  event: 'connection' | 'secureConnection',
  limits: ServerLimits,
  handlers: ServerHandlers,
): S => {
  cutOffStalledClients(server, event, limits.stalls ?? STALL_TIMES)
  // Node keeps it once it was asked for: else who hangs up has no address in logs and counts of failures.
  server.on(event, ({ remoteAddress }: Socket) => remoteAddress)
  server.maxConnections = limits.maxConnections
  // Node drops header lines beyond this without a word: one more tells that there were too many.
  server.maxHeadersCount = MAX_HEADER_LINES + 1
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    if (hasTooManyLines(request)) refuseHead(server, request.socket)
    else handlers.onRequest(request, response)
  }
  server.on('request', onRequest)
  // RFC 9110 §10.1.1: an expectation other than 100-continue may be ignored; Node would answer 417.
  server.on('checkExpectation', onRequest)
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    if (hasTooManyLines(request)) refuseHead(server, socket)
    else answerConnect(request, socket, handlers.onRequest)
  })
  if (handlers.onClientError !== undefined) server.on('clientError', handlers.onClientError)
  if (handlers.onUpgrade !== undefined) server.on('upgrade', handlers.onUpgrade)
  return server
}

/**
 * Of each line Node makes two strings: a head of 16 kB in tiny lines costs 125 kB, held until it is complete. Envoy
 * takes 100 lines.
 */
const MAX_HEADER_LINES = 128

/** Name, value, name, … */
const hasTooManyLines = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.length > 2 * MAX_HEADER_LINES

/** As the parser refuses a head that is too large in bytes. */
const refuseHead = (server: Server, socket: Duplex): void => {
  const error = new Error(`more than ${MAX_HEADER_LINES} header lines`)
  const overflow = Object.assign(error, { code: 'HPE_HEADER_OVERFLOW' })
  // Node's own words, where the listener has none.
  if (!server.emit('clientError', overflow, socket)) {
    socket.end('HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n')
  }
}

/** No tunnels: CONNECT is refused like any unknown method. Node would hang up without a word. */
const answerConnect = (
  request: IncomingMessage,
  socket: Duplex,
  onRequest: ServerHandlers['onRequest'],
): void => {
  socket.on('error', () => undefined)
  // An authority is no path, and Express would have its own words for it.
  if (request.url?.startsWith('/') !== true) request.url = '/'
  const response = createSocketResponse(request, socket)
  if (response !== undefined) onRequest(request, response)
}
