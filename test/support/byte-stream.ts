// Reads the bytes of a socket as lines and blocks, within a deadline. It never loses what came before the other side
// hung up, and never throws for a reset: that is an end like any other.

import type { Socket } from 'node:net'

/** No complete message within the time allowed. */
export class HungError extends Error {
  override readonly name = 'HungError'
}

/** The connection ended, or the bytes are not the protocol, before a message was complete. */
export class BrokenError extends Error {
  override readonly name = 'BrokenError'
}

const CRLF = Buffer.from('\r\n')

export class ByteStream {
  readonly socket: Socket
  #chunks: Buffer[] = []
  #length = 0
  #ended = false
  #wake: (() => void) | undefined
  readonly #deadlineMs: number

  /** `deadlineMs` is on the clock of `performance.now()`; without one, reading waits as long as it takes. */
  constructor(socket: Socket, deadlineMs = Infinity) {
    this.socket = socket
    this.#deadlineMs = deadlineMs
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#length += chunk.length
      this.#wake?.()
    })
    const end = (): void => {
      this.#ended = true
      this.#wake?.()
    }
    socket.on('end', end).on('close', end).on('error', end)
  }

  /** The other side has closed, and what it sent may still be read. */
  get ended(): boolean {
    return this.#ended
  }

  get length(): number {
    return this.#length
  }

  /** Waits for bytes beyond those at hand: false at the end, or once `isQuiet` says that nothing will come. */
  async more(isQuiet: (now: number) => number = () => Infinity): Promise<boolean> {
    const before = this.#length
    while (this.#length === before) {
      if (this.#ended) return false
      const now = performance.now()
      if (now >= this.#deadlineMs) {
        throw new HungError(`no complete response in time; so far ${this.#sample()}`)
      }
      const quietAt = isQuiet(now)
      if (now >= quietAt) return false
      await this.#changeWithin(Math.min(this.#deadlineMs, quietAt) - now)
    }
    return true
  }

  /** The text up to the next CRLF, as latin-1, without it. */
  async line(): Promise<string> {
    for (;;) {
      const bytes = this.#compact()
      const at = bytes.indexOf(CRLF)
      if (at >= 0) {
        this.#keep(bytes.subarray(at + CRLF.length))
        return bytes.toString('latin1', 0, at)
      }
      if (!(await this.more())) throw new BrokenError(`connection closed after ${this.#sample()}`)
    }
  }

  async take(count: number): Promise<Buffer> {
    while (this.#length < count) {
      if (!(await this.more())) {
        throw new BrokenError(`connection closed after ${this.#length} of ${count} body bytes`)
      }
    }
    const bytes = this.#compact()
    this.#keep(bytes.subarray(count))
    return bytes.subarray(0, count)
  }

  async takeToEnd(): Promise<Buffer> {
    while (await this.more());
    const bytes = this.#compact()
    this.#keep(Buffer.alloc(0))
    return bytes
  }

  #compact(): Buffer {
    if (this.#chunks.length !== 1) this.#keep(Buffer.concat(this.#chunks))
    return this.#chunks[0] ?? Buffer.alloc(0)
  }

  #keep(bytes: Buffer): void {
    this.#chunks = [bytes]
    this.#length = bytes.length
  }

  #sample(): string {
    const text = this.#compact().toString('latin1', 0, 160)
    return JSON.stringify(this.#length > 160 ? `${text}… (${this.#length} bytes)` : text)
  }

  /** Resolves at the next byte or end, and after `ms` at the latest. */
  #changeWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(ms) ? setTimeout(done, Math.ceil(ms)) : undefined
      this.#wake = done
      function done(): void {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
