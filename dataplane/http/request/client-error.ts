// Responds to input that the HTTP parser rejects with an error record, in bytes, as there is no request object. The
// connection always ends.

import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { parserOn, responseOn } from '../../connections/node-internals.ts'
import { errorRecord } from '../../error-record.ts'
import { composeHead } from '../response/own-headers.ts'
import { headLines } from '../response/raw-head.ts'

interface Refusal {
  readonly status: string
  readonly code: string
  readonly message: string
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'svc.error.invalid_data',
    message:
      'The request line and headers are larger, or have more lines, than this gateway accepts',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: '413 Payload Too Large',
    code: 'svc.error.payload_too_large',
    message: 'The chunk extensions of the body are larger than this gateway accepts',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'svc.error.request_timeout',
    message: 'The request did not arrive in time',
  },
}

const MALFORMED: Refusal = {
  status: '400 Bad Request',
  code: 'svc.error.invalid_data',
  message: 'This is not a well-formed HTTP/1.1 request',
}

/** A client that reads nothing, or never disconnects, keeps its connection no longer than this. */
const LINGER_MS = 1000

/** For `clientError` of a server. @param nextRequestId gives these responses an id like all others */
export const createClientErrorHandler =
  (nextRequestId: () => string) =>
  (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const awaited = awaitedOn(socket)
    const isOver = !socket.writable || error.code === 'ECONNRESET'
    if (awaited !== undefined && !isOver) {
      // It is the last request: nothing behind it can be read, or has to be (`Connection: close`, RFC 9112 §9.6).
      awaited.shouldKeepAlive = false
      // The head may have been sent already and say otherwise; the connection would then be kept, but not read any
      // more.
      awaited.once('finish', () => {
        socket.end()
        linger(socket)
      })
      return
    }
    if (isOver || isAnswering(socket) || isAnswered(socket)) {
      socket.destroy()
      return
    }
    const refusal = REFUSALS[error.code ?? ''] ?? MALFORMED
    const requestId = nextRequestId()
    const record = errorRecord(refusal.code, refusal.message)
    const body = JSON.stringify({ ...record, request_id: requestId })
    const headers = [
      ['content-length', String(Buffer.byteLength(body))],
      ['connection', 'close'],
    ] as const
    const parts = { headers, contentType: 'application/json', body: 'ours' } as const
    const head = headLines(composeHead(parts, { requestId }))
    socket.end(`HTTP/1.1 ${refusal.status}\r\n${head}\r\n${body}`)
    linger(socket)
  }

/** Closing immediately would reset the connection before the client has read the response. */
const linger = (socket: Duplex): void => {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => {
    clearTimeout(timer)
  })
}

/** The pending response to a complete request: the malformed input came behind that request. */
const awaitedOn = (socket: Duplex): ServerResponse | undefined => {
  const response = responseOn(socket)
  return response?.req.complete === true ? response : undefined
}

/** True while the head of an earlier response has been sent on this connection: our bytes would end up in its body. */
const isAnswering = (socket: Duplex): boolean => responseOn(socket)?.headersSent === true

/**
 * True while the body of an answered request still arrives: a client that shares its connections among several users
 * would take a second response for the one to its next request.
 */
const isAnswered = (socket: Duplex): boolean =>
  responseOn(socket) === undefined && parserOn(socket)?.incoming?.complete === false
