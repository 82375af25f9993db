// The `redirect_uri` of login or logout in, where the browser may be sent out. What is not surely the own
// origin or an allowed one becomes `/`. Pure; the same parser as browsers' judges (WHATWG URL).

export interface RedirectRule {
  /** `--base-url`, else the origin of the provider's `redirect_uri`; undefined: only paths are accepted. */
  readonly ownOrigin: string | undefined
  /** `allowed_redirect_origins`; `*` accepts every http(s) origin. */
  readonly allowedOrigins: readonly string[]
}

export interface RedirectTarget {
  /** As it was written, but for blanks and characters outside ASCII, which are percent-encoded. */
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

/** The authorization URL carries the state, which carries this: together they stay below 8 kB. */
const MAX_CHARS = 2048

// A backslash is a slash to browsers, and they drop tabs and line breaks wherever they stand.
const UNSAFE = /[\\\p{Cc}]/u
const TO_ENCODE = /[^\x21-\x7e]+/gu

const written = (text: string): string | undefined => {
  if (UNSAFE.test(text)) return undefined
  const location = text.toWellFormed().replace(TO_ENCODE, encodeURIComponent)
  return location.length > MAX_CHARS ? undefined : location
}

/** For a path any base will do; this one is nobody's (RFC 6761). */
const NO_ORIGIN = 'https://own.invalid'

const isOwnPath = (path: string, { ownOrigin = NO_ORIGIN }: RedirectRule): boolean => {
  if (path.startsWith('//')) return false
  const url = parseUrl(path, ownOrigin)
  // A parser makes `//evil.example` of `/.//evil.example`: an application that reads the path back would leave.
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
 * The gateway's own endpoints below whatever base path, in every spelling that the router takes for them: a
 * target that logs out, or that logs in again without end.
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
