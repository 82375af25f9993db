// The head of an upstream's answer whose body passes through: what the client is given of it
// (behaviour §5). Pure.

import type { StreamHead } from '../../actions/performer.ts'
import { comesWithoutBody, type Content, type Framing, toLength } from '../../framing.ts'
import { headerOf, type HeaderList } from './headers.ts'

/** What of an upstream's answer there is to send, where the response has `status`. */
export const contentOf = (
  { statusCode, headers, hasBody }: StreamHead,
  status: number,
): Content => {
  const bytes = toLength(headerOf(headers, 'content-length'))
  if (hasBody) return { kind: 'stream', bytes }
  return status !== statusCode && comesWithoutBody(statusCode, 'GET')
    ? { kind: 'missing' }
    : { kind: 'described', bytes }
}

/** What stays of the upstream's headers beside those of `on_result`. */
const KEPT_FIELDS: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'content-length',
])

/** How bytes are to be read: of no use, and of harm, where there are none. */
const CODING_FIELDS: ReadonlySet<string> = new Set(['content-encoding', 'content-range'])

const BODY_FIELDS: ReadonlySet<string> = new Set([...KEPT_FIELDS, ...CODING_FIELDS])

/** And which representation they are of: a cache would keep the empty response under its name. */
const REPRESENTATION_FIELDS: ReadonlySet<string> = new Set([
  ...BODY_FIELDS,
  'accept-ranges',
  'content-digest',
  'content-md5',
  'digest',
  'etag',
  'last-modified',
  'repr-digest',
])

export interface StreamHeaders {
  /** End-to-end, names lower case, in order. */
  readonly upstream: HeaderList
  readonly own: HeaderList
  /** `on_result` sets headers: of the upstream's only what describes the body stays. */
  readonly replaces: boolean
}

/**
 * The upstream's headers, ours over them by name; Content-Length is for the framing to say. Where no body comes,
 * nothing that describes one.
 */
export const mergeStreamHeaders = (
  status: number,
  { isEmptied }: Framing,
  { upstream, own, replaces }: StreamHeaders,
): HeaderList => {
  const hasNoContent = isEmptied || status === 204 || status === 205
  if (own.length === 0 && !replaces && !hasNoContent) return upstream
  const dropped = isEmptied ? REPRESENTATION_FIELDS : hasNoContent ? BODY_FIELDS : NONE
  const kept = upstream.filter(
    ([name]) =>
      !dropped.has(name) &&
      (!replaces || KEPT_FIELDS.has(name)) &&
      headerOf(own, name) === undefined,
  )
  // A document may hand on the upstream's headers as a whole.
  const added = hasNoContent ? own.filter(([name]) => !CODING_FIELDS.has(name)) : own
  return [...kept, ...added]
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Server-sent events of which nobody knows the end: they may end anywhere, as a client drops half an event (WHATWG HTML
 * §9.2.6). Compressed ones may not: half a coding is a fault.
 */
export const isOpenEventStream = (headers: HeaderList): boolean => {
  const contentType = headerOf(headers, 'content-type')
  return (
    contentType !== undefined &&
    EVENT_STREAM_TYPE.test(contentType) &&
    headerOf(headers, 'content-length') === undefined &&
    headerOf(headers, 'content-encoding') === undefined
  )
}

const EVENT_STREAM_TYPE = /^text\/event-stream\s*(?:;|$)/i
