// Decides what the gateway adds to every response: rendered, fixed, streamed, refused, of a built-in endpoint, or to an
// upgrade. No other place does.

import { headerOf, type HeaderList } from './headers.ts'

/** The head lines of an earlier response of an operation, and what they were made of. */
export interface HeadMemo {
  headers: HeaderList | undefined
  contentType: string | undefined
  language: string | undefined
  lines: string | undefined
}

/** What a response carries besides its own status, headers and body. */
export interface Envelope {
  readonly requestId: string
  /** Picked from the version's languages; undefined before a version is known. */
  readonly language: string | undefined
  readonly deprecation: Readonly<Record<string, string>> | undefined
  /** The headers that the response was negotiated by: `accept`, `accept, accept-language`. */
  readonly vary: string | undefined
  /**
   * The cache of the operation, whose deprecation and `vary` are always the same. Of what is added here, only the id and the
   * language may differ between its requests; anything else that does must be part of its key.
   */
  readonly memo?: HeadMemo
}

/** Name and value of the request's id, which come first, so that the rest can be kept without them. */
export const ID_ENTRIES = 2

/**
 * A flat list. Headers of the response win by name, but a link stands beside others: it is one of a list (RFC 8288 §3).
 * @param body whose it is: what an upstream sends keeps its own description, and so does what is sent on an upgraded connection
 */
export const ownHeaders = (
  headers: HeaderList,
  { requestId, language, vary, deprecation }: Envelope,
  body: 'ours' | 'of others',
): string[] => {
  const own = ['x-request-id', requestId]
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined && (headers.length === 0 || headerOf(headers, name) === undefined))
      own.push(name, value)
  }
  if (body === 'ours') {
    add('x-content-type-options', 'nosniff')
    add('content-language', language)
    add('vary', vary)
  }
  if (deprecation !== undefined)
    for (const [name, value] of Object.entries(deprecation))
      if (name === 'link') own.push(name, value)
      else add(name, value)
  return own
}
