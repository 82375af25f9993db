// Removes a `100 Continue` that was not requested from the bytes of a response, as undici takes it for an attack.
// Everything else is left to the parser.

const STATUS_AT = 'HTTP/1.1 '.length
const END = Buffer.from('\r\n\r\n')

/**
 * RFC 9110 §15.2: a client must be able to read interim responses even if it expects none. undici reads those other
 * than 100 by itself.
 *
 * @param chunk the bytes that arrived where the head of a response is due
 * @example
 * withoutContinue(Buffer.from('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK…')) // 'HTTP/1.1 200 OK…'
 */
export const withoutContinue = (chunk: Buffer): Buffer => {
  if (!isContinue(chunk)) return chunk
  const end = chunk.indexOf(END)
  return end < 0 ? chunk : withoutContinue(chunk.subarray(end + END.length))
}

const isContinue = (chunk: Buffer): boolean =>
  // The first byte of the status rules out nearly all responses.
  chunk[STATUS_AT] === 0x31 && /^HTTP\/1\.[01] 100\b/.test(chunk.toString('latin1', 0, 16))
