// Bytes of events in, a client's response out, in order and bounded: who reads too slowly is told apart
// from who reads. It knows nothing of what events mean.

import type { ServerResponse } from 'node:http'

/** An event as bytes, and as a chunk of HTTP/1.1 that holds them: made once for all who get it. */
export interface EventBytes {
  readonly body: Buffer
  readonly chunk: Buffer
}

/** What may wait for a client besides what is on its way to it. */
const MAX_WAITING_BYTES = 1024 * 1024

/** What an event that waits costs beside its bytes, which all its streams share. */
const OVERHEAD_BYTES = 64

export const toEventBytes = (text: string): EventBytes => {
  const length = Buffer.byteLength(text)
  const size = `${length.toString(16)}\r\n`
  const chunk = Buffer.from(`${size}${text}\r\n`)
  return { body: chunk.subarray(size.length, size.length + length), chunk }
}

export class EventOutput {
  /** Of the body, handed over to be sent. */
  bytes = 0
  readonly #response: ServerResponse
  #waiting: EventBytes[] = []
  #waitingBytes = 0
  #isBlocked = false

  /** @param response its head has been written */
  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** Everything has gone out. */
  get isIdle(): boolean {
    return !this.#isBlocked && this.#response.writableLength === 0
  }

  get isGone(): boolean {
    return this.#response.destroyed
  }

  /** False: nothing more can be written, as too much waits or the client has gone. */
  write(event: EventBytes): boolean {
    if (this.isGone) return false
    if (!this.#isBlocked) {
      if (!this.#hand(event)) this.#block()
      return true
    }
    if (this.#waitingBytes > MAX_WAITING_BYTES) return false
    this.#waiting.push(event)
    this.#waitingBytes += event.chunk.length + OVERHEAD_BYTES
    return true
  }

  /** After all that waits. */
  end(): void {
    if (this.isGone) return
    for (const event of this.#waiting) this.#hand(event)
    this.#forget(this.#waiting.length)
    this.#response.end()
  }

  destroy(): void {
    this.#forget(this.#waiting.length)
    this.#response.destroy()
  }

  /**
   * By the socket where there is one: node makes four writes of a chunk, framed here it is one (3.5 µs and
   * 2.1 µs per stream and event). False: no more until it has drained.
   */
  #hand({ body, chunk }: EventBytes): boolean {
    const { socket, chunkedEncoding } = this.#response
    this.bytes += body.length
    return socket === null
      ? this.#response.write(body)
      : socket.write(chunkedEncoding ? chunk : body)
  }

  #block(): void {
    this.#isBlocked = true
    const source = this.#response.socket ?? this.#response
    source.once('drain', () => {
      this.#resume()
    })
  }

  #resume(): void {
    this.#isBlocked = false
    const { socket } = this.#response
    if (this.isGone || this.#response.writableEnded) return
    socket?.cork()
    let handed = 0
    for (const event of this.#waiting) {
      handed++
      if (this.#hand(event)) continue
      this.#block()
      break
    }
    this.#forget(handed)
    socket?.uncork()
  }

  #forget(count: number): void {
    for (const { chunk } of this.#waiting.splice(0, count))
      this.#waitingBytes -= chunk.length + OVERHEAD_BYTES
  }
}
