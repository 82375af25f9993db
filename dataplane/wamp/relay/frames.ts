// Scans the frames of one direction of a WebSocket connection (RFC 6455 §5.2), and says how many of its bytes may pass
// on, or what is wrong with them. It follows headers, and unmasks the first bytes of a message where a gate asks for them.

import type { FrameError } from './frame-error.ts'
import { type HelloGate, MAX_HEAD_BYTES } from './hello-gate.ts'

const OPCODE = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa }
const KNOWN_OPCODES: ReadonlySet<number> = new Set(Object.values(OPCODE))

/** What the header of a frame says. */
interface Frame {
  readonly opcode: number
  readonly isFinal: boolean
  readonly isMasked: boolean
  /** Four bytes (RFC 6455 §5.3); none where it is not masked. */
  readonly mask: Buffer
  readonly hasReservedBits: boolean
  readonly headerBytes: number
  readonly payloadBytes: number
}

/** What frames must be like. */
export interface FrameRules {
  /** Frames of a client are masked (RFC 6455 §5.1). */
  readonly isMasked: boolean
  readonly maxMessageBytes: number
}

export interface FrameScannerOptions {
  /** Absent: whatever they are, they pass, and only where each ends is read. */
  readonly rules?: FrameRules | undefined
  /** Decides about each message before any of it passes; absent: all pass. */
  readonly gate?: HelloGate | undefined
}

/** The most bytes of a message that is not decided about: with control frames between its fragments, and their headers. */
const MAX_HELD_BYTES = 4 * MAX_HEAD_BYTES

/**
 * A header is scanned only once it is complete, so that what was scanned ends at the end of a frame or within a payload.
 * @example
 * const count = scanner.scan(bytes) // those behind `count` are passed again, before the bytes that follow
 * socket.write(bytes.subarray(0, count - scanner.heldBytes))
 */
export class FrameScanner {
  readonly #options: FrameScannerOptions
  #frame: Frame | undefined = undefined
  #payloadLeft = 0
  #heldBytes = 0
  /** The size so far of a fragmented message; undefined: none is in progress. */
  #messageBytes: number | undefined = undefined
  #isInClose = false
  #error: FrameError | undefined = undefined

  constructor(options: FrameScannerOptions) {
    this.#options = options
  }

  /** Once set, nothing passes any more. */
  get error(): FrameError | undefined {
    return this.#error
  }

  /** Bytes of a frame that has begun to pass: 0 between frames, and of one that is held. */
  get payloadLeft(): number {
    return this.#heldBytes > 0 ? 0 : this.#payloadLeft
  }

  /** How many of the last scanned bytes must not pass so far: they are of a message that is not decided about. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** A fragment of a message has been scanned, but not its last one. */
  get isInMessage(): boolean {
    return this.#messageBytes !== undefined
  }

  /** A complete Close frame has passed: nothing may follow it (RFC 6455 §5.5.1). */
  get hasClosed(): boolean {
    return this.#isInClose && this.#payloadLeft === 0
  }

  /** @returns how many bytes from the start of `bytes` were scanned; of these, all but the held ones may pass */
  scan(bytes: Buffer): number {
    let at = this.#payloadLeft === 0 ? 0 : this.#scanPayload(bytes)
    while (at < bytes.length && this.#error === undefined && !this.hasClosed) {
      const frame = readHeader(bytes, at)
      if (frame === undefined) return at
      this.#error = this.#errorOf(frame)
      if (this.#error !== undefined) return at
      this.#enter(frame)
      this.#hold(frame.headerBytes)
      at += frame.headerBytes
      at += this.#scanPayload(bytes.subarray(at))
    }
    return at
  }

  /** Without looking at them, and no further than the end of the current frame. */
  finishFrame(bytes: Buffer): number {
    const count = Math.min(this.#payloadLeft, bytes.length)
    this.#payloadLeft -= count
    return count
  }

  #scanPayload(bytes: Buffer): number {
    const { gate } = this.#options
    const frame = this.#frame
    if (frame === undefined) return 0
    const start = frame.payloadBytes - this.#payloadLeft
    const count = this.finishFrame(bytes)
    if (gate?.isWaiting === true && frame.opcode < OPCODE.close) {
      const first = bytes.subarray(0, Math.min(count, MAX_HEAD_BYTES))
      gate.read(unmasked(first, frame.mask, start), frame.isFinal && this.#payloadLeft === 0)
    }
    this.#hold(count)
    return count
  }

  /** Counts bytes of a message that is not decided about. */
  #hold(count: number): void {
    const { gate } = this.#options
    if (gate === undefined) return
    this.#heldBytes = gate.isWaiting ? this.#heldBytes + count : 0
    if (this.#heldBytes > MAX_HELD_BYTES) gate.refuse('the first bytes of a message take too many')
    this.#error ??= gate.error
  }

  #errorOf(frame: Frame): FrameError | undefined {
    const { rules } = this.#options
    if (rules === undefined) return undefined
    const { isMasked, maxMessageBytes } = rules
    const { opcode, isFinal, payloadBytes } = frame
    if (frame.hasReservedBits) return protocolError('reserved bits are set')
    if (!KNOWN_OPCODES.has(opcode)) return protocolError('unknown opcode')
    if (frame.isMasked !== isMasked)
      return protocolError(isMasked ? 'frames must be masked' : 'frames must not be masked')
    if (opcode >= OPCODE.close)
      return isFinal && payloadBytes <= 125 ? undefined : protocolError('bad control frame')
    const isContinuation = opcode === OPCODE.continuation
    if (isContinuation !== (this.#messageBytes !== undefined))
      return protocolError('fragments out of order')
    if (payloadBytes + (this.#messageBytes ?? 0) > maxMessageBytes)
      return { code: 1009, reason: `messages may have ${maxMessageBytes} bytes` }
    return undefined
  }

  #enter(frame: Frame): void {
    const { opcode, isFinal, payloadBytes } = frame
    const { gate } = this.#options
    this.#frame = frame
    this.#payloadLeft = payloadBytes
    if (opcode === OPCODE.close && gate?.isWaiting === true)
      gate.refuse('the connection is closed within a message')
    else this.#isInClose = opcode === OPCODE.close
    if (opcode >= OPCODE.close) return
    if (opcode !== OPCODE.continuation) gate?.begin(opcode === OPCODE.text)
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
    mask: Buffer.from(bytes.subarray(at + headerBytes - (isMasked ? 4 : 0), at + headerBytes)),
    headerBytes,
    payloadBytes,
  }
}

/** Lengths beyond 2^53 are rounded, which does not matter: they exceed every limit. */
const readLength = (bytes: Buffer, at: number, count: number): number =>
  count === 2 ? bytes.readUInt16BE(at) : Number(bytes.readBigUInt64BE(at))

/** @param start where the bytes stand in the payload of their frame */
const unmasked = (bytes: Buffer, mask: Buffer, start: number): Buffer =>
  bytes.map((byte, at) => byte ^ (mask[(start + at) % mask.length] ?? 0)) as Buffer
