// Decides whether a response switches a connection to the WebSocket that was asked for (RFC 6455 §4.1). It is pure, and
// proves it of every peer alike: routers and upstreams.

import { createHash } from 'node:crypto'

/** What a client offers in its handshake. */
export interface WebSocketOffer {
  /** `Sec-WebSocket-Key`, checked. */
  readonly key: string
  /** Sub-protocols. */
  readonly protocols: readonly string[]
  /** `Sec-WebSocket-Extensions` as the client sent it; `''`: none. */
  readonly extensions: string
}

/** What a peer that has switched has chosen of it. */
export interface WebSocketSwitch {
  readonly accept: string
  /** undefined: no sub-protocol. */
  readonly protocol: string | undefined
  /** undefined: no extension. */
  readonly extensions: string | undefined
}

/** A key as RFC 6455 §4.1 has it: 16 bytes in base64. */
export const isWebSocketKey = (text: string): boolean => KEY.test(text)

const KEY = /^[+/0-9A-Za-z]{22}==$/

/**
 * @param headers of a 101: name, value, name, value; names in lower case
 * @returns a text that says why not, if it is no switch to this WebSocket
 */
export const readWebSocketSwitch = (
  headers: readonly string[],
  offer: WebSocketOffer,
): WebSocketSwitch | string => {
  if (!tokensOf(headers, 'upgrade').every(isWebSocket) || !names(headers, 'upgrade', 'websocket'))
    return 'it switches to no WebSocket'
  if (!names(headers, 'connection', 'upgrade')) return 'its Connection does not name Upgrade'
  const accept = acceptOf(offer.key)
  const [first, ...others] = valuesOf(headers, 'sec-websocket-accept')
  if (first !== accept || others.length > 0) return 'its Sec-WebSocket-Accept is wrong'
  const protocols = valuesOf(headers, 'sec-websocket-protocol')
  if (protocols.length > 1 || protocols.some((each) => !offer.protocols.includes(each)))
    return 'it takes a sub-protocol that was not offered'
  const extensions = valuesOf(headers, 'sec-websocket-extensions').join(', ')
  const offered = extensionNames(offer.extensions)
  if (extensionNames(extensions).some((name) => !offered.includes(name)))
    return 'it uses extensions that were not offered'
  return {
    accept,
    protocol: protocols[0],
    extensions: extensions === '' ? undefined : extensions,
  }
}

/** RFC 6455 §4.2.2. */
const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

const isWebSocket = (token: string): boolean => token === 'websocket'

const names = (headers: readonly string[], name: string, token: string): boolean =>
  tokensOf(headers, name).includes(token)

const tokensOf = (headers: readonly string[], name: string): readonly string[] =>
  valuesOf(headers, name).flatMap((value) =>
    value.split(',').map((token) => token.trim().toLowerCase()),
  )

const valuesOf = (headers: readonly string[], name: string): readonly string[] =>
  headers.filter((_, at) => at % 2 === 1 && headers[at - 1] === name)

/** Names alone: parameters, in which quoted commas may stand, are between the two ends. A name inside quotes only refuses more. */
const extensionNames = (text: string): readonly string[] =>
  text
    .split(',')
    .map((each) => (each.split(';')[0] ?? '').trim().toLowerCase())
    .filter((name) => name !== '')
