// Decides where a browser may be sent for the `redirect_uri` of a login or logout. Anything that is not certainly the
// own origin or an allowed one becomes `/`. It uses the same parser as browsers (WHATWG URL).

export interface RedirectRule {
  /** `--base-url`, otherwise the origin of the provider's `redirect_uri`; undefined: only paths are accepted. */
  readonly ownOrigin: string | undefined
  /** `allowed_redirect_origins`; `*` accepts every http(s) origin. */
  readonly allowedOrigins: readonly string[]
}

export interface RedirectTarget {
  /** As written, except that spaces and characters outside ASCII are percent-encoded. */
  readonly location: string
  readonly isRefused: boolean
}

/**
 * behaviour §6, *redirect_uri*.
 * @param text decoded once, never again
 * @example chooseTarget('//evil.example', rule) // { location: '/', isRefused: true }
 */
export const chooseTarget = (text: string, rule: RedirectRule): RedirectTarget => {
  const location = written(text)
  const isAccepted =
    location !== undefined &&
    (location.startsWith('/') ? isOwnPath(location, rule) : isAllowedUrl(location, rule))
  return isAccepted ? { location, isRefused: false } : { location: '/', isRefused: true }
}

/** @example originOf('https://api.example.com/v1') // 'https://api.example.com' */
export const originOf = (url: string | undefined): string | undefined => {
  const parsed = parseUrl(url ?? '')
  return parsed !== undefined && isHttp(parsed) ? parsed.origin : undefined
}

/** The authorization URL contains the state, which contains this: together they stay below 8 kB. */
const MAX_CHARS = 2048

// Browsers treat a backslash as a slash, and drop tabs and line breaks anywhere.
const UNSAFE = /[\\\p{Cc}]/u
const TO_ENCODE = /[^\x21-\x7e]+/gu

const written = (text: string): string | undefined => {
  if (UNSAFE.test(text)) return undefined
  const location = text.toWellFormed().replace(TO_ENCODE, encodeURIComponent)
  return location.length > MAX_CHARS ? undefined : location
}

/** A path can be resolved against any base; this one is reserved (RFC 6761). */
const NO_ORIGIN = 'https://own.invalid'

const isOwnPath = (path: string, { ownOrigin = NO_ORIGIN }: RedirectRule): boolean => {
  if (path.startsWith('//')) return false
  const url = parseUrl(path, ownOrigin)
  // A parser turns `/.//evil.example` into `//evil.example`, which an application that reads the path back would
  // follow.
  return url?.origin === ownOrigin && !url.pathname.startsWith('//') && !isOidcEndpoint(url)
}

// Exactly two slashes: browsers add missing ones and skip the third.
const ABSOLUTE = /^https?:\/\/([^/?#]+)/i

const isAllowedUrl = (text: string, rule: RedirectRule): boolean => {
  const authority = ABSOLUTE.exec(text)?.[1]
  if (authority === undefined || authority.includes('@')) return false
  const url = parseUrl(text)
  if (url === undefined || isOidcEndpoint(url)) return false
  if (url.origin === rule.ownOrigin) return true
  return rule.allowedOrigins.some((allowed) => allowed === '*' || originOf(allowed) === url.origin)
}

/**
 * Built-in endpoints below any base path, in every spelling that the router accepts for them: such a target would log
 * out, or log in again in a loop.
 */
const isOidcEndpoint = ({ pathname }: URL): boolean => {
  const segments = pathname.split('/').map(decoded)
  while (segments.at(-1) === '') segments.pop()
  const last = segments.at(-1) ?? ''
  return (
    (DIRECT.has(last) && segments.at(-2) === 'oidc') ||
    (OF_PROVIDER.has(last) && segments.at(-3) === 'oidc')
  )
}

const DIRECT: ReadonlySet<string> = new Set(['login', 'logout', 'verify'])
const OF_PROVIDER: ReadonlySet<string> = new Set(['callback', 'backchannel-logout'])

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

const parseUrl = (text: string, base?: string): URL | undefined =>
  URL.parse(text, base) ?? undefined
