// Passes the bytes of one direction of a relayed WebSocket connection on to the other socket unchanged, no faster than
// that one takes them. Nothing but the gateway's own last message and Close frame is ever inserted.

import type { Duplex } from 'node:stream'
import type { Holding } from '../../memory/memory-budget.ts'
import type { FrameError } from './frame-error.ts'
import { FrameScanner, type FrameScannerOptions } from './frames.ts'

export interface DirectionEnds {
  readonly from: Duplex
  readonly to: Duplex
}

export interface DirectionOptions extends FrameScannerOptions {
  /** Charged for what the receiver does not take. */
  readonly memory?: Holding | undefined
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** The sender has violated the protocol, or exceeded a limit. */
  readonly onError: (error: FrameError) => void
}

const NOTHING = Buffer.alloc(0)

export class RelayDirection {
  readonly #from: Duplex
  readonly #to: Duplex
  readonly #options: DirectionOptions
  readonly #scanner: FrameScanner
  /** What has not passed: bytes that the scanner holds, and behind them the beginning of an incomplete header. */
  #rest = NOTHING
  /** Frames of ours that wait for the end of the current frame, and end with Close. */
  #last: { readonly message: Buffer; readonly close: Buffer } | undefined = undefined
  #isOver = false
  #stuckSinceMs: number | undefined = undefined
  /** What is charged for bytes that wait for the receiver. */
  #chargedBytes = 0
  #lastByteMs: number

  constructor({ from, to }: DirectionEnds, options: DirectionOptions) {
    this.#from = from
    this.#to = to
    this.#options = options
    this.#scanner = new FrameScanner(options)
    this.#lastByteMs = options.now()
    to.on('drain', () => {
      this.#stuckSinceMs = undefined
      this.#charge(0)
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
    if (this.#last !== undefined) {
      this.#pass(chunk.subarray(0, this.#scanner.finishFrame(chunk)))
      this.#sendLast()
      return
    }
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const scanned = this.#scanner.heldBytes
    const count = scanned + this.#scanner.scan(bytes.subarray(scanned)) - this.#scanner.heldBytes
    // A copy: a few bytes must not keep the whole chunk.
    this.#rest = count === bytes.length ? NOTHING : Buffer.from(bytes.subarray(count))
    this.#pass(bytes.subarray(0, count))
    if (this.#scanner.hasClosed) this.#isOver = true
    else if (this.#scanner.error !== undefined) this.#options.onError(this.#scanner.error)
  }

  /**
   * Sends the Close frame to the receiver as soon as the current frame has ended, and nothing after it. `message` is sent
   * before it, unless that would be within another message.
   */
  close(close: Buffer, message: Buffer = NOTHING): void {
    if (this.#isOver || this.#last !== undefined) return
    this.#last = { message, close }
    this.#sendLast()
  }

  /** Ends the receiver's half, as nothing more comes. */
  end(): void {
    this.#isOver = true
    this.#to.end()
  }

  #sendLast(): void {
    if (this.#last === undefined || this.#scanner.payloadLeft > 0) return
    const { message, close } = this.#last
    this.#rest = NOTHING
    this.#pass(this.#scanner.isInMessage ? close : Buffer.concat([message, close]))
    this.end()
    // Read on, so that the sender's own Close frame does not meet a closed socket and reset ours.
    this.#from.resume()
  }

  #pass(bytes: Buffer): void {
    if (bytes.length === 0 || !this.#to.writable) return
    if (this.#to.write(bytes)) return
    this.#stuckSinceMs ??= this.#options.now()
    this.#from.pause()
    this.#charge(this.#to.writableLength)
  }

  /** May destroy both ends, where memory is short and this client holds the most. */
  #charge(bytes: number): void {
    const more = bytes - this.#chargedBytes
    this.#chargedBytes = bytes
    if (more > 0) this.#options.memory?.add(more)
    else if (more < 0) this.#options.memory?.subtract(-more)
  }
}
