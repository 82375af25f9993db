// Writes the head of a request as one text. It rejects everything that is not valid there, even if it was validated before,
// so that no value can add a line to the head or end it.

import type { Readable } from 'node:stream'
import type { WebSocketOffer } from '../../web-socket-switch.ts'
import { CONNECTION_SCHEME } from './connection-scheme.ts'

export interface ClientRequest {
  /** Upper case. */
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Flat list name, value, name, value; no framing headers. */
  readonly headers: readonly string[]
  /** In place of the host of the origin. */
  readonly hostHeader?: string | undefined
  readonly body: Uint8Array | Readable | null
  /** Bytes of a streamed body if known: it is framed by length, otherwise chunked. */
  readonly contentLength: number | undefined
  /** Asks to switch to a WebSocket. */
  readonly webSocket?: WebSocketOffer | undefined
}

/** How the body is sent. */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'sized'; readonly bytes: number }
  | { readonly kind: 'chunked' }

export interface RequestHead {
  /** In Latin-1. */
  readonly text: string
  readonly framing: BodyFraming
  /** The connection must not serve another request, whatever the response says. */
  readonly closes: boolean
}

/** RFC 9110 §9.3: requests with these methods have content, or else a `Content-Length` of 0. */
const WITH_CONTENT: ReadonlySet<string> = new Set([
  'PATCH',
  'POST',
  'PROPFIND',
  'PROPPATCH',
  'PUT',
  'QUERY',
])

/** Fields that the writer sets itself, and those that request what it does not support. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const NOT_VALUE = /[^\t\x20-\x7e\x80-\xff]/
/** Visible ASCII, and what servers accept beyond it: the gateway sends a client's target as it came. */
const HOST = /^[\w.:[\]-]*$/
const TARGET = /^[\x21-\x7e\x80-\xff]+$/

/**
 * @param origin host of the `Host` field, if the request names none
 * @throws TypeError for what is not valid in a head, which is a bug of the caller
 * @example formatHead(request, 'orders:8080').text // 'GET / HTTP/1.1\r\nhost: orders:8080\r\n…\r\n\r\n'
 */
export const formatHead = (request: ClientRequest, origin: string): RequestHead => {
  const { method, path, webSocket } = request
  // The response to CONNECT is framed in its own way.
  if (!TOKEN.test(method) || method === 'CONNECT') throw new TypeError('the method is not valid')
  if (!TARGET.test(path)) throw new TypeError('the request target is not valid')
  const host = request.hostHeader === undefined ? origin : checkedHost(request.hostHeader)
  const framing = framingOf(request)
  const hasContent = framing.kind === 'chunked' || (framing.kind === 'sized' && framing.bytes > 0)
  // Some servers send a body after HEAD, others read the body of a GET as the next request. Neither may affect the request
  // after it.
  const isMisread = method === 'HEAD' || (hasContent && !WITH_CONTENT.has(method))
  const closes = isMisread || webSocket !== undefined || authenticatesConnection(request)
  const connection = connectionLines(webSocket !== undefined, closes)
  const text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${connection}${fieldLines(request)}${framingLine(framing)}\r\n`
  return { text, framing, closes }
}

const checkedHost = (host: string): string => {
  if (!HOST.test(host)) throw new TypeError('the host is not valid')
  return host
}

const connectionLines = (isUpgrade: boolean, closes: boolean): string => {
  if (isUpgrade) return 'connection: Upgrade\r\nupgrade: websocket\r\n'
  return closes ? 'connection: close\r\n' : 'connection: keep-alive\r\n'
}

const authenticatesConnection = ({ headers }: ClientRequest): boolean => {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at]
    const isCredential = name === 'authorization' || name === 'proxy-authorization'
    if (isCredential && CONNECTION_SCHEME.test(headers[at + 1] ?? '')) return true
  }
  return false
}

const fieldLines = ({ headers }: ClientRequest): string => {
  let text = ''
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    if (!TOKEN.test(name) || RESERVED.has(name.toLowerCase()))
      throw new TypeError(`the header name '${name.slice(0, 64)}' is not valid`)
    if (NOT_VALUE.test(value)) throw new TypeError(`the value of header '${name}' is not valid`)
    text += `${name}: ${value}\r\n`
  }
  return text
}

const framingOf = ({ method, body, contentLength }: ClientRequest): BodyFraming => {
  if (body !== null && !(body instanceof Uint8Array))
    return contentLength === undefined
      ? { kind: 'chunked' }
      : { kind: 'sized', bytes: contentLength }
  const bytes = body?.length ?? 0
  return bytes === 0 && !WITH_CONTENT.has(method) ? { kind: 'none' } : { kind: 'sized', bytes }
}

const framingLine = (framing: BodyFraming): string => {
  switch (framing.kind) {
    case 'none':
      return ''
    case 'sized':
      return `content-length: ${framing.bytes}\r\n`
    case 'chunked':
      return 'transfer-encoding: chunked\r\n'
  }
}
