// Reads the status line and the fields of a response strictly (RFC 9112), and derives from them how the message is
// framed. It reads complete heads only; `response-parser.ts` finds where they end.

import { CONNECTION_SCHEME } from './connection-scheme.ts'
import { COLON, CR, SP, TAB, TOKEN } from './octets.ts'

/** What makes a response invalid, for the log. */
export type ResponseProblem =
  | 'bytes that belong to no response'
  | 'an invalid status line'
  | 'a control character, a bare CR or a bare LF'
  | 'an invalid field line'
  | 'too long a head'
  | 'too many field lines'
  | 'an invalid Content-Length'
  | 'more than one Content-Length'
  | 'both Transfer-Encoding and Content-Length'
  | 'a Transfer-Encoding other than chunked'
  | 'a switch of protocols that was not requested'
  | 'a switch of protocols in HTTP/1.0'
  | 'a switch of protocols that announces a body'
  | `a 101 that proves nothing: ${string}`
  | 'too many interim responses'
  | 'an interim response that ends the connection'
  | 'an interim response that announces a body'
  | 'an invalid chunk'
  | 'too long chunk extensions'
  | 'invalid trailers'
  | 'too long trailers'

export interface ResponseHead {
  readonly statusCode: number
  /** name, value, name, value: names in lower case. */
  readonly headers: readonly string[]
  readonly contentLength: number | undefined
  readonly isChunked: boolean
  readonly isHttp11: boolean
  /** Unless the framing says otherwise, the connection can serve another request. */
  readonly keepsAlive: boolean
  /** `Keep-Alive: timeout=5` */
  readonly keepAliveSeconds: number | undefined
}

/** More would cost more than any response is worth; the largest that serious servers send are some dozens. */
const MAX_FIELDS = 1000
/** A length has at most 15 digits, so that it is exact as a number. */
const LENGTH = /^\d{1,15}$/
const KEEP_ALIVE_TIMEOUT = /(?:^|[\s,;])timeout\s*=\s*(\d{1,9})/i

/**
 * @param bytes contain the head from `from` to `to`, its final empty line left out; all its lines end with CRLF, and it
 * contains no other control characters but HTAB
 * @example readHead(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n'), 0, 36)
 */
export const readHead = (
  bytes: Buffer,
  from: number,
  to: number,
): ResponseHead | ResponseProblem => {
  const text = bytes.toString('latin1', from, to)
  const statusCode = readStatusLine(text)
  if (statusCode === undefined) return 'an invalid status line'
  const fields = new HeadFields(text.charCodeAt(MINOR_AT) === ONE)
  const problem = readFields({ bytes, from, text }, text.indexOf('\r\n') + 2, fields)
  return problem ?? fields.frame(statusCode)
}

const PREFIX = 'HTTP/1.'
const MINOR_AT = PREFIX.length
const ZERO = 0x30
const ONE = 0x31

/** Returns the status code; undefined: it is not one of HTTP/1.0 or 1.1. */
const readStatusLine = (text: string): number | undefined => {
  const minor = text.charCodeAt(MINOR_AT)
  if (!text.startsWith(PREFIX) || (minor !== ZERO && minor !== ONE)) return undefined
  if (text.charCodeAt(MINOR_AT + 1) !== SP) return undefined
  const hundreds = text.charCodeAt(MINOR_AT + 2) - ZERO
  const tens = text.charCodeAt(MINOR_AT + 3) - ZERO
  const ones = text.charCodeAt(MINOR_AT + 4) - ZERO
  const isNumber = hundreds >= 1 && hundreds <= 9 && isDigit(tens) && isDigit(ones)
  const after = text.charCodeAt(MINOR_AT + 5)
  // A server may leave out the blank in front of an empty reason phrase; Node and nginx accept that.
  if (!isNumber || (after !== SP && after !== CR)) return undefined
  return 100 * hundreds + 10 * tens + ones
}

const isDigit = (digit: number): boolean => digit >= 0 && digit <= 9

/** Fields that decide framing, and so must not follow the body (RFC 9110 §6.5.1). */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding'])

interface Block {
  readonly bytes: Buffer
  /** Where the text begins in the bytes. */
  readonly from: number
  readonly text: string
}

interface FieldSink {
  /**
   * @param name in lower case
   * @param hasBlanksBehind blanks followed the value in its line
   */
  add(name: string, value: string, hasBlanksBehind: boolean): ResponseProblem | undefined
}

