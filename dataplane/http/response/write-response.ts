// Writes HTTP responses, whole ones as one string where possible, so that node makes a single write of them.

import type { ServerResponse } from 'node:http'
import { createInterner, identityOf } from '../../../base/intern.ts'
import { type Framing, frameResponse, isAlwaysEmpty } from '../../framing.ts'
import { headLines, presetHead } from './raw-head.ts'
import { EVENT_STREAM } from '../../../language/routes/negotiate.ts'
import { headerOf, type HeaderList } from './headers.ts'
import {
  composeHead,
  type Envelope,
  type HeadCache,
  type HeadParts,
  requestHead,
  type RequestFields,
  sharedHead,
} from './own-headers.ts'
import type { RenderedResponse } from './plan.ts'

/** A response whose body is there, ready for each request that gets it. */
export interface WholeResponse {
  readonly status: number
  /** Head lines, without what differs between requests; undefined: node must write the head. */
  readonly lines: string | undefined
  readonly rendered: RenderedResponse
  readonly envelope: Envelope
  readonly body: string | Buffer
  readonly framing: Framing
}

/** Writes and ends the response; returns the number of bytes of its body. */
export const writeResponse = (
  response: ServerResponse,
  rendered: RenderedResponse,
  envelope: Envelope,
  isHead: boolean,
): number => writeWhole(response, prepareWhole(rendered, envelope), envelope, isHead)

export const prepareWhole = (rendered: RenderedResponse, envelope: Envelope): WholeResponse => {
  const { status } = rendered
  const body = toWritable(rendered.body)
  // The head is that of a response to HEAD too.
  const framing = frameResponse(status, false, { kind: 'whole', bytes: body.length })
  const { length } = framing
  const lines = length === undefined ? undefined : composeLines(rendered, envelope)
  return {
    status,
    lines: lines === undefined ? undefined : `${lines}content-length: ${length}\r\n`,
    rendered,
    envelope,
    body,
    framing,
  }
}

/** Writes head and body at once; returns the number of bytes of the body. */
export const writeWhole = (
  response: ServerResponse,
  { status, lines, rendered, envelope, body, framing }: WholeResponse,
  fields: RequestFields,
  isHead: boolean,
): number => {
  const parts = partsOf(rendered)
  const isPreset =
    lines !== undefined &&
    presetHead(response, status, headLines(requestHead(parts, fields)) + lines)
  if (!isPreset)
    writeFramedHead(response, status, composeHead(parts, { ...envelope, ...fields }), framing)
  if (isHead || !framing.hasBody) {
    response.end()
    return 0
  }
  if (typeof body === 'string') response.end(body, 'latin1')
  else response.end(body)
  return body.length
}

const partsOf = ({ headers, contentType }: RenderedResponse): HeadParts => ({
  headers,
  contentType,
  body: 'ours',
})

/**
 * The only place that writes a head which is not preset: framing headers are written nowhere else.
 * @param head flat list of names and values, which is added to
 * @internal exported for tests
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

const createHeadCache = (): HeadCache => ({
  headers: undefined,
  contentType: undefined,
  lines: undefined,
})

/** What makes the heads of two operations alike; no list where headers depend on the request. */
interface HeadShape {
  readonly headers: HeaderList | undefined
  readonly vary: string | undefined
  readonly deprecation: Readonly<Record<string, string>> | undefined
  /** Parts whose headers take the place of others. */
  readonly owning: readonly string[]
}

/** One for all operations that have the same constant headers, as most have, of versions that are alike. */
export const headCacheOf = ({ headers, vary = '', deprecation, owning }: HeadShape): HeadCache => {
  if (headers === undefined) return createHeadCache()
  const key = `${identityOf(headers)} ${deprecation === undefined ? '' : identityOf(deprecation)} ${vary} ${owning.join()}`
  return intern(key, createHeadCache)
}

const intern = createInterner<HeadCache>()

/**
 * All lines of a response of ours but those that may differ between requests, and the length; undefined if node must write
 * them. If no header depends on the request, an operation has the same list each time, and mostly the same lines.
 */
const composeLines = (rendered: RenderedResponse, envelope: Envelope): string | undefined => {
  const { headers, contentType } = rendered
  const { headCache } = envelope
  if (headCache?.headers === headers && headCache.contentType === contentType)
    return headCache.lines
  const head = sharedHead(partsOf(rendered), envelope)
  const lines = head.some(isSpecial) ? undefined : headLines(head)
  if (headCache !== undefined) {
    headCache.headers = headers
    headCache.contentType = contentType
    headCache.lines = lines
  }
  return lines
}

/** Names that node must see, as they change what it does. No value equals such a name. */
const isSpecial = (text: string): boolean => text === 'connection' || text === 'date'

/** Longer texts are not joined with the head into one string. */
const ONE_WRITE_CHARACTERS = 16_384

/**
 * ASCII is passed on as Latin-1 text: node joins it with the head in one write, which saves 7 % of a small response.
 * Other text is passed on as bytes, so that the head is not encoded as UTF-8 along with it, and long text, as it would be
 * copied for each client that does not read it yet.
 */
const toWritable = (body: string | Buffer): string | Buffer =>
  typeof body === 'string' && (body.length > ONE_WRITE_CHARACTERS || !isAscii(body))
    ? Buffer.from(body)
    : body

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

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
  const parts = { headers: [...defaults, ...headers], contentType, body: 'ours' } as const
  writeFramedHead(response, status, composeHead(parts, envelope), framing)
  response.flushHeaders()
}

/** `x-accel-buffering`: nginx, and ingresses based on it, pass on events without buffering. */
const EVENT_HEADERS: HeaderList = [
  ['cache-control', 'no-store'],
  ['x-accel-buffering', 'no'],
]

/** Writes the head of an upstream's response that passes through. */
export const writeStreamHead = (
  response: ServerResponse,
  { status, headers, framing }: FramedHead,
  envelope: Envelope,
): void => {
  writeFramedHead(response, status, composeHead({ headers, body: 'of others' }, envelope), framing)
}

/**
 * For a stream that ends when the gateway shuts down: a client that reused the connection would lose its next
 * request, the reconnect of the stream, in a connection that is being closed.
 */
export const beLastOnConnection = (response: ServerResponse): void => {
  response.shouldKeepAlive = false
}
