// Parses the host that a request is for, from a Host header or an absolute target. It is the only parser of it:
// routing, expressions, headers to upstreams, origin checks, logs and traces use its result and never the text.

import { canonicalIpv6 } from './host-pattern.ts'
import { RecentMap } from '../../base/recent-map.ts'

/** RFC 3986 §3.2, without userinfo. */
export interface Authority {
  /** Lower case; an IPv6 address in brackets, in its canonical spelling. A dot at either end stays. */
  readonly host: string
  /** Decimal, 1 to 65535; `''` where none is named. */
  readonly port: string
  /** Host and port in the client's own spelling. */
  readonly text: string
}

/** That of an HTTP/1.0 request without Host, and of a request that is rejected for its head. */
export const NO_AUTHORITY: Authority = Object.freeze({ host: '', port: '', text: '' })

export type ReadAuthority = (text: string) => Authority | undefined

/**
 * undefined: the text names no host, or more than a host and a port (RFC 9112 §3.2: to be answered with 400). RFC 3986
 * allows commas, quotes and percent-escapes in a name; no DNS name has them, and an upstream that reads
 * `X-Forwarded-Host` as a list would see another host than the one that was routed by.
 * @example parseAuthority('API.acme.com:8443') // {host: 'api.acme.com', port: '8443', text: 'API.acme.com:8443'}
 */
export const parseAuthority: ReadAuthority = (text) => {
  const [whole, name, port = ''] = AUTHORITY.exec(text) ?? []
  if (name === undefined || Number(port) > MAX_PORT) return undefined
  if (name === '') return whole === '' ? NO_AUTHORITY : undefined
  const host = name.startsWith('[') ? canonicalIpv6(name) : name.toLowerCase()
  if (host === undefined) return undefined
  return { host, port, text: port === '' ? name : `${name}:${port}` }
}

const AUTHORITY = /^([\w.-]*|\[[\d:.a-f]+\])(?::([1-9]\d{0,4})?)?$/i
const MAX_PORT = 65_535

const REMEMBERED = 1024

/** `parseAuthority` for a hot path: caches what it has parsed, and returns the same string for the same host. */
export const createAuthorityReader = (): ReadAuthority => {
  const recent = new RecentMap<Authority>(REMEMBERED)
  return (text) => {
    const known = recent.get(text)
    if (known !== undefined) return known
    const authority = parseAuthority(text)
    if (authority !== undefined) recent.set(text, authority)
    return authority
  }
}
