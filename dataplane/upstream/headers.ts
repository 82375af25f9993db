// Decides which headers cross the gateway, in both directions (behaviour §4). Framing headers are never copied, but
// always created here.

import { isHeaderName, isHeaderValue } from '../../language/compile/headers.ts'
import { toHeaderMap } from '../../language/expression/header-map.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import { dashed, HOP_BY_HOP_NAMES, UNSENT_IN_REQUESTS } from '../../language/unsent-headers.ts'
import type { WebSocketOffer } from '../web-socket-switch.ts'
import { addConnectionNames } from '../header-map.ts'
import { writeHeaderText } from '../header-text.ts'
import { createHeaderBudget, HEADERS_TOO_LARGE, takeHeader } from '../header-budget.ts'
import { setsOwnCookie, withoutOwnCookies } from '../own-cookies.ts'

/** name, value, name, value; names lower case */
export type HeaderList = string[]

/**
 * Clients could forge these; a document may set them. Some servers (IIS, older Symfony and Zend) route by the two URLs
 * instead of the path, which would bypass the security of the path. CGI makes `HTTP_PROXY` of the last one, by which
 * programs choose where their own requests go.
 */
const CLAIMS: ReadonlySet<string> = new Set([
  'forwarded',
  'x-real-ip',
  'x-original-url',
  'x-rewrite-url',
  'proxy',
])

/** Never sent upstream from a client. Servers read `_` as `-`, so both spellings count as one name. */
const isWithheld = (name: string): boolean => {
  const plain = dashed(name)
  return UNSENT_IN_REQUESTS.has(plain) || isClaim(plain)
}

const isClaim = (plain: string): boolean =>
  CLAIMS.has(plain) || plain.startsWith('x-forwarded') || plain.startsWith('x-svc-')

/**
 * Selects the headers of a client that are sent to the upstream.
 *
 * @param raw in the form of `IncomingMessage.rawHeaders`
 * @param credentials `dashed` names of the headers that the gateway verifies, and so removes
 * @example
 * fromClient(['Host', 'a', 'Accept', '*\/*'], []) // ['accept', '*\/*']
 */
export const fromClient = (raw: readonly string[], credentials: readonly string[]): HeaderList => {
  const list: HeaderList = []
  let named: Set<string> | undefined
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    const value = raw[at + 1] ?? ''
    if (name === 'connection') named = addConnectionNames(named, value)
    else if (!isWithheld(name) && !credentials.includes(dashed(name))) add(list, name, value)
  }
  return named === undefined ? list : without(list, named)
}

/** The list with this `authorization` alone, as a new one: whatever the client or the document has sent is left out. */
export const withAuthorization = (list: readonly string[], value: string): HeaderList => {
  const headers: HeaderList = []
  for (let at = 0; at + 1 < list.length; at += 2)
    if (list[at] !== 'authorization') headers.push(list[at] ?? '', list[at + 1] ?? '')
  headers.push('authorization', value)
  return headers
}

/** With the handshake of the client (RFC 6455 §4.1), whatever the document has written of one. */
export const withWebSocketOffer = (
  list: readonly string[],
  { key, protocols, extensions }: WebSocketOffer,
): HeaderList => {
  const headers: HeaderList = []
  for (let at = 0; at + 1 < list.length; at += 2)
    if (!dashed(list[at] ?? '').startsWith('sec-websocket-'))
      headers.push(list[at] ?? '', list[at + 1] ?? '')
  headers.push('sec-websocket-version', '13', 'sec-websocket-key', key)
  if (protocols.length > 0) headers.push('sec-websocket-protocol', protocols.join(', '))
  if (extensions !== '') headers.push('sec-websocket-extensions', extensions)
  return headers
}

export interface DocumentHeaders {
  readonly list: HeaderList
  /** The first name or value that is not valid in a header. */
  readonly problem?: string
}

/** How the headers of a document are read. */
export interface DocumentReading {
  readonly toText: (value: Value) => string
  /** Whether the client sent the same value under this `dashed` name. */
  readonly isClients: (plain: string, value: string) => boolean
  /** `request.headers`, as the document has read them. */
  readonly clients: ValueMap
  /** Names, in lower case, that are known to be the document's own. */
  readonly written: ReadonlySet<string>
  /** Names that it takes away. */
  readonly dropped: ReadonlySet<string>
  /** As in `fromClient`; empty if the document names its headers one by one. */
  readonly credentials: readonly string[]
}

/**
 * Selects the headers of a document that are sent to the upstream. A claim or credential that is just the client's
 * own value passed on (`{{request.headers}}`) is the client's, and removed.
 */
