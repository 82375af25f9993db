// The head of an upstream's answer whose body passes through: what the client is given of it
// (behaviour §5). Pure.

import { headerOf, type HeaderList } from './response-headers.ts'

const BODY_FIELDS: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'content-length',
])

export interface StreamHeaders {
  /** End-to-end, names lower case, in order. */
  readonly upstream: HeaderList
  readonly own: HeaderList
  /** `on_result` sets headers: of the upstream's only what describes the body stays. */
  readonly replaces: boolean
}

/**
 * The upstream's headers, ours over them by name. Where the status says that no body comes, nothing that
 * describes one: 204 may not have a Content-Length (RFC 9110 §8.6).
 */
export const mergeStreamHeaders = (
  status: number,
  { upstream, own, replaces }: StreamHeaders,
): HeaderList => {
  const isBodyless = status === 204
  if (own.length === 0 && !replaces && !isBodyless) return upstream
  const kept = upstream.filter(
    ([name]) =>
      (BODY_FIELDS.has(name) ? !isBodyless : !replaces) && headerOf(own, name) === undefined,
  )
  return [...kept, ...own]
}

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
