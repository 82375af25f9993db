// Validates the opening handshake of a WebSocket client (RFC 6455 §4.2.1) and its origin, and extracts what a router or an
// upstream needs of it.

import type { IncomingMessage } from 'node:http'
import type { CompiledSecurity } from '../../../language/compile/security.ts'
import { isCookieKey } from '../../../language/forgeable-callers.ts'
import type { Authority } from '../../../language/routes/authority.ts'
import { GatewayError } from '../../gateway-error.ts'
import { schemesOfRequest } from '../../security/schemes/request-schemes.ts'
import { SCHEMES, type SchemeTraits } from '../../security/schemes/scheme-table.ts'
import { isRelayed, RELAYED, type RelayHandshake } from '../../wamp/relay/handshake.ts'
import { isWebSocketKey, type WebSocketOffer } from '../../web-socket-switch.ts'
import type { RealmOrigins } from '../realm-origins.ts'
import { hasBody, type RequestHead } from '../request/head.ts'

/**
 * False for requests that are served as if they asked for no upgrade: other protocols, other methods, HTTP/1.0, a body.
 */
export const asksForWebSocket = (
  { method, httpVersion }: IncomingMessage,
  head: RequestHead,
): boolean =>
  head.upgrade !== undefined &&
  method === 'GET' &&
  httpVersion === '1.1' &&
  !hasBody(head) &&
  textsOf(head.upgrade).some((token) => token.toLowerCase() === 'websocket')

/** @throws GatewayError 426 for another version, 400 for no key */
export const readOffer = ({ headers }: IncomingMessage): WebSocketOffer => {
  if (headers['sec-websocket-version'] !== '13')
    throw upgradeRequired('Only version 13 of the WebSocket protocol is supported', {
      'sec-websocket-version': '13',
    })
  const key = headers['sec-websocket-key'] ?? ''
  if (!isWebSocketKey(key))
    throw new GatewayError('svc.error.invalid_data', 'Sec-WebSocket-Key is not 16 bytes in base64')
  return {
    key,
    protocols: textsOf(headers['sec-websocket-protocol'] ?? ''),
    extensions: headers['sec-websocket-extensions'] ?? '',
  }
}

/** @throws GatewayError, as for every handshake, and 400 for no WAMP sub-protocol */
export const readWampHandshake = (request: IncomingMessage): RelayHandshake => {
  const { key, protocols: offered } = readOffer(request)
  const protocols = offered.filter(isRelayed)
  if (protocols.length === 0)
    throw new GatewayError('svc.error.invalid_data', 'No WAMP sub-protocol is offered', {
      description: `Offer one in Sec-WebSocket-Protocol: ${Object.keys(RELAYED).join(', ')}.`,
    })
  return { key, protocols: [...new Set(protocols)] }
}

/**
 * Browsers always send the Origin of a connection (RFC 6455 §10.2); a client without one is no browser, and could
 * send any. So if origins are listed, a present one must be among them, and an absent one passes. But browsers send
 * cookies and stored passwords whatever page connects (no CORS, no CSRF value), and are in their network: then the origin
 * must be the gateway's own, or a listed one.
 * @returns the 403, if it may not connect
 */
export const checkOrigin = (
  request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  authority: Authority,
  origins: RealmOrigins,
  security: CompiledSecurity,
): GatewayError | undefined => {
  const sent = sentAlong(security, request)
  const { origin } = request.headers
  if (sent.every((each) => RULES[each](origin, origins, authority))) return undefined
  return new GatewayError(
    'svc.error.forbidden',
    'WebSocket connections from this origin are not allowed',
    sent.every((each) => each === 'nothing') ? {} : { description: EXPECTED },
  )
}

const EXPECTED =
  'With a cookie, a password or by its network alone, the Origin must be that of the gateway, or be in allowed_origins of the realm.'

type SentAlong = SchemeTraits['sentByBrowsers'] | 'network'

/** What a browser would send by itself to show who connects: a header decides alone (behaviour §6). */
const sentAlong = (
  security: CompiledSecurity,
  request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
): readonly SentAlong[] => {
  const { headers } = request
  const { schemes, source } = schemesOfRequest(security, { request })
  if (source === 'header')
    return schemes.map((each) =>
      isCookieKey(each) ? 'cookie' : withoutCookie(SCHEMES[each.type].sentByBrowsers),
    )
  const isByCookie = schemes.length > 0 && headers.cookie !== undefined
  return security.map(({ type, networks }): SentAlong => {
    if (type === 'anonymous') return networks === undefined ? 'nothing' : 'network'
    const sent = SCHEMES[type].sentByBrowsers
    return isByCookie ? sent : withoutCookie(sent)
  })
}

const withoutCookie = (sent: SentAlong): SentAlong => (sent === 'cookie' ? 'nothing' : sent)

type OriginRule = (
  origin: string | undefined,
  origins: RealmOrigins,
  authority: Authority,
) => boolean

const RULES = {
  // Host is not trustworthy here: any name may lead to an address of the network.
  network: (origin, { listed, own }) =>
    origin === undefined || listed.includes(origin) || own.includes(origin),
  cookie: (origin, { listed, own }) =>
    origin !== undefined && (listed.includes(origin) || own.includes(origin)),
  // A browser sends a password to the host that it was given for, so Host is trustworthy here.
  password: (origin, { listed, own }, { host, port }) =>
    origin === undefined ||
    listed.includes(origin) ||
    (listed.length === 0 &&
      (own.includes(origin) || hostOf(origin) === (port === '' ? host : `${host}:${port}`))),
  nothing: (origin, { listed }) =>
    origin === undefined || listed.length === 0 || listed.includes(origin),
} as const satisfies Record<SentAlong, OriginRule>

/** The origin `null` has none. */
const hostOf = (origin: string): string | undefined => origin.split('://')[1]

/** 426 (RFC 9110 §15.5.22). */
export const upgradeRequired = (
  message: string,
  headers: Readonly<Record<string, string>> = {},
): GatewayError =>
  new GatewayError('svc.error.upgrade_required', message, {
    headers: { ...headers, connection: 'close, upgrade', upgrade: 'websocket' },
  })

const textsOf = (header: string): readonly string[] =>
  header
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