/** Reads field lines from `start` to the end of the text. */
const readFields = (
  { bytes, from, text }: Block,
  start: number,
  sink: FieldSink,
): ResponseProblem | undefined => {
  let count = 0
  for (let at = start; at < text.length;) {
    const nameAt = at
    while (TOKEN[bytes[from + at] ?? 0] === 1) at++
    const name = text.slice(nameAt, at).toLowerCase()
    // RFC 9112 §5.1: blanks before the colon are removed, but not where another reader would find another end.
    if (!FRAMING.has(name)) at = skipBlanks(bytes, from + at) - from
    // Rejects an empty name, and a folded line, which begins with a blank.
    if (name === '' || bytes[from + at] !== COLON) return 'an invalid field line'
    if (++count > MAX_FIELDS) return 'too many field lines'
    at = skipBlanks(bytes, from + at + 1) - from
    const end = text.indexOf('\r', at)
    let valueEnd = end
    while (valueEnd > at && isBlank(bytes[from + valueEnd - 1])) valueEnd--
    const problem = sink.add(name, text.slice(at, valueEnd), valueEnd < end)
    if (problem !== undefined) return problem
    at = end + 2
  }
  return undefined
}

const skipBlanks = (bytes: Buffer, start: number): number => {
  let at = start
  while (isBlank(bytes[at])) at++
  return at
}

const isBlank = (octet: number | undefined): boolean => octet === SP || octet === TAB

/** Collects the fields of a head, and what decides framing. */
class HeadFields implements FieldSink {
  readonly #isHttp11: boolean
  readonly #headers: string[] = []
  #contentLength: number | undefined
  #isChunked = false
  #hasClose = false
  #hasKeepAlive = false
  #keepAliveSeconds: number | undefined

  constructor(isHttp11: boolean) {
    this.#isHttp11 = isHttp11
  }

  add(name: string, value: string, hasBlanksBehind: boolean): ResponseProblem | undefined {
    this.#headers.push(name, value)
    switch (name.length) {
      case 10:
        if (name === 'connection') this.#readConnection(value)
        else if (name === 'keep-alive') this.#readKeepAlive(value)
        return undefined
      case 14:
        return name === 'content-length' ? this.#readLength(value) : undefined
      case 16:
        if (name === 'www-authenticate') this.#readChallenge(value)
        return undefined
      case 17:
        return name === 'transfer-encoding' ? this.#readCoding(value, hasBlanksBehind) : undefined
      case 18:
        if (name === 'proxy-authenticate') this.#readChallenge(value)
        return undefined
      default:
        return undefined
    }
  }

  frame(statusCode: number): ResponseHead | ResponseProblem {
    // RFC 9112 §6.3: ought to be handled as an error; it is how responses are smuggled.
    if (this.#isChunked && this.#contentLength !== undefined)
      return 'both Transfer-Encoding and Content-Length'
    return {
      statusCode,
      headers: this.#headers,
      contentLength: this.#contentLength,
      isChunked: this.#isChunked,
      isHttp11: this.#isHttp11,
      // RFC 9112 §6.1: what HTTP/1.0 calls chunked, another server may have passed on unread.
      keepsAlive: this.#isHttp11 ? !this.#hasClose : this.#isKeptByHttp10(),
      keepAliveSeconds: this.#keepAliveSeconds,
    }
  }

  #isKeptByHttp10(): boolean {
    return this.#hasKeepAlive && !this.#hasClose && !this.#isChunked
  }

  #readConnection(value: string): void {
    for (const token of value.toLowerCase().split(',')) {
      const name = token.trim()
      if (name === 'close') this.#hasClose = true
      else if (name === 'keep-alive') this.#hasKeepAlive = true
    }
  }

  /** The next request on the connection would count as that of this client, once it has authenticated it. */
  #readChallenge(value: string): void {
    if (CONNECTION_SCHEME.test(value)) this.#hasClose = true
  }

  #readKeepAlive(value: string): void {
    const seconds = KEEP_ALIVE_TIMEOUT.exec(value)?.[1]
    if (seconds !== undefined) this.#keepAliveSeconds = Number(seconds)
  }

  #readLength(value: string): ResponseProblem | undefined {
    // RFC 9112 §6.3 lets one accept equal ones; recipients that differ in that disagree on where the message ends.
    if (this.#contentLength !== undefined) return 'more than one Content-Length'
    if (!LENGTH.test(value)) return 'an invalid Content-Length'
    this.#contentLength = Number(value)
    return undefined
  }

  #readCoding(value: string, hasBlanksBehind: boolean): ResponseProblem | undefined {
    // A list or a second line would name another coding, or `chunked` twice. With a tab behind it, which RFC 9110 §5.5
    // allows, it is no `chunked` for Node's parser.
    if (this.#isChunked || hasBlanksBehind || value.toLowerCase() !== 'chunked')
      return 'a Transfer-Encoding other than chunked'
    this.#isChunked = true
    return undefined
  }
}

const TRAILERS: FieldSink = {
  add: (name) => (FRAMING.has(name) ? 'invalid trailers' : undefined),
}

/**
 * Validates trailers; what they say is dropped.
 * @param bytes as for `readHead`
 */
export const checkTrailers = (
  bytes: Buffer,
  from: number,
  to: number,
): ResponseProblem | undefined => {
  const text = bytes.toString('latin1', from, to)
  return readFields({ bytes, from, text }, 0, TRAILERS) === undefined
    ? undefined
    : 'invalid trailers'
}
