// Decides which headers of an upstream's response the client gets when its body passes through (behaviour §5).

import type { StreamHead } from '../../actions/performer.ts'
import { comesWithoutBody, type Content, type Framing, toLength } from '../../framing.ts'
import { headerOf, type HeaderList } from './headers.ts'
import { withOneVary } from './vary.ts'

/** The content of an upstream's response that is sent, if the response has `status`. */
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

/** The upstream's headers that stay beside those of `on_result`. */
const KEPT_FIELDS: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'content-length',
])

/** How to decode the bytes: useless, and harmful, without a body. */
const CODING_FIELDS: ReadonlySet<string> = new Set(['content-encoding', 'content-range'])

const BODY_FIELDS: ReadonlySet<string> = new Set([...KEPT_FIELDS, ...CODING_FIELDS])

/** And which representation they are of: a cache would store the empty response under it. */
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
  /** `on_result` sets headers: of the upstream's only those that describe the body stay. */
  readonly replaces: boolean
}

/**
 * Merges the upstream's headers with our own, which win by name. Content-Length is left to the framing, and without a
 * body no header that describes one stays.
 */
export const mergeStreamHeaders = (
  status: number,
  { isEmptied }: Framing,
  { upstream, own, replaces }: StreamHeaders,
): HeaderList => {
  const hasNoContent = isEmptied || status === 204 || status === 205
  if (own.length === 0 && !replaces && !hasNoContent) return upstream
  const dropped = isEmptied ? REPRESENTATION_FIELDS : hasNoContent ? BODY_FIELDS : NONE
  const passed = upstream.filter(
    ([name]) =>
      name === 'vary' ||
      (!dropped.has(name) &&
        (!replaces || KEPT_FIELDS.has(name)) &&
        headerOf(own, name) === undefined),
  )
  // A document may pass on the upstream's headers as a whole.
  const added = hasNoContent ? own.filter(([name]) => !CODING_FIELDS.has(name)) : own
  return withOneVary([...passed, ...added])
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Server-sent events of unknown length, which may end anywhere, as a client drops an incomplete event (WHATWG HTML
 * §9.2.6). Compressed ones may not: a truncated coding is an error.
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
