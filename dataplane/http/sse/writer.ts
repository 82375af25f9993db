// Writes events to a client's response, in order and within bounds, and detects clients that read too slowly. It
// knows nothing of what events mean.

import type { ServerResponse } from 'node:http'
import type { Holding } from '../../memory/memory-budget.ts'

/** An event as bytes, and as a chunk of HTTP/1.1 with them: created once for all clients. */
export interface EventBytes {
  readonly body: Buffer
  readonly chunk: Buffer
  /** How many clients it waits for. */
  waiting: number
}

/** Most bytes that may wait for a client, besides those being sent. */
const MAX_WAITING_BYTES = 1024 * 1024

/** The cost of an event that waits, besides its bytes, which all its streams share. */
const OVERHEAD_BYTES = 64

export const toEventBytes = (text: string): EventBytes => {
  const length = Buffer.byteLength(text)
  const size = `${length.toString(16)}\r\n`
  const chunk = Buffer.from(`${size}${text}\r\n`)
  return { body: chunk.subarray(size.length, size.length + length), chunk, waiting: 0 }
}

export class EventOutput {
  /** Bytes of the body that were handed over to be sent. */
  bytes = 0
  readonly #response: ServerResponse
  readonly #memory: Holding
  #waiting: EventBytes[] = []
  #waitingBytes = 0
  #isBlocked = false
  /** The event that was handed over last, if the client does not read it fast enough. */
  #onItsWay: EventBytes | undefined

  /**
   * @param response its head has been written
   * @param memory of all streams together: charged once for the bytes of each event that waits
   */
  constructor(response: ServerResponse, memory: Holding) {
    this.#response = response
    this.#memory = memory
  }

  /** Everything has been sent. */
  get isIdle(): boolean {
    return !this.#isBlocked && this.#response.writableLength === 0
  }

  get isGone(): boolean {
    return this.#response.destroyed
  }

  /** False: nothing more can be written, as too much waits or the client has disconnected. */
  write(event: EventBytes): boolean {
    if (this.isGone) return false
    if (!this.#isBlocked) {
      if (!this.#hand(event)) this.#block(event)
      return true
    }
    if (this.#waitingBytes > MAX_WAITING_BYTES) return false
    const newBytes = OVERHEAD_BYTES + (event.waiting === 0 ? event.chunk.length : 0)
    if (!this.#memory.reserve(newBytes)) return false
    event.waiting++
    this.#waiting.push(event)
    this.#waitingBytes += event.chunk.length + OVERHEAD_BYTES
    return true
  }

  /** Ends the response after everything that waits. */
  end(): void {
    if (this.isGone) return
    for (const event of this.#waiting) this.#hand(event)
    this.#forget(this.#waiting.length)
    this.#response.end()
  }

  destroy(): void {
    this.discard()
    this.#response.destroy()
  }

  /** Drops everything that waits. */
  discard(): void {
    this.#forget(this.#waiting.length)
    this.#arrived()
  }

  /**
   * Writes to the socket, which a request has from its start to its end: node makes four writes of a chunk, framed
   * here it is one (3.5 µs and 2.1 µs per stream and event). False: no more until it has drained.
   */
  #hand({ body, chunk }: EventBytes): boolean {
    const { socket, chunkedEncoding } = this.#response
    this.bytes += body.length
    return socket?.write(chunkedEncoding ? chunk : body) ?? false
  }

  #block(event: EventBytes): void {
    this.#isBlocked = true
    this.#onItsWay = event
    // It was handed to the socket in any case.
    if (event.waiting++ === 0) this.#memory.add(event.chunk.length)
    this.#response.socket?.once('drain', () => {
      this.#resume()
    })
  }

  #resume(): void {
    this.#isBlocked = false
    this.#arrived()
    const { socket } = this.#response
    if (this.isGone || this.#response.writableEnded) return
    socket?.cork()
    let handed = 0
    for (const event of this.#waiting) {
      handed++
      if (this.#hand(event)) continue
      this.#block(event)
      break
    }
    this.#forget(handed)
    socket?.uncork()
  }

  #arrived(): void {
    const event = this.#onItsWay
    this.#onItsWay = undefined
    if (event !== undefined && --event.waiting === 0) this.#memory.subtract(event.chunk.length)
  }

  #forget(count: number): void {
    for (const event of this.#waiting.splice(0, count)) {
      const { length } = event.chunk
      this.#waitingBytes -= length + OVERHEAD_BYTES
      this.#memory.subtract(OVERHEAD_BYTES + (--event.waiting === 0 ? length : 0))
    }
  }
}
