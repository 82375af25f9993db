// Writes the request of the WebSocket handshake with a router (RFC 6455 §4) and reads the response to it, as text. It
// opens nothing; the client's key is passed on, so that the router's response fits the client too.

import { createHash } from 'node:crypto'

/** What is passed from a client's handshake to the router. */
export interface RelayHandshake {
  /** `Sec-WebSocket-Key`, checked. */
  readonly key: string
  /** Sub-protocols offered, `wamp.2.*` alone, in the client's order. */
  readonly protocols: readonly string[]
}

/** Nothing of the client but its key and protocols: no origin, cookie, credentials or extensions. */
export const handshakeText = (url: URL, { key, protocols }: RelayHandshake): string => {
  const { username, password } = url
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
    `Sec-WebSocket-Protocol: ${protocols.join(', ')}`,
    ...(username === '' && password === '' ? [] : [`Authorization: ${basic(username, password)}`]),
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** The credentials in the router's URL: the gateway's own, which its other connections to the router use too. */
const basic = (username: string, password: string): string => {
  const pair = `${decoded(username)}:${decoded(password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export type HandshakeResponse =
  /** Incomplete so far. */
  | { readonly kind: 'partial' }
  | { readonly kind: 'refused'; readonly why: string }
  | {
      readonly kind: 'accepted'
      readonly accept: string
      readonly protocol: string
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
  return {
    kind: 'accepted',
    accept: headers.get('sec-websocket-accept') ?? '',
    protocol: headers.get('sec-websocket-protocol') ?? '',
    headBytes: end + 4,
  }
}

/** Checks what a client must check of a response (RFC 6455 §4.1). undefined: nothing is wrong. */
const findError = (
  statusLine: string,
  headers: ReadonlyMap<string, string>,
  { key, protocols }: RelayHandshake,
): string | undefined => {
  const status = /^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1]
  if (status === undefined) return 'its response is no HTTP/1.1'
  if (status !== '101') return `it answers ${status}`
  if (!hasToken(headers, 'upgrade', 'websocket') || !hasToken(headers, 'connection', 'upgrade'))
    return 'it switches to no WebSocket'
  if (headers.get('sec-websocket-accept') !== acceptOf(key))
    return 'its Sec-WebSocket-Accept is wrong'
  if (!protocols.includes(headers.get('sec-websocket-protocol') ?? ''))
    return 'it takes no sub-protocol on offer'
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
