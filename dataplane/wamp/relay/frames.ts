// Scans the frames of one direction of a WebSocket connection (RFC 6455 §5.2), and says how many of its bytes may pass
// on, or what is wrong with them. It follows headers only: payloads are neither unmasked nor read.

/** What is wrong with a frame: the status code of a Close frame (RFC 6455 §7.4.1), and a reason for debugging. */
export interface FrameError {
  readonly code: 1002 | 1009
  readonly reason: string
}

const OPCODE = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa }
const KNOWN_OPCODES: ReadonlySet<number> = new Set(Object.values(OPCODE))

/** What the header of a frame says. */
interface Frame {
  readonly opcode: number
  readonly isFinal: boolean
  readonly isMasked: boolean
  readonly hasReservedBits: boolean
  readonly headerBytes: number
  readonly payloadBytes: number
}

/**
 * A header passes only once it is complete, so that what has passed ends at the end of a frame or within a payload.
 * @example
 * const count = scanner.scan(bytes)
 * socket.write(bytes.subarray(0, count)) // the rest is passed again, before the bytes that follow
 */
export class FrameScanner {
  readonly #isMasked: boolean
  readonly #maxMessageBytes: number
  #payloadLeft = 0
  /** The size so far of a fragmented message; undefined: none is in progress. */
  #messageBytes: number | undefined = undefined
  #isInClose = false
  #error: FrameError | undefined = undefined

  /** `isMasked`: of a client (RFC 6455 §5.1). */
  constructor(options: { readonly isMasked: boolean; readonly maxMessageBytes: number }) {
    this.#isMasked = options.isMasked
    this.#maxMessageBytes = options.maxMessageBytes
  }

  /** Once set, nothing passes any more. */
  get error(): FrameError | undefined {
    return this.#error
  }

  /** Bytes of the current frame that have not passed: 0 between frames. */
  get payloadLeft(): number {
    return this.#payloadLeft
  }

  /** A complete Close frame has passed: nothing may follow it (RFC 6455 §5.5.1). */
  get hasClosed(): boolean {
    return this.#isInClose && this.#payloadLeft === 0
  }

  /** @returns how many bytes from the start of `bytes` may pass */
  scan(bytes: Buffer): number {
    let at = this.finishFrame(bytes)
    while (at < bytes.length && this.#error === undefined && !this.hasClosed) {
      const frame = readHeader(bytes, at)
      if (frame === undefined) return at
      this.#error = this.#errorOf(frame)
      if (this.#error !== undefined) return at
      this.#enter(frame)
      at += frame.headerBytes
      at += this.finishFrame(bytes.subarray(at))
    }
    return at
  }

  /** As `scan`, but no further than the end of the current frame. */
  finishFrame(bytes: Buffer): number {
    const count = Math.min(this.#payloadLeft, bytes.length)
    this.#payloadLeft -= count
    return count
  }

  #errorOf(frame: Frame): FrameError | undefined {
    const { opcode, isFinal, payloadBytes } = frame
    if (frame.hasReservedBits) return protocolError('reserved bits are set')
    if (!KNOWN_OPCODES.has(opcode)) return protocolError('unknown opcode')
    if (frame.isMasked !== this.#isMasked)
      return protocolError(this.#isMasked ? 'frames must be masked' : 'frames must not be masked')
    if (opcode >= OPCODE.close)
      return isFinal && payloadBytes <= 125 ? undefined : protocolError('bad control frame')
    const isContinuation = opcode === OPCODE.continuation
    if (isContinuation !== (this.#messageBytes !== undefined))
      return protocolError('fragments out of order')
    if (payloadBytes + (this.#messageBytes ?? 0) > this.#maxMessageBytes)
      return { code: 1009, reason: `messages may have ${this.#maxMessageBytes} bytes` }
    return undefined
  }

  #enter({ opcode, isFinal, payloadBytes }: Frame): void {
    this.#payloadLeft = payloadBytes
    this.#isInClose = opcode === OPCODE.close
    if (opcode >= OPCODE.close) return
    this.#messageBytes = isFinal ? undefined : (this.#messageBytes ?? 0) + payloadBytes
  }
}

const protocolError = (reason: string): FrameError => ({ code: 1002, reason })

/** undefined: the header is incomplete. */
const readHeader = (bytes: Buffer, at: number): Frame | undefined => {
  const [first, second] = [bytes[at], bytes[at + 1]]
  if (first === undefined || second === undefined) return undefined
  const length = second & 0x7f
  const lengthBytes = length === 126 ? 2 : length === 127 ? 8 : 0
  const isMasked = (second & 0x80) !== 0
  const headerBytes = 2 + lengthBytes + (isMasked ? 4 : 0)
  if (at + headerBytes > bytes.length) return undefined
  const payloadBytes = lengthBytes === 0 ? length : readLength(bytes, at + 2, lengthBytes)
  return {
    opcode: first & 0x0f,
    isFinal: (first & 0x80) !== 0,
    hasReservedBits: (first & 0x70) !== 0,
    isMasked,
    headerBytes,
    payloadBytes,
  }
}

/** Lengths beyond 2^53 are rounded, which does not matter: they exceed every limit. */
const readLength = (bytes: Buffer, at: number, count: number): number =>
  count === 2 ? bytes.readUInt16BE(at) : Number(bytes.readBigUInt64BE(at))
