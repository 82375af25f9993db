// Decides how a response is framed, for whoever writes a head: the length that the head promises, and whether bytes of
// a body may follow. What is promised and what comes must agree, or the client reads the next response as this body.

/** What there is to send, as far as it is known when the head is written. */
export type Content =
  /** All of it is at hand. */
  | { readonly kind: 'whole'; readonly bytes: number }
  /** It comes piece by piece. `bytes`: as its sender has declared; undefined: it tells where it ends. */
  | { readonly kind: 'stream'; readonly bytes: number | undefined }
  /** Its sender describes what a GET would be given, and does not send it: an answer to HEAD, a 304. */
  | { readonly kind: 'described'; readonly bytes: number | undefined }
  /** There is none, whatever the sender's head says: of a 204 or 304 that becomes another status. */
  | { readonly kind: 'missing' }

export interface Framing {
  /**
   * Content-Length. undefined: the head has none; a body goes in chunks then, or ends with its connection (HTTP/1.0).
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

/** RFC 9110 §8.6: 204 has no Content-Length, and 304 none but that of the 200 that it stands for. */
const NOTHING: Framing = { length: undefined, hasBody: false, isEmptied: false }

/** RFC 9110 §15.3.6: 205 has no content. Intermediaries that know by its status and those that read its length agree. */
const EMPTY: Framing = { length: 0, hasBody: false, isEmptied: false }

const EMPTIED: Framing = { length: 0, hasBody: false, isEmptied: true }

const headOnly = (bytes: number | undefined): Framing => ({
  length: bytes,
  hasBody: false,
  isEmptied: false,
})

/** Whatever there is to send. */
export const isAlwaysEmpty = (status: number): boolean =>
  status === 204 || status === 205 || status === 304

/**
 * Of a message that is received: no body follows its head, whatever the head says (RFC 9112 §6.3).
 * @param method of the request, upper case
 */
export const comesWithoutBody = (status: number, method: string): boolean =>
  method === 'HEAD' || status === 204 || status === 304

/** A Content-Length as bytes; undefined where it is none. */
export const toLength = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
