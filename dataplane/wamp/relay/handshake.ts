// Writes the request of the WebSocket handshake with a router (RFC 6455 §4) and reads the response to it, as text. It
// opens nothing; the client's key is passed on, so that the router's response fits the client too.

import { createHash } from 'node:crypto'
import type { SerializerName } from '../protocol/messages.ts'

/** The sub-protocols whose messages can be read far enough to know the realm of a session, with their format. */
export const RELAYED = {
  'wamp.2.json': 'json',
  'wamp.2.msgpack': 'msgpack',
  'wamp.2.cbor': 'cbor',
} as const satisfies Readonly<Record<string, SerializerName>>

export type RelayedProtocol = keyof typeof RELAYED

export const isRelayed = (name: string): name is RelayedProtocol => Object.hasOwn(RELAYED, name)

/** What is passed from a client's handshake to the router. */
export interface RelayHandshake {
  /** `Sec-WebSocket-Key`, checked. */
  readonly key: string
  /** Sub-protocols offered, those of `RELAYED` alone, in the client's order. */
  readonly protocols: readonly RelayedProtocol[]
}

/**
 * Nothing of the client but its key and protocols: no origin, cookie, credentials or extensions; and no user and password
 * of the URL, which are for the gateway's own sessions: a router that trusts their owner would trust every client.
 */
export const handshakeText = (url: URL, { key, protocols }: RelayHandshake): string => {
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
    `Sec-WebSocket-Protocol: ${protocols.join(', ')}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

export type HandshakeResponse =
  /** Incomplete so far. */
  | { readonly kind: 'partial' }
  | { readonly kind: 'refused'; readonly why: string }
  | {
      readonly kind: 'accepted'
      readonly accept: string
      readonly protocol: RelayedProtocol
      /** Where frames begin. */
      readonly headBytes: number
    }

const MAX_RESPONSE_BYTES = 16 * 1024

/** @param bytes all that the router has sent */
export const readHandshakeResponse = (
  bytes: Buffer,
  request: RelayHandshake,
): HandshakeResponse => {
  const end = bytes.subarray(0, MAX_RESPONSE_BYTES).indexOf('\r\n\r\n')
  if (end < 0)
    return bytes.length < MAX_RESPONSE_BYTES
      ? { kind: 'partial' }
      : refused('its response is too large')
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = readHeaders(lines)
  const why = findError(statusLine, headers, request)
  if (why !== undefined) return refused(why)
  const chosen = headers.get('sec-websocket-protocol')
  const protocol = request.protocols.find((offered) => offered === chosen)
  if (protocol === undefined) return refused('it takes no sub-protocol on offer')
  const accept = headers.get('sec-websocket-accept') ?? ''
  return { kind: 'accepted', accept, protocol, headBytes: end + 4 }
}

/** Checks what a client must check of a response (RFC 6455 §4.1). undefined: nothing is wrong. */
const findError = (
  statusLine: string,
  headers: ReadonlyMap<string, string>,
  { key }: RelayHandshake,
): string | undefined => {
  const status = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1]
  if (status === undefined) return 'its response is no HTTP/1.1'
  if (status !== '101') return `it answers ${status}`
  if (!hasToken(headers, 'upgrade', 'websocket') || !hasToken(headers, 'connection', 'upgrade'))
    return 'it switches to no WebSocket'
  if (headers.get('sec-websocket-accept') !== acceptOf(key))
    return 'its Sec-WebSocket-Accept is wrong'
  if (headers.has('sec-websocket-extensions')) return 'it uses extensions that were not offered'
  return undefined
}

const refused = (why: string): HandshakeResponse => ({ kind: 'refused', why })

/** Names in lower case; repeated ones as one list (RFC 9110 §5.3). */
const readHeaders = (lines: readonly string[]): ReadonlyMap<string, string> => {
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) continue
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    const earlier = headers.get(name)
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  return headers
}

const hasToken = (headers: ReadonlyMap<string, string>, name: string, token: string): boolean =>
  (headers.get(name) ?? '').split(',').some((part) => part.trim().toLowerCase() === token)

/** RFC 6455 §4.2.2. */
const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
