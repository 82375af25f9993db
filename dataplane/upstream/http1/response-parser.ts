// Splits the bytes of one connection into responses, strictly (RFC 9112) and incrementally, without I/O. Its reader asks
// for one step after the other, so that it can stop at any of them; where a message ends is decided here alone.

import {
  readWebSocketSwitch,
  type WebSocketOffer,
  type WebSocketSwitch,
} from '../../web-socket-switch.ts'
import { CR, HEX, LF, NO_DIGIT } from './octets.ts'
import { LineCollector } from './line-collector.ts'
import {
  checkTrailers,
  readHead,
  type ResponseProblem,
  type ResponseHead,
} from './response-head.ts'

/** The most bytes of the head of a response. */
const MAX_HEAD_BYTES = 64 * 1024

/**
 * What the bytes gave:
 * - `more`: nothing; all of them are read
 * - `hints`: `hints` are the headers of a 103, which comes before the final response
 * - `head`: `head` is that of the final response
 * - `switched`: `head` is that of a 101 that `switched` was proven of; all that follows is of the other protocol
 * - `data`: a piece of the body, from `dataFrom` to `dataTo`
 * - `end`: the response is complete; what follows belongs to none
 * - `fault`: they are not a valid response, `fault` says why; nothing can be read any more
 */
export type Step = 'more' | 'hints' | 'head' | 'switched' | 'data' | 'end' | 'fault'

type Phase =
  | 'idle' // no response is expected
  | 'head'
  | 'head was read'
  | 'body'
  | 'complete' // `end` is to be reported
  | 'faulty'

type BodyPhase =
  | 'sized body'
  | 'body until close'
  | 'chunk size'
  | 'chunk data'
  | 'CR of chunk'
  | 'LF of chunk'
  | 'trailers'

/** The limit for all interim responses to one request; how long they may go on is the matter of the request's timeout. */
const MAX_INTERIM_BYTES = MAX_HEAD_BYTES
const MAX_TRAILER_BYTES = 16 * 1024
/** The limit for all chunks of one response: extensions are ignored, but cost memory and time. */
const MAX_EXTENSION_BYTES = 16 * 1024
/** The limit for the line of one chunk: its size and extensions. */
const MAX_CHUNK_LINE_BYTES = 4 * 1024
/** More than a body can have; leading zeros are allowed. */
const MAX_SIZE_DIGITS = 16

/**
 * RFC 9112 §7.1.1, without the blanks that it lets recipients accept for the sake of old senders. Quoted strings as in
 * RFC 9110 §5.6.4.
 */
