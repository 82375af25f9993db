// Writes a streamed body of a request to the socket, framed by its length or in chunks, as fast as the socket takes it.
// It never writes more or fewer bytes than the head has declared.

import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { BodyFraming } from './request-writer.ts'

export interface BodyEvents {
  /** A part was passed to the socket. */
  onSent(): void
  /** All of it was passed to the socket. */
  onEnd(): void
  /** It broke off, or has another length than was declared: the connection is of no use any more. */
  onError(error: Error): void
}

export class BodyWriter {
  readonly #body: Readable
  readonly #socket: Socket
  readonly #framing: BodyFraming
  readonly #events: BodyEvents
  #sentBytes = 0
  /** What stands before the next bytes: the head first, which is sent together with the first of the body. */
  #prefix: string
  #isOver = false

  constructor(
    body: Readable,
    socket: Socket,
    head: { readonly text: string; readonly framing: BodyFraming },
    events: BodyEvents,
  ) {
    this.#body = body
    this.#socket = socket
    this.#framing = head.framing
    this.#prefix = head.text
    this.#events = events
  }

  start(): void {
    const body = this.#body
    if (body.destroyed && !body.readableEnded) {
      this.#fail(body.errored ?? BROKEN_OFF)
      return
    }
    body
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('error', this.#onError)
      .on('close', this.#onClose)
    this.#socket.on('drain', this.#onDrain)
  }

  /** The rest is not wanted. */
  stop(): void {
    if (this.#detach()) this.#body.destroy()
  }

  readonly #onData = (chunk: Buffer): void => {
    // An empty chunk would end the body.
    if (chunk.length === 0) return
    const { kind } = this.#framing
    this.#sentBytes += chunk.length
    if (this.#framing.kind === 'sized' && this.#sentBytes > this.#framing.bytes) {
      this.#fail(WRONG_LENGTH)
      return
    }
    const prefix =
      kind === 'chunked' ? `${this.#prefix}${chunk.length.toString(16)}\r\n` : this.#prefix
    this.#prefix = kind === 'chunked' ? '\r\n' : ''
    this.#socket.cork()
    if (prefix !== '') this.#socket.write(prefix, 'latin1')
    const goesOn = this.#socket.write(chunk)
    this.#socket.uncork()
    if (!goesOn) this.#body.pause()
    this.#events.onSent()
  }

  readonly #onDrain = (): void => {
    this.#body.resume()
  }

  readonly #onEnd = (): void => {
    const framing = this.#framing
    if (framing.kind === 'sized' && this.#sentBytes < framing.bytes) {
      this.#fail(WRONG_LENGTH)
      return
    }
    if (!this.#detach()) return
    const last = framing.kind === 'chunked' ? `${this.#prefix}0\r\n\r\n` : this.#prefix
    if (last !== '') this.#socket.write(last, 'latin1')
    this.#events.onEnd()
  }

  readonly #onError = (error: Error): void => {
    this.#fail(error)
  }

  readonly #onClose = (): void => {
    this.#fail(this.#body.errored ?? BROKEN_OFF)
  }

  #fail(error: Error): void {
    if (!this.#detach()) return
    this.#body.destroy()
    this.#events.onError(error)
  }

  /** @returns true once */
  #detach(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#socket.off('drain', this.#onDrain)
    // `error` keeps its listener: without one it would end the process.
    this.#body.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose)
    return true
  }
}

const BROKEN_OFF = new Error('the body of the request broke off')
const WRONG_LENGTH = new Error('the body of the request has another length than was declared')
