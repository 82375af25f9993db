// Reads the frames of a RawSocket from its bytes, and encodes frames for one write (WAMP protocol, *RawSocket
// Transport*). Each byte is copied at most once while it waits, and no declared length makes it allocate memory.

import { MessageError } from '../protocol/message-error.ts'

/** The lower three bits of a frame's first byte; the upper five are reserved. */
export const FRAME = { message: 0, ping: 1, pong: 2 } as const

export type FrameType = (typeof FRAME)[keyof typeof FRAME]

const HEAD_BYTES = 4
/** The length is the lower 24 bits of a head. */
const LENGTHS = 2 ** 24
/** Larger buffers are released once their frame is read. */
const MAX_RETAINED_BYTES = 64 * 1024

export class FrameReader {
  readonly #limitBytes: number
  readonly #onFrame: (type: FrameType, payload: Buffer) => void
  /** The beginning of a frame that is incomplete. */
  #pending = Buffer.alloc(0)
  #pendingBytes = 0

  /** @param onFrame its payload is valid until it returns */
  constructor(limitBytes: number, onFrame: (type: FrameType, payload: Buffer) => void) {
    this.#limitBytes = limitBytes
    this.#onFrame = onFrame
  }

  /** @throws MessageError `malformed_frame` */
  push(chunk: Buffer): void {
    let at = this.#pendingBytes === 0 ? 0 : this.#complete(chunk)
    while (chunk.length - at >= HEAD_BYTES) {
      const end = at + this.#frameBytes(chunk, at)
      if (end > chunk.length) break
      this.#onFrame(typeOf(chunk, at), chunk.subarray(at + HEAD_BYTES, end))
      at = end
    }
    if (at < chunk.length) this.#append(chunk, at, chunk.length)
  }

  /** Copies from `chunk` what the pending frame lacks; returns how many bytes that was. */
  #complete(chunk: Buffer): number {
    let at = this.#append(chunk, 0, HEAD_BYTES - this.#pendingBytes)
    if (this.#pendingBytes < HEAD_BYTES) return at
    const frameBytes = this.#frameBytes(this.#pending, 0)
    at = this.#append(chunk, at, at + frameBytes - this.#pendingBytes)
    if (this.#pendingBytes < frameBytes) return at
    const pending = this.#pending
    this.#pendingBytes = 0
    if (pending.length > MAX_RETAINED_BYTES) this.#pending = Buffer.alloc(0)
    this.#onFrame(typeOf(pending, 0), pending.subarray(HEAD_BYTES, frameBytes))
    return at
  }

  /** Copies what there is of `chunk` from `start` to `end`; returns where it stopped. */
  #append(chunk: Buffer, start: number, end: number): number {
    const stop = Math.max(start, Math.min(end, chunk.length))
    const pendingBytes = this.#pendingBytes + stop - start
    if (pendingBytes > this.#pending.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(pendingBytes, 2 * this.#pending.length, 256))
      this.#pending.copy(larger, 0, 0, this.#pendingBytes)
      this.#pending = larger
    }
    chunk.copy(this.#pending, this.#pendingBytes, start, stop)
    this.#pendingBytes = pendingBytes
    return stop
  }

  /** The size of the frame whose head stands at `at`. */
  #frameBytes(bytes: Buffer, at: number): number {
    if (bytes.readUInt8(at) > FRAME.pong)
      throw new MessageError('malformed_frame', 'a frame of an unknown type')
    const length = bytes.readUIntBE(at + 1, 3)
    if (length > this.#limitBytes)
      throw new MessageError(
        'malformed_frame',
        `a message of ${length} bytes, the limit is ${this.#limitBytes}`,
      )
    return HEAD_BYTES + length
  }
}

const typeOf = (bytes: Buffer, at: number): FrameType => bytes.readUInt8(at) as FrameType

/** Collects frames for one write. */
export class FrameBatch {
  /** Type and length of each, as the head of a frame has them. */
  #heads: number[] = []
  #payloads: (string | Uint8Array)[] = []
  bytes = 0

  /** @param length of the payload in bytes, up to 2^24 - 1 */
  add(type: FrameType, payload: string | Uint8Array, length: number): void {
    this.#heads.push(type * LENGTHS + length)
    this.#payloads.push(payload)
    this.bytes += HEAD_BYTES + length
  }

  /** All frames; the batch is empty then. */
  take(): Buffer {
    const buffer = Buffer.allocUnsafe(this.bytes)
    let at = 0
    for (let index = 0; index < this.#heads.length; index++) {
      const head = this.#heads[index] ?? 0
      at = buffer.writeUInt32BE(head, at)
      at += writePayload(buffer, at, this.#payloads[index] ?? '', head % LENGTHS)
    }
    this.#heads = []
    this.#payloads = []
    this.bytes = 0
    return buffer
  }
}

const writePayload = (
  buffer: Buffer,
  at: number,
  payload: string | Uint8Array,
  length: number,
): number => {
  if (typeof payload !== 'string') buffer.set(payload, at)
  // As many bytes as characters: ASCII, which is merely copied.
  else buffer.write(payload, at, length === payload.length ? 'latin1' : 'utf8')
  return length
}
