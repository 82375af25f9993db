// Passes the bytes of one direction of a relayed WebSocket connection on to the other socket unchanged, no faster than
// that one takes them. Nothing but the gateway's own Close frame is ever inserted.

import type { Duplex } from 'node:stream'
import { type FrameError, FrameScanner } from './frames.ts'

export interface LaneEnds {
  readonly from: Duplex
  readonly to: Duplex
}

export interface LaneOptions {
  /** Frames of a client are masked. */
  readonly isMasked: boolean
  readonly maxMessageBytes: number
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** The sender has violated the protocol, or exceeded a limit. */
  readonly onError: (error: FrameError) => void
}

const NOTHING = Buffer.alloc(0)

export class Lane {
  readonly #from: Duplex
  readonly #to: Duplex
  readonly #options: LaneOptions
  readonly #scanner: FrameScanner
  /** The beginning of an incomplete header, at most 13 bytes. */
  #rest = NOTHING
  /** A Close frame of ours that waits for the end of the current frame. */
  #closeFrame: Buffer | undefined = undefined
  #isOver = false
  #stuckSinceMs: number | undefined = undefined
  #lastByteMs: number

  constructor({ from, to }: LaneEnds, options: LaneOptions) {
    this.#from = from
    this.#to = to
    this.#options = options
    this.#scanner = new FrameScanner(options)
    this.#lastByteMs = options.now()
    to.on('drain', () => {
      this.#stuckSinceMs = undefined
      from.resume()
    })
  }

  /** Nothing passes any more: a Close frame, theirs or ours, was the last. */
  get isOver(): boolean {
    return this.#isOver
  }

  get lastByteMs(): number {
    return this.#lastByteMs
  }

  /** Since when the receiver has read nothing of what waits for it; undefined: nothing waits. */
  get stuckSinceMs(): number | undefined {
    return this.#stuckSinceMs
  }

  /** Takes bytes of the sender. What follows a Close frame is dropped. */
  take(chunk: Buffer): void {
    this.#lastByteMs = this.#options.now()
    if (this.#isOver) return
    if (this.#closeFrame !== undefined) {
      this.#pass(chunk.subarray(0, this.#scanner.finishFrame(chunk)))
      this.#sendCloseFrame()
      return
    }
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const count = this.#scanner.scan(bytes)
    // A copy: a few bytes must not keep the whole chunk.
    this.#rest = count === bytes.length ? NOTHING : Buffer.from(bytes.subarray(count))
    this.#pass(bytes.subarray(0, count))
    if (this.#scanner.hasClosed) this.#isOver = true
    else if (this.#scanner.error !== undefined) this.#options.onError(this.#scanner.error)
  }

  /** Sends `frame` to the receiver as soon as the current frame has ended, and nothing after it. */
  close(frame: Buffer): void {
    if (this.#isOver || this.#closeFrame !== undefined) return
    this.#closeFrame = frame
    this.#sendCloseFrame()
  }

  /** Ends the receiver's half, as nothing more comes. */
  end(): void {
    this.#isOver = true
    this.#to.end()
  }

  #sendCloseFrame(): void {
    if (this.#closeFrame === undefined || this.#scanner.payloadLeft > 0) return
    this.#pass(this.#closeFrame)
    this.end()
    // Read on, so that the sender's own Close frame does not meet a closed socket and reset ours.
    this.#from.resume()
  }

  #pass(bytes: Buffer): void {
    if (bytes.length === 0 || !this.#to.writable) return
    if (this.#to.write(bytes)) return
    this.#stuckSinceMs ??= this.#options.now()
    this.#from.pause()
  }
}