const EXTENSIONS =
  /^(?:;[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"))?)*$/

const HTTP_1 = Buffer.from('HTTP/1.')
const ZERO = 0x30
const NO_BYTES = Buffer.alloc(0)

/**
 * @example
 * parser.expect('GET')
 * for (parser.feed(bytes, bytes.length); ;) {
 *   const step = parser.next()
 *   if (step === 'data') body.push(bytes.subarray(parser.dataFrom, parser.dataTo))
 *   else if (step !== 'head' && step !== 'hints') break
 * }
 */
export class ResponseParser {
  head: ResponseHead | undefined
  hints: readonly string[] = []
  switched: WebSocketSwitch | undefined
  problem: ResponseProblem | undefined
  dataFrom = 0
  dataTo = 0
  #phase: Phase = 'idle'
  #bodyPhase: BodyPhase = 'sized body'
  #isHeadRequest = false
  #webSocket: WebSocketOffer | undefined
  #interimBytes = 0
  #keepsAlive = true
  /** Bytes that are still to come: of the body or of the chunk. */
  #leftBytes = 0
  #extensionBytes = 0
  /** The bytes in hand, how far they are read, and where they end. */
  #bytes: Buffer = NO_BYTES
  #at = 0
  #end = 0
  readonly #lines = new LineCollector()

  /** Call it when a request is sent, with its method and the WebSocket that it asks for. */
  expect(method: string, webSocket?: WebSocketOffer): void {
    this.head = undefined
    this.switched = undefined
    this.#webSocket = webSocket
    this.#phase = 'head'
    this.#isHeadRequest = method === 'HEAD'
    this.#interimBytes = 0
    this.#extensionBytes = 0
    this.#leftBytes = 0
    this.#lines.begin('block', MAX_HEAD_BYTES)
  }

  /** Gives it the bytes up to `end`, once those before are read, or what is left of them. */
  feed(bytes: Buffer, end: number): void {
    this.#bytes = bytes
    this.#at = 0
    this.#end = end
  }

  /** Forgets the bytes in hand, whose memory may be used for others. */
  release(): void {
    this.feed(NO_BYTES, 0)
    this.#lines.release()
  }

  /** Where the bytes in hand begin that are not read. */
  get readTo(): number {
    return this.#at
  }

  /** Where the bytes in hand end. */
  get end(): number {
    return this.#end
  }

  /** Some of the bytes in hand are not read. */
  get hasMore(): boolean {
    return this.#at < this.#end
  }

  /** Bytes of the body, or of its chunk, that are still to come. */
  get leftBytes(): number {
    return this.#leftBytes
  }

  /** Once a response is complete: the connection may serve another request. */
  get keepsAlive(): boolean {
    return this.#keepsAlive && this.#phase === 'idle'
  }

  next(): Step {
    for (;;) {
      const step = this.#step()
      if (step !== undefined) return step
    }
  }

  /**
   * The connection has ended.
   * @param isByPeer false: anybody on the way may have ended it
   * @returns true: that completes the response
   */
  finish(isByPeer: boolean): boolean {
    const isUntilClose =
      isByPeer && this.#phase === 'body' && this.#bodyPhase === 'body until close'
    const isComplete = isUntilClose || this.#phase === 'complete'
    this.#phase = 'faulty'
    return isComplete
  }

  /** @returns undefined: go on */
  #step(): Step | undefined {
    switch (this.#phase) {
      case 'idle':
        return this.hasMore ? this.#fail('bytes that belong to no response') : 'more'
      case 'head':
        return this.#readHead()
      case 'head was read':
        this.#phase = this.#beginBody()
        return undefined
      case 'body':
        return this.#readBody()
      case 'complete':
        this.#phase = 'idle'
        return 'end'
      case 'faulty':
        return 'fault'
    }
  }

  #readBody(): Step | undefined {
    switch (this.#bodyPhase) {
      case 'sized body':
      case 'chunk data':
        return this.#readData()
      case 'body until close':
        return this.#readUntilClose()
      case 'chunk size':
        return this.#readChunkSize()
      case 'CR of chunk':
        return this.#readOctet(CR, 'LF of chunk')
      case 'LF of chunk':
        return this.#readOctet(LF, 'chunk size')
      case 'trailers':
        return this.#readTrailers()
    }
  }

  #readHead(): Step | undefined {
    const found = this.#collect('too long a head')
    // A peer that speaks something else may never end what looks like a head.
    if (found === 'more' && !this.#lines.beginsAs(HTTP_1))
      return this.#fail('an invalid status line')
    if (found !== 'whole') return found
    const { bytes, from, to } = this.#lines
    // Without the empty line.
    const head = readHead(bytes, from, to - 2)
    if (typeof head === 'string') return this.#fail(head)
    if (head.statusCode === 101) return this.#switch(head)
    if (head.statusCode < 200) {
      // HTTP/1.0 has none, and one that closes promises that nothing follows.
      if (!head.keepsAlive) return this.#fail('an interim response that ends the connection')
      // The body would be read as the head of the final response, and the final response as that of the next request.
      if (announcesBody(head)) return this.#fail('an interim response that announces a body')
      this.#interimBytes += to - from
      if (this.#interimBytes > MAX_INTERIM_BYTES) return this.#fail('too many interim responses')
      this.#lines.begin('block', MAX_HEAD_BYTES)
      if (head.statusCode !== 103) return undefined
      this.hints = head.headers
      return 'hints'
    }
    this.head = head
    this.#phase = 'head was read'
    return 'head'
  }

  #switch(head: ResponseHead): Step {
    const offer = this.#webSocket
    if (offer === undefined) return this.#fail('a switch of protocols that was not requested')
    // Another reader would take what follows for a body, or for no WebSocket.
    if (!head.isHttp11) return this.#fail('a switch of protocols in HTTP/1.0')
    if (announcesBody(head)) return this.#fail('a switch of protocols that announces a body')
    const switched = readWebSocketSwitch(head.headers, offer)
    if (typeof switched === 'string') return this.#fail(`a 101 that proves nothing: ${switched}`)
    this.head = head
    this.switched = switched
    this.#phase = 'idle'
    return 'switched'
  }

  /** RFC 9112 §6.3. */
  #beginBody(): Phase {
    const { head } = this
    if (head === undefined) return 'faulty'
    const { statusCode, contentLength, isChunked } = head
    this.#keepsAlive = head.keepsAlive
    if (this.#isHeadRequest || statusCode === 204 || statusCode === 304) {
      // A server that declares a body here may send it: it would be read as the next response.
      if (!this.#isHeadRequest && announcesBody(head)) this.#keepsAlive = false
      return 'complete'
    }
    if (isChunked) {
      this.#bodyPhase = 'chunk size'
      this.#lines.begin('line', MAX_CHUNK_LINE_BYTES)
      return 'body'
    }
    if (contentLength === undefined) {
      this.#keepsAlive = false
      this.#bodyPhase = 'body until close'
      return 'body'
    }
    this.#bodyPhase = 'sized body'
    this.#leftBytes = contentLength
    return contentLength === 0 ? 'complete' : 'body'
  }

  #readData(): Step {
    const available = this.#end - this.#at
    if (available === 0) return 'more'
    const length = Math.min(available, this.#leftBytes)
    this.#leftBytes -= length
    if (this.#leftBytes === 0) {
      if (this.#bodyPhase === 'sized body') this.#phase = 'complete'
      else this.#bodyPhase = 'CR of chunk'
    }
    return this.#give(length)
  }

  #readUntilClose(): Step {
    const available = this.#end - this.#at
    return available === 0 ? 'more' : this.#give(available)
  }

  #give(length: number): Step {
    this.dataFrom = this.#at
    this.#at += length
    this.dataTo = this.#at
    return 'data'
  }

  #readChunkSize(): Step | undefined {
    const found = this.#collect('too long chunk extensions')
    // Rejected before the line is complete, as a peer that sends something else may never end it.
    if (found === 'more' && HEX[this.#lines.firstOctet ?? ZERO] === NO_DIGIT)
      return this.#fail('an invalid chunk')
    if (found !== 'whole') return found
    const { bytes, from, to } = this.#lines
    const end = to - 2
    const digitsEnd = endOfDigits(bytes, from, end)
    const size = sizeOf(bytes, from, digitsEnd)
    if (size === undefined) return this.#fail('an invalid chunk')
    const problem = digitsEnd === end ? undefined : this.#checkExtensions(bytes, digitsEnd, end)
    if (problem !== undefined) return this.#fail(problem)
    this.#leftBytes = size
    this.#bodyPhase = size === 0 ? 'trailers' : 'chunk data'
    if (size === 0) this.#lines.begin('trailers', MAX_TRAILER_BYTES)
    else this.#lines.begin('line', MAX_CHUNK_LINE_BYTES)
    return undefined
  }

  #checkExtensions(bytes: Buffer, from: number, to: number): ResponseProblem | undefined {
    this.#extensionBytes += to - from
    if (this.#extensionBytes > MAX_EXTENSION_BYTES) return 'too long chunk extensions'
    return EXTENSIONS.test(bytes.toString('latin1', from, to)) ? undefined : 'an invalid chunk'
  }

  #readOctet(octet: number, after: BodyPhase): Step | undefined {
    if (!this.hasMore) return 'more'
    if (this.#bytes[this.#at] !== octet) return this.#fail('an invalid chunk')
    this.#at++
    this.#bodyPhase = after
    return undefined
  }

  #readTrailers(): Step | undefined {
    const found = this.#collect('too long trailers')
    if (found !== 'whole') return found
    const { bytes, from, to } = this.#lines
    const problem = checkTrailers(bytes, from, to - 2)
    if (problem !== undefined) return this.#fail(problem)
    this.#phase = 'complete'
    return undefined
  }

  #collect(tooLong: ResponseProblem): 'whole' | 'more' | 'fault' {
    const found = this.#lines.read(this.#bytes, this.#at, this.#end)
    if (found === 'fault') return this.#fail('a control character, a bare CR or a bare LF')
    if (found === 'too long') return this.#fail(tooLong)
    this.#at = found === 'more' ? this.#end : this.#lines.readTo
    return found
  }

  #fail(problem: ResponseProblem): 'fault' {
    this.problem = problem
    this.#phase = 'faulty'
    return 'fault'
  }
}

const announcesBody = ({ isChunked, contentLength = 0 }: ResponseHead): boolean =>
  isChunked || contentLength > 0

const endOfDigits = (bytes: Buffer, from: number, to: number): number => {
  let at = from
  while (at < to && HEX[bytes[at] ?? 0] !== NO_DIGIT) at++
  return at
}

/** undefined: these are no digits, or too many. */
const sizeOf = (bytes: Buffer, from: number, to: number): number | undefined => {
  if (from === to || to - from > MAX_SIZE_DIGITS) return undefined
  let size = 0
  for (let at = from; at < to; at++) size = size * 16 + (HEX[bytes[at] ?? 0] ?? 0)
  return size <= Number.MAX_SAFE_INTEGER ? size : undefined
}
