// Keeps cookies of Set-Cookie lines and makes Cookie headers of them, by the rules of a browser (RFC 6265bis):
// prefixes, domains, paths, Secure, SameSite, lifetimes, 4096 bytes. What a browser would not take, it does not take.

export interface JarCookie {
  readonly name: string
  readonly value: string
  readonly domain: string
  /** Without a Domain attribute: for this host alone. */
  readonly isHostOnly: boolean
  readonly path: string
  readonly isSecure: boolean
  readonly sameSite: 'strict' | 'lax' | 'none'
  /** Unix time, milliseconds; Infinity: as long as the browser is open. */
  readonly until: number
}

export interface JarVisit {
  readonly url: URL
  readonly method: string
  /** Whether the page that leads there is of the same site, or there is none. */
  readonly isSameSite: boolean
}

const MAX_PAIR_BYTES = 4096

/** @example jar.keep(url, response.setCookies); jar.header({ url, method: 'GET', isSameSite: true }) */
export class CookieJar {
  #cookies: JarCookie[] = []
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Whether each of the lines was taken, or took a cookie away. */
  keep(url: URL, lines: readonly string[]): readonly boolean[] {
    return lines.map((line) => {
      const cookie = parseCookie(url, line, this.#now())
      if (cookie === undefined) return false
      this.#cookies = this.#cookies.filter((other) => !isSameCookie(cookie, other))
      if (cookie.until > this.#now()) this.#cookies.push(cookie)
      return true
    })
  }

  /** undefined: nothing to send. */
  header(visit: JarVisit): string | undefined {
    const sent = this.#cookies
      .filter((cookie) => isSent(cookie, visit, this.#now()))
      .toSorted((one, other) => other.path.length - one.path.length)
    return sent.length === 0
      ? undefined
      : sent.map(({ name, value }) => `${name}=${value}`).join('; ')
  }

  /** Of whatever host. */
  get(name: string): JarCookie | undefined {
    return this.#cookies.find((cookie) => cookie.name === name)
  }

  get cookies(): readonly JarCookie[] {
    return this.#cookies
  }

  /** As if somebody had tampered with it, or the cookie had come from elsewhere. */
  put(cookie: JarCookie): void {
    this.#cookies = [...this.#cookies.filter((other) => !isSameCookie(cookie, other)), cookie]
  }

  remove(name: string): void {
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name)
  }
}

const isSameCookie = (one: JarCookie, other: JarCookie): boolean =>
  one.name === other.name && one.domain === other.domain && one.path === other.path

const parseCookie = (url: URL, line: string, nowMs: number): JarCookie | undefined => {
  const [pair = '', ...parts] = line.split(';').map((part) => part.trim())
  const cut = pair.indexOf('=')
  if (cut < 1 || Buffer.byteLength(pair) > MAX_PAIR_BYTES) return undefined
  const attributes = new Map(
    parts.map((part) => {
      const [name = '', ...value] = part.split('=')
      return [name.toLowerCase(), value.join('=')]
    }),
  )
  const domain = attributes.get('domain')?.replace(/^\./, '').toLowerCase()
  const path = attributes.get('path')
  const cookie: JarCookie = {
    name: pair.slice(0, cut),
    value: pair.slice(cut + 1),
    domain: domain ?? url.hostname,
    isHostOnly: domain === undefined,
    path: path?.startsWith('/') === true ? path : defaultPath(url),
    isSecure: attributes.has('secure'),
    sameSite: sameSiteOf(attributes.get('samesite')),
    until: untilOf(attributes, nowMs),
  }
  return isAllowed(cookie, url) ? cookie : undefined
}

const isAllowed = (cookie: JarCookie, url: URL): boolean => {
  if (!cookie.isHostOnly && !isInDomain(url.hostname, cookie.domain)) return false
  if (cookie.isSecure && !isTrustworthy(url)) return false
  if (cookie.sameSite === 'none' && !cookie.isSecure) return false
  if (cookie.name.startsWith('__Secure-')) return cookie.isSecure
  if (cookie.name.startsWith('__Host-'))
    return cookie.isSecure && cookie.isHostOnly && cookie.path === '/'
  return true
}

const isSent = (cookie: JarCookie, { url, method, isSameSite }: JarVisit, now: number): boolean => {
  if (cookie.until <= now || (cookie.isSecure && !isTrustworthy(url))) return false
  const isHere = cookie.isHostOnly
    ? url.hostname === cookie.domain
    : isInDomain(url.hostname, cookie.domain)
  if (!isHere || !isBelow(url.pathname, cookie.path)) return false
  if (isSameSite || cookie.sameSite === 'none') return true
  return cookie.sameSite === 'lax' && method === 'GET'
}

const isInDomain = (host: string, domain: string): boolean =>
  host === domain || (host.endsWith(`.${domain}`) && !/^[\d.]+$/.test(host))

const isBelow = (path: string, of: string): boolean =>
  path === of || (path.startsWith(of) && (of.endsWith('/') || path.charAt(of.length) === '/'))

const defaultPath = ({ pathname }: URL): string => {
  const end = pathname.lastIndexOf('/')
  return end < 1 ? '/' : pathname.slice(0, end)
}

/** Browsers trust loopback like https. */
const isTrustworthy = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || hostname === 'localhost' || hostname.startsWith('127.')

const sameSiteOf = (text: string | undefined): JarCookie['sameSite'] => {
  const lower = text?.toLowerCase()
  return lower === 'strict' || lower === 'none' ? lower : 'lax'
}

const untilOf = (attributes: ReadonlyMap<string, string>, nowMs: number): number => {
  const maxAge = attributes.get('max-age')
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return nowMs + Number(maxAge) * 1000
  const expires = Date.parse(attributes.get('expires') ?? '')
  return Number.isNaN(expires) ? Infinity : expires
}
