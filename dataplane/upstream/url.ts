// Builds the request target of a forward from an evaluated path and query, so that it stays on its origin. Invalid
// ones are rejected with `svc.error.invalid_data`.

import { GatewayError } from '../gateway-error.ts'

/**
 * Returns the request target of a path and a query (without `?`): byte for byte the same, except that spaces, `#` and
 * non-ASCII characters are percent-encoded. A `?` in the path begins the query.
 *
 * A client's own path was matched by its decoded segments: a path that some server may read as other segments is
 * rejected.
 *
 * @throws GatewayError `svc.error.invalid_data` for a target that would leave the origin or climb in it, or contains
 * a control character
 * @example
 * requestTarget('/a b', 'q[]=1') // '/a%20b?q[]=1'
 */
export const requestTarget = (path: string, query: string): string => {
  if (CLEAN_PATH.test(path)) return query === '' ? path : `${path}?${encodeQuery(query)}`
  const mark = path.indexOf('?')
  const bare = mark < 0 ? path : path.slice(0, mark)
  const own = mark < 0 ? '' : path.slice(mark + 1)
  const target = encodePath(bare)
  const whole = own !== '' && query !== '' ? `${own}&${query}` : own + query
  return whole === '' ? target : `${target}?${encodeQuery(whole)}`
}

/** Encodes one segment of a path, or one value of a query, so that its content cannot end it or begin another. */
export const encodePart = (text: string): string => encodeURIComponent(text.toWellFormed())

/**
 * `encodePart` for a segment of a path, in which more characters stand for themselves (RFC 3986 §3.3): servers route by
 * `:verb`, and an encoded one is another URI (§2.2). `;` stays encoded, as servers cut there.
 */
export const encodeSegment = (text: string): string =>
  encodePart(text).replace(STANDS_IN_SEGMENT, decodeURIComponent)

const STANDS_IN_SEGMENT = /%(?:3A|40|2C|3D|2B|24|26)/g

/**
 * Encodes a path that is not the client's own, or a piece of one: what RFC 3986 allows, and what `requestTarget`
 * rejects, stays.
 */
export const encodePathText = (text: string): string => encodeUnless(text, NOT_IN_PATH)

/** The same of a query. */
export const encodeQueryText = (text: string): string => encodeUnless(text, NOT_IN_QUERY)

// Nothing to encode and no dot that could make a dot segment: most paths.
const CLEAN_PATH = /^(?:\/(?!\.)[A-Za-z0-9\-._~!$&'()*+,:@]*)+$/

const encodePath = (path: string): string => {
  if (path === '') return '/'
  if (!path.startsWith('/')) throw refused('does not begin with a slash')
  if (FORBIDDEN.test(path)) throw refused('contains a control character or backslash')
  if (hasDotSegment(path)) throw refused("contains a '.' or '..' segment")
  return encodeUnless(path, NOT_IN_TARGET)
}

const encodeQuery = (query: string): string => {
  if (CLEAN_QUERY.test(query)) return query
  if (CONTROL.test(query)) throw refused('contains a control character in its query')
  return encodeUnless(query, NOT_IN_TARGET)
}

const CLEAN_QUERY = /^[\x21\x22\x24-\x7e]*$/
const CONTROL = /\p{Cc}/u
const FORBIDDEN = /[\\\p{Cc}]/u

// Characters that end a target, begin a fragment, or are not ASCII; all others reach the upstream as they are.
const NOT_IN_TARGET = /[^\x21\x22\x24-\x7e]+/gu

// RFC 3986 §3.3, §3.4; also a percent sign that begins no escape.
const NOT_IN_PATH = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%\\\p{Cc}]+/gu
const NOT_IN_QUERY = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%\p{Cc}]+/gu

const encodeUnless = (text: string, unfit: RegExp): string =>
  text.toWellFormed().replace(unfit, encodeURIComponent)

/**
 * Also in the spellings that some servers decode before they resolve dots: `%2e`, `..%2f`, `..%5c`, `..;a` and `..%3b`
 * (path parameters), `..%00` (the end of a text).
 */
const hasDotSegment = (path: string): boolean => {
  if (!path.includes('.') && !path.includes('%')) return false
  const plain = path
    .replace(/%2e/gi, '.')
    .replace(/%2f|%5c/gi, '/')
    .replace(/%3b|%00/gi, ';')
  return DOT_SEGMENT.test(plain)
}

const DOT_SEGMENT = /(?:^|\/)\.{1,2}(?:[/;]|$)/

const refused = (what: string): GatewayError =>
  new GatewayError('svc.error.invalid_data', `The path to forward to ${what}.`, {
    description:
      'A path must begin with a slash and stay below it; encode data as single segments.',
    member: '/action/path',
  })
