// Parses the address of a router into what to connect to, or says what is wrong with it. It looks nothing up and opens
// nothing, and shows people no user name, password or query of the address.

export type RouterUrl = WebSocketUrl | RawSocketUrl | UnixSocketUrl

export interface WebSocketUrl {
  readonly kind: 'websocket'
  /** With user info, which goes out as Basic authentication, and with the query. */
  readonly href: string
}

export interface RawSocketUrl {
  readonly kind: 'rawsocket'
  readonly isSecure: boolean
  /** A name or an address; IPv6 without brackets. */
  readonly host: string
  readonly port: number
}

export interface UnixSocketUrl {
  readonly kind: 'rawsocket-unix'
  readonly path: string
}

export interface InvalidRouterUrl {
  readonly kind: 'invalid'
  readonly why: string
}

/**
 * `ws://host[:port]/path`, `wss://…`; `rs://host:port`, `rss://host:port`; `rs+unix:/path`, `unix:/path`.
 *
 * @example
 * parseRouterUrl('rs://router.test:9000') // { kind: 'rawsocket', isSecure: false, host: 'router.test', port: 9000 }
 */
export const parseRouterUrl = (text: string): RouterUrl | InvalidRouterUrl => {
  const url = URL.parse(text)
  if (url === null) return invalid('it is no URL')
  if (url.hash !== '') return invalid('a router URL has no fragment')
  const parse = SCHEMES.get(url.protocol)
  return parse?.(url) ?? invalid('its scheme is none of ws, wss, rs, rss, rs+unix, unix')
}

/**
 * For messages: without user info and query.
 *
 * @example
 * describeRouterUrl('wss://me:secret@router.test/ws?token=1') // 'wss://router.test/ws'
 */
export const describeRouterUrl = (text: string): string => {
  const url = URL.parse(text)
  if (url === null || !SCHEMES.has(url.protocol)) return 'the router URL'
  const authority = url.host === '' ? '' : `//${url.host}`
  return `${url.protocol}${authority}${url.pathname}`
}

/**
 * Where a `ws` or `wss` URL leads; IPv6 without brackets.
 *
 * @example
 * endpointOf(new URL('wss://[::1]/ws')) // { host: '::1', port: 443 }
 */
export const endpointOf = ({
  protocol,
  hostname,
  port,
}: URL): { readonly host: string; readonly port: number } => ({
  host: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
  port: port === '' ? (protocol === 'wss:' ? 443 : 80) : Number(port),
})

const invalid = (why: string): InvalidRouterUrl => ({ kind: 'invalid', why })

const webSocket = (url: URL): RouterUrl | InvalidRouterUrl =>
  url.port === '0' ? invalid('its port is 0') : { kind: 'websocket', href: url.href }

const rawSocket = (url: URL): RouterUrl | InvalidRouterUrl => {
  if (url.port === '' || url.port === '0') return invalid('a RawSocket URL names host and port')
  if (hasUserInfo(url)) return invalid('a RawSocket URL has no user info')
  if (url.search !== '' || (url.pathname !== '' && url.pathname !== '/'))
    return invalid('a RawSocket URL ends with its port')
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  if (host.includes('%')) return invalid('its host has characters that no host name has')
  return { kind: 'rawsocket', isSecure: url.protocol === 'rss:', host, port: Number(url.port) }
}

/** `sun_path` holds so many bytes on Linux, its NUL not counted (unix(7)). */
const MAX_UNIX_PATH_BYTES = 107

const unixSocket = (url: URL): RouterUrl | InvalidRouterUrl => {
  if (url.host !== '' || hasUserInfo(url) || url.search !== '' || url.pathname.length < 2)
    return invalid('it names no absolute path alone, as unix:/run/router.sock does')
  if (!url.pathname.startsWith('/')) return invalid('its path is not absolute')
  const path = decoded(url.pathname)
  if (path === undefined || path.includes('\0')) return invalid('its path is badly encoded')
  if (Buffer.byteLength(path) > MAX_UNIX_PATH_BYTES)
    return invalid(`its path has more than ${MAX_UNIX_PATH_BYTES} bytes`)
  return { kind: 'rawsocket-unix', path }
}

const SCHEMES: ReadonlyMap<string, (url: URL) => RouterUrl | InvalidRouterUrl> = new Map([
  ['ws:', webSocket],
  ['wss:', webSocket],
  ['rs:', rawSocket],
  ['rss:', rawSocket],
  ['rs+unix:', unixSocket],
  ['unix:', unixSocket],
])

const hasUserInfo = (url: URL): boolean => url.username !== '' || url.password !== ''

const decoded = (pathname: string): string | undefined => {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return undefined
  }
}
