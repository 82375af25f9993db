// Reads the request that is to be explained: method, URL and headers as a client would send them. Everything is bounded,
// and nothing is decoded or normalised.

import { isHeaderName, isHeaderValue } from '../compile/headers.ts'
import type { Scheme } from '../document.ts'
import { type Authority, parseAuthority } from '../routes/authority.ts'
import { readTarget, type Target } from '../routes/request-target.ts'

/** As text: what a person or a program has given. */
export interface ExplainRequest {
  readonly method: string
  /** Absolute, or a path with a Host among the headers. */
  readonly url: string
  /** `Name: value` */
  readonly headers: readonly string[]
}

export interface ReadRequest {
  readonly method: string
  readonly scheme: Scheme
  readonly authority: Authority
  readonly target: Target
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly hasBody: boolean
}

export type RequestReading =
  | { readonly request: ReadRequest }
  /** A whole sentence, without what was given. */
  | { readonly error: string }

const MAX_URL_CHARACTERS = 8192
const MAX_HEADERS = 100
const MAX_HEADER_CHARACTERS = 16_384

/** @example readRequest({ method: 'GET', url: 'https://api.acme.com/users', headers: [] }) */
export const readRequest = ({ method, url, headers: lines }: ExplainRequest): RequestReading => {
  const unfit = textError(method, url)
  if (unfit !== undefined) return error(unfit)
  const headers = readHeaders(lines)
  if (typeof headers === 'string') return error(headers)
  const target = readTarget(url.replace(/#.*$/s, ''))
  if (typeof target === 'string')
    return error('the URL must begin with http:// or https://, or be a path with a Host header')
  const hosts = headers.get('host') ?? []
  if (hosts.length > 1) return error('there are two Host headers')
  const host = hosts[0] ?? target.authority
  if (host === undefined) return error('a path alone needs its host: give -H "Host: api.acme.com"')
  const authority = host.includes('@') ? undefined : parseAuthority(host)
  if (authority === undefined || authority.host === '')
    return error('the host of the URL is not valid: a name or an address, with or without a port')
  return {
    request: {
      method,
      scheme: /^https:/i.test(url) ? 'https' : 'http',
      authority,
      target: { path: target.path, query: target.query },
      headers,
      hasBody: bodyIn(headers),
    },
  }
}

const textError = (method: string, url: string): string | undefined => {
  if (!isHeaderName(method) || method.length > 32)
    return 'the method is not a token such as GET, of at most 32 characters'
  if (url.length > MAX_URL_CHARACTERS)
    return `the URL has more than ${MAX_URL_CHARACTERS} characters`
  return /^[\x21-\x7e]+$/.test(url)
    ? undefined
    : 'the URL may hold no blanks and no characters outside ASCII: percent-encode them'
}

const error = (words: string): RequestReading => ({ error: words })

const readHeaders = (lines: readonly string[]): ReadonlyMap<string, readonly string[]> | string => {
  if (lines.length > MAX_HEADERS) return `there are more than ${MAX_HEADERS} headers`
  let characters = 0
  const headers = new Map<string, readonly string[]>()
  for (const line of lines) {
    characters += line.length
    if (characters > MAX_HEADER_CHARACTERS)
      return `the headers have more than ${MAX_HEADER_CHARACTERS} characters`
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (!isHeaderName(name) || !isHeaderValue(value))
      return "a header must read 'Name: value', without line breaks"
    headers.set(name, [...(headers.get(name) ?? []), value])
  }
  return headers
}

/** A Content-Type announces a body here: who asks need not count its bytes. */
const bodyIn = (headers: ReadonlyMap<string, readonly string[]>): boolean =>
  Number(headers.get('content-length')?.[0] ?? 0) > 0 ||
  headers.has('transfer-encoding') ||
  (headers.has('content-type') && !headers.has('content-length'))

/** Several lines count as one list; undefined: there is none. */
export const headerOf = ({ headers }: ReadRequest, name: string): string | undefined =>
  headers.get(name)?.join(', ')

/** Headers whose values decide which route takes a request, or what it lacks. */
const DECIDING: ReadonlySet<string> = new Set([
  'host',
  'accept',
  'content-type',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-fetch-site',
])

/**
 * A header with nothing left of its value but what decides: of `Authorization` the scheme, of others that there is one.
 * @example withoutCredentials('Authorization: Basic YTpi') // 'Authorization: Basic (hidden)'
 */
export const withoutCredentials = (line: string): string => {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0))
  const value = line.slice(colon + 1).trim()
  if (value === '' || DECIDING.has(name.toLowerCase())) return line
  const scheme = name.toLowerCase() === 'authorization' ? /^[\w-]{1,32} /.exec(value)?.[0] : ''
  return `${name}: ${scheme ?? ''}(hidden)`
}
