// Keeps one request of a client and how far it is, and sends it. Its handler gets exactly one end, unless it has aborted.

import type { Socket } from 'node:net'
import { BodyWriter } from './body-writer.ts'
import { type ClientRequest, formatHead, type RequestHead } from './request-writer.ts'
import type { SwitchedConnection } from '../upstream.ts'
import type { ResponseParser } from './response-parser.ts'

export interface ResponseHandler {
  /** Sending begins. @returns false: it was given up meanwhile, so nothing is sent, and the handler is not called again */
  onRequestStart(exchange: Exchange): boolean
  /** A part of the body was passed to the socket. */
  onBodySent(): void
  /** All of the request was passed to the socket. */
  onRequestSent(): void
  /** Something of a response has arrived. */
  onResponseStarted(): void
  /** The head of a 103: name, value, name, value, names in lower case. Other interim heads are not reported. */
  onEarlyHints(headers: readonly string[]): void
  /** The final head, in the same form. */
  onResponseHead(statusCode: number, headers: readonly string[]): void
  /** In place of a final head: the connection is the handler's from now on. It is the end. */
  onSwitched(connection: SwitchedConnection): void
  /** @returns false: nothing more until `resume()` */
  onResponseData(chunk: Buffer): boolean
  /** Exactly one of `onResponseEnd` and `onResponseError`, once, unless the handler has aborted. */
  onResponseEnd(): void
  onResponseError(error: Error): void
}

/** What an exchange needs of its client. */
export interface ExchangeOwner {
  resume(exchange: Exchange): void
  recycle(exchange: Exchange): void
  /** Ends the exchange, and with it the connection. */
  fail(exchange: Exchange, error: Error): void
  destroy(): void
}

type Heads = Pick<ResponseParser, 'hints' | 'head'>

export class Exchange {
  readonly request: ClientRequest
  readonly handler: ResponseHandler
  /** Something of it may have reached the upstream. */
  isSent = false
  /** All of the request was passed to the socket. */
  isRequestOver = false
  /** The handler is not called any more. */
  isOver = false
  /** The connection must not serve another request. */
  closes = false
  readonly #owner: ExchangeOwner
  #hasBegun = false
  #body: BodyWriter | undefined

  constructor(owner: ExchangeOwner, request: ClientRequest, handler: ResponseHandler) {
    this.#owner = owner
    this.request = request
    this.handler = handler
  }

  /** Ends the exchange and its connection. The handler is not called any more. */
  abort(): void {
    if (this.isOver) return
    this.end()
    this.#owner.destroy()
  }

  /** Continues after `onResponseData` returned false. */
  resume(): void {
    this.#owner.resume(this)
  }

  /** Tells that the handler holds none of the bytes any more that it was given: others are read into their memory. */
  recycle(): void {
    this.#owner.recycle(this)
  }

  send(socket: Socket, host: string): void {
    const { request, handler } = this
    let head: RequestHead
    try {
      head = formatHead(request, host)
    } catch (error) {
      this.#owner.fail(this, error as TypeError)
      return
    }
    if (!handler.onRequestStart(this)) {
      this.abort()
      return
    }
    this.isSent = true
    this.closes = head.closes
    const { body } = request
    if (body === null || body instanceof Uint8Array) {
      writeWhole(socket, head.text, body)
      this.#onAllSent()
      return
    }
    this.#body = new BodyWriter(body, socket, head, {
      onSent: () => {
        handler.onBodySent()
      },
      onEnd: () => {
        this.#onAllSent()
      },
      onError: (error) => {
        this.#owner.fail(this, error)
      },
    })
    this.#body.start()
  }

  /** Something of the response has arrived. */
  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.handler.onResponseStarted()
  }

  onHead(step: 'hints' | 'head', { hints, head }: Heads): void {
    if (step === 'hints') this.handler.onEarlyHints(hints)
    else if (head !== undefined) this.handler.onResponseHead(head.statusCode, head.headers)
  }

  /** Nothing more is sent, and the handler is not called any more. */
  end(): void {
    this.isOver = true
    this.#body?.stop()
    this.#body = undefined
  }

  fail(error: Error): void {
    this.end()
    this.handler.onResponseError(error)
  }

  #onAllSent(): void {
    this.isRequestOver = true
    this.#body = undefined
    this.handler.onRequestSent()
  }
}

/** Larger ones take more time to copy than a second piece costs. */
const JOINED_BYTES = 4096

const writeWhole = (socket: Socket, head: string, body: Uint8Array | null): void => {
  if (body === null || body.length === 0) socket.write(head, 'latin1')
  else if (body.length <= JOINED_BYTES)
    socket.write(
      head + Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'),
      'latin1',
    )
  else {
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(body)
    socket.uncork()
  }
}
