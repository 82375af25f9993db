// Writes one HTTP response, as one flat header list and one string where possible, so that node makes a single write of
// it.

import type { ServerResponse } from 'node:http'
import { createInterner, identityOf } from '../../../base/intern.ts'
import { type Framing, frameResponse, isAlwaysEmpty } from '../../framing.ts'
import { headLines, presetHead } from './raw-head.ts'
import { EVENT_STREAM } from '../../../language/routes/negotiate.ts'
import { headerOf, type HeaderList } from './headers.ts'
import { type Envelope, type HeadMemo, ID_ENTRIES, ownHeaders } from './own-headers.ts'
import type { RenderedResponse } from './plan.ts'
import { withOneVary } from './vary.ts'

/** Writes and ends the response; returns the number of bytes of its body. */
export const writeResponse = (
  response: ServerResponse,
  rendered: RenderedResponse,
  envelope: Envelope,
  isHead: boolean,
): number => {
  const { status } = rendered
  const body = toWritable(rendered.body)
  const framing = frameResponse(status, isHead, { kind: 'whole', bytes: body.length })
  if (!presetComposed(response, rendered, envelope, framing.length))
    writeFramedHead(response, status, composeHead(rendered, envelope), framing)
  if (!framing.hasBody) {
    response.end()
    return 0
  }
  if (typeof body === 'string') response.end(body, 'latin1')
  else response.end(body)
  return body.length
}

/**
 * The only place that writes a head which is not preset: framing headers are written nowhere else.
 * @param head flat list of names and values, which is added to
 */
export const writeFramedHead = (
  response: ServerResponse,
  status: number,
  head: string[],
  { length }: Framing,
): void => {
  if (length !== undefined) head.push('content-length', String(length))
  // RFC 9112 §6.1: HTTP/1.0 has no chunks; node would send them to a client that sends `TE: chunked`.
  else if (response.req.httpVersionMinor === 0) response.useChunkedEncodingByDefault = false
  response.writeHead(status, head)
}

/** @returns false: node must write the head */
const presetComposed = (
  response: ServerResponse,
  rendered: RenderedResponse,
  envelope: Envelope,
  length: number | undefined,
): boolean => {
  if (length === undefined) return false
  const lines = composeLines(rendered, envelope)
  if (lines === undefined) return false
  const all = `x-request-id: ${envelope.requestId}\r\n${lines}content-length: ${length}\r\n`
  return presetHead(response, rendered.status, all)
}

const createHeadMemo = (): HeadMemo => ({
  headers: undefined,
  contentType: undefined,
  language: undefined,
  lines: undefined,
})

/** What makes the heads of two operations alike; no list where headers depend on the request. */
interface HeadShape {
  readonly headers: HeaderList | undefined
  readonly vary: string | undefined
  readonly languages: readonly string[]
  readonly deprecation: Readonly<Record<string, string>> | undefined
}

/** One for all operations that have the same constant headers, as most have, of versions that are alike. */
export const headMemoOf = ({ headers, vary = '', languages, deprecation }: HeadShape): HeadMemo => {
  if (headers === undefined) return createHeadMemo()
  const key = `${identityOf(headers)} ${identityOf(deprecation ?? languages)} ${vary}`
  return intern(key, createHeadMemo)
}

const intern = createInterner<HeadMemo>()

/**
 * All lines but the id of the request and the length; undefined if node must write them. If no header depends on the
 * request, an operation has the same list each time, and mostly the same lines.
 */
export const composeLines = (
  rendered: RenderedResponse,
  envelope: Envelope,
): string | undefined => {
  const { headers, contentType } = rendered
  const { language, memo } = envelope
  if (memo?.headers === headers && memo.contentType === contentType && memo.language === language)
    return memo.lines
  const head = composeHead(rendered, envelope).slice(ID_ENTRIES)
  const lines = head.some(isSpecial) ? undefined : headLines(head)
  if (memo !== undefined) {
    memo.headers = headers
    memo.contentType = contentType
    memo.language = language
    memo.lines = lines
  }
  return lines
}