export const fromDocument = (map: ValueMap, reading: DocumentReading): DocumentHeaders => {
  const { toText, isClients, clients, credentials } = reading
  const list: HeaderList = []
  const budget = createHeaderBudget()
  const headers = toHeaderMap(map)
  const disguised = disguisedNames(headers, reading)
  for (const [name, written] of Object.entries(headers)) {
    if (!isHeaderName(name)) return { list, problem: `'${name.slice(0, 64)}' is not a header name` }
    const plain = dashed(name)
    if (UNSENT_IN_REQUESTS.has(plain) || disguised.has(name)) continue
    for (const value of textsOf(written, toText)) {
      if (!takeHeader(budget, value)) return { list, problem: HEADERS_TOO_LARGE }
      if (!isHeaderValue(value)) {
        return {
          list,
          problem: `the value of header '${name}' contains a line break or control character`,
        }
      }
      const isSuspect = credentials.includes(plain) || isClaim(plain)
      if (!isSuspect || !(isPassedOn(name, value, clients) || isClients(plain, value)))
        add(list, name, writeHeaderText(name, value))
    }
  }
  return { list }
}

const isPassedOn = (name: string, value: Value, clients: ValueMap): boolean =>
  ownValue(clients, name) === value

const NONE: ReadonlySet<string> = new Set()

/**
 * Names of the client beside which there is the same one with `-` for `_`, or that the document has written or taken
 * away: CGI and WSGI make one variable of both, and may take the client's value (`x_user` beside the document's
 * `x-user`). A value of the document may happen to be what the client sent; so `x-user` always counts more.
 */
const disguisedNames = (
  headers: ValueMap,
  { clients, written, dropped }: DocumentReading,
): ReadonlySet<string> => {
  const names = Object.keys(headers)
  if (!names.some((name) => name.includes('_'))) return NONE
  const isOfClient = (name: string): boolean =>
    !written.has(name) && isPassedOn(name, headers[name] ?? null, clients)
  const ofDocument = new Set(names.filter((name) => !isOfClient(name)).map(dashed))
  const isDisguised = (name: string): boolean => {
    const plain = dashed(name)
    return (
      ofDocument.has(plain) ||
      (name !== plain && (Object.hasOwn(headers, plain) || dropped.has(plain)))
    )
  }
  return new Set(names.filter((name) => isOfClient(name) && isDisguised(name)))
}

/** Null means no header, a list several. */
function* textsOf(value: Value, toText: (value: Value) => string): Generator<string, void> {
  if (value === null) return
  if (Array.isArray(value)) for (const item of value as readonly Value[]) yield toText(item)
  else yield toText(value)
}

const add = (list: HeaderList, name: string, value: string): void => {
  const passed = name === 'cookie' ? withoutOwnCookies(value) : value
  if (passed !== undefined) list.push(name, passed)
}

/**
 * Selects the headers of an upstream's response that are sent to the client: names in lower case, in order,
 * end-to-end only. `content-length` stays, unless the response was chunked as well. Only the gateway sets its own
 * cookies: with one an upstream could log a browser in as another user.
 */
export const fromUpstream = (
  raw: readonly (string | Buffer)[],
): [name: string, value: string][] => {
  const pairs: [string, string][] = []
  let named: Set<string> | undefined
  let isChunked = false
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = textOf(raw[at]).toLowerCase()
    const value = textOf(raw[at + 1])
    if (name === 'connection') named = addConnectionNames(named, value)
    else if (name === 'transfer-encoding') isChunked = true
    else if (!HOP_BY_HOP_NAMES.has(name) && !(name === 'set-cookie' && setsOwnCookie(value)))
      pairs.push([name, value])
  }
  if (named === undefined && !isChunked) return pairs
  return pairs.filter(
    ([name]) => !(named?.has(name) ?? false) && !(isChunked && name === 'content-length'),
  )
}

/**
 * Whether a response has a transfer coding other than `chunked`, once: the gateway does not decode it, and a client
 * that gets the bytes without its name could not either (RFC 9112 §6.1).
 */
export const hasForeignCoding = (raw: readonly (string | Buffer)[]): boolean => {
  let isChunked = false
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]
    if (name?.length !== CODING_NAME.length || textOf(name).toLowerCase() !== CODING_NAME) continue
    if (isChunked || textOf(raw[at + 1]).toLowerCase() !== 'chunked') return true
    isChunked = true
  }
  return false
}

const CODING_NAME = 'transfer-encoding'

/**
 * All values of a header, as the client sent them.
 *
 * @param name lower case
 */
export const valuesOf = (raw: readonly (string | Buffer)[], name: string): readonly string[] => {
  const values: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const each = raw[at]
    if (each?.length === name.length && textOf(each).toLowerCase() === name)
      values.push(textOf(raw[at + 1]))
  }
  return values
}

const textOf = (part: string | Buffer | undefined): string =>
  typeof part === 'string' ? part : (part?.toString('latin1') ?? '')

const without = (list: HeaderList, names: ReadonlySet<string>): HeaderList => {
  const passed: HeaderList = []
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = list[at] ?? ''
    if (!names.has(name)) passed.push(name, list[at + 1] ?? '')
  }
  return passed
}
