// Writes the request of the WebSocket handshake with a router (RFC 6455 §4) and reads the response to it, as text. It
// opens nothing; the client's key is passed on, so that the router's response fits the client too.

import { readWebSocketSwitch } from '../../web-socket-switch.ts'
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
  const status = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1]
  if (status === undefined) return refused('its response is no HTTP/1.1')
  if (status !== '101') return refused(`it answers ${status}`)
  const switched = readWebSocketSwitch(readHeaders(lines), { ...request, extensions: '' })
  if (typeof switched === 'string') return refused(switched)
  const protocol = request.protocols.find((offered) => offered === switched.protocol)
  if (protocol === undefined) return refused('it takes no sub-protocol on offer')
  return { kind: 'accepted', accept: switched.accept, protocol, headBytes: end + 4 }
}

const refused = (why: string): HandshakeResponse => ({ kind: 'refused', why })

/** Name, value, name, value; names in lower case. */
const readHeaders = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => {
    const colon = line.indexOf(':')
    return colon < 1 ? [] : [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
