// Decides how a response is framed: which length its head declares, and whether body bytes may follow. If the two
// disagreed, the client would read the next response as part of this body.

/** The content to send, as far as it is known when the head is written. */
export type Content =
  /** All of it is available. */
  | { readonly kind: 'whole'; readonly bytes: number }
  /** It is streamed. `bytes`: the length that its sender has declared; undefined: the end of the stream ends it. */
  | { readonly kind: 'stream'; readonly bytes: number | undefined }
  /** Its sender describes the content of a GET without sending it: a response to HEAD, a 304. */
  | { readonly kind: 'described'; readonly bytes: number | undefined }
  /** There is none, whatever the sender's head says: a 204 or 304 that becomes another status. */
  | { readonly kind: 'missing' }

export interface Framing {
  /**
   * Content-Length. undefined: the head has none; a body is then chunked, or ends with its connection (HTTP/1.0).
   */
  readonly length: number | undefined
  /** False: no byte may follow the head. */
  readonly hasBody: boolean
  /** The response is empty where the sender's headers describe a content. */
  readonly isEmptied: boolean
}

/** @param isHead the client's method is HEAD */
export const frameResponse = (status: number, isHead: boolean, content: Content): Framing => {
  if (status === 204) return NOTHING
  if (status === 205) return EMPTY
  if (content.kind === 'missing') return status === 304 ? NOTHING : EMPTIED
  if (status === 304) return content.kind === 'whole' ? NOTHING : headOnly(content.bytes)
  if (isHead) return headOnly(content.bytes)
  if (content.kind === 'described') return EMPTIED
  const isWholeAndEmpty = content.kind === 'whole' && content.bytes === 0
  return { length: content.bytes, hasBody: !isWholeAndEmpty, isEmptied: false }
}

/** RFC 9110 §8.6: a 204 has no Content-Length, and a 304 only that of the 200 it replaces. */
const NOTHING: Framing = { length: undefined, hasBody: false, isEmptied: false }

/**
 * RFC 9110 §15.3.6: 205 has no content. With length 0, intermediaries that go by the status and those that go by the
 * length agree.
 */
const EMPTY: Framing = { length: 0, hasBody: false, isEmptied: false }

const EMPTIED: Framing = { length: 0, hasBody: false, isEmptied: true }

const headOnly = (bytes: number | undefined): Framing => ({
  length: bytes,
  hasBody: false,
  isEmptied: false,
})

/** True for a status that never has content. */
export const isAlwaysEmpty = (status: number): boolean =>
  status === 204 || status === 205 || status === 304

/**
 * True for a received message whose head is followed by no body, whatever the head says (RFC 9112 §6.3).
 * @param method of the request, upper case
 */
export const comesWithoutBody = (status: number, method: string): boolean =>
  method === 'HEAD' || status === 204 || status === 304

/** A Content-Length as bytes; undefined if it is not valid. */
export const toLength = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