/** Names that node must see, as they change what it does. No value equals such a name. */
const isSpecial = (text: string): boolean => text === 'connection' || text === 'date'

/** Longer texts are not joined with the head into one string. */
const ONE_WRITE_CHARACTERS = 16_384

/**
 * ASCII is passed on as Latin-1 text: node joins it with the head in one write, which saves 7 % of a small response.
 * Other text is passed on as bytes, so that the head is not encoded as UTF-8 along with it.
 */
export const toWritable = (body: string | Buffer): string | Buffer =>
  typeof body === 'string' && (body.length > ONE_WRITE_CHARACTERS || !isAscii(body))
    ? Buffer.from(body)
    : body

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/** A flat list of the gateway's own headers, then those of the response, which win by name, except for `Vary`. */
export const composeHead = (rendered: RenderedResponse, envelope: Envelope): string[] => {
  const { headers } = rendered
  const head = ownHeaders(headers, envelope, 'ours')
  for (const [name, value] of envelope.vary === undefined
    ? headers
    : withVary(headers, envelope.vary))
    if (name !== 'content-type' && name !== 'content-encoding' && name !== 'x-request-id')
      head.push(name, value)
  if (rendered.contentType !== undefined) head.push('content-type', rendered.contentType)
  return head
}

/** Adds what was negotiated by to what a document sets (`origin`); otherwise caches would mix up responses. */
const withVary = (headers: HeaderList, negotiated: string): HeaderList =>
  headerOf(headers, 'vary') === undefined
    ? headers
    : withOneVary([...headers, ['vary', negotiated]])

/** Node's `writeEarlyHints` refuses fields with several links. @param headers of a valid head: only its links are sent */
export const writeEarlyHints = (response: ServerResponse, headers: HeaderList): void => {
  const lines = headLines(headers.filter(([name]) => name === 'link').flat())
  if (lines !== '') response.socket?.write(`HTTP/1.1 103 Early Hints\r\n${lines}\r\n`, 'latin1')
}

/** The head of a response whose body follows. */
export interface FramedHead {
  readonly status: number
  readonly headers: HeaderList
  readonly framing: Framing
}

/** Writes the head of a response whose body follows as events, which must be neither cached nor buffered. */
export const writeEventHead = (
  response: ServerResponse,
  { status, headers, framing }: FramedHead,
  envelope: Envelope,
): void => {
  const defaults = EVENT_HEADERS.filter(([name]) => headerOf(headers, name) === undefined)
  const contentType = isAlwaysEmpty(status) ? undefined : EVENT_STREAM
  const rendered = { status, headers: [...defaults, ...headers], contentType, body: '' }
  writeFramedHead(response, status, composeHead(rendered, envelope), framing)
  response.flushHeaders()
}

/** `x-accel-buffering`: nginx, and ingresses based on it, pass on events without buffering. */
const EVENT_HEADERS: HeaderList = [
  ['cache-control', 'no-store'],
  ['x-accel-buffering', 'no'],
]

/** Writes the head of an upstream's response that passes through: its own headers, with ours replacing them by name. */
export const writeStreamHead = (
  response: ServerResponse,
  { status, headers, framing }: FramedHead,
  envelope: Envelope,
): void => {
  const own = ownHeaders(headers, envelope, 'of others')
  const head = own.slice(0, ID_ENTRIES)
  for (const [name, value] of headers)
    if (name !== 'x-request-id' && name !== 'content-length') head.push(name, value)
  head.push(...own.slice(ID_ENTRIES))
  writeFramedHead(response, status, head, framing)
}

/**
 * For a stream that ends when the gateway shuts down: a client that reused the connection would lose its next
 * request, the reconnect of the stream, in a connection that is being closed.
 */
export const beLastOnConnection = (response: ServerResponse): void => {
  response.shouldKeepAlive = false
}
