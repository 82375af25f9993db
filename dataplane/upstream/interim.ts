// `100 Continue` that nobody asked for, which undici takes for an attack: bytes come in, those of the
// real answer go out. Everything else is left to the parser. Pure.

const STATUS_AT = 'HTTP/1.1 '.length
const END = Buffer.from('\r\n\r\n')

/**
 * RFC 9110 §15.2: a client must be able to read interim answers even if it expects none. Others than 100
 * undici reads by itself.
 *
 * @param chunk what has come where the head of an answer is due
 * @example
 * withoutContinue(Buffer.from('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK…')) // 'HTTP/1.1 200 OK…'
 */
export const withoutContinue = (chunk: Buffer): Buffer => {
  if (!isContinue(chunk)) return chunk
  const end = chunk.indexOf(END)
  return end < 0 ? chunk : withoutContinue(chunk.subarray(end + END.length))
}

const isContinue = (chunk: Buffer): boolean =>
  // The first byte of the status tells nearly all answers apart.
  chunk[STATUS_AT] === 0x31 && /^HTTP\/1\.[01] 100\b/.test(chunk.toString('latin1', 0, 16))
