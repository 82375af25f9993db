// Implements the client of one connection with undici. undici connects again by itself when its connection has ended.

import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type * as Undici from 'undici'
import type { Dispatcher } from 'undici'
import { loadLate } from '../../base/load-late.ts'
import {
  type ClientOptions,
  type ClientRequest,
  type HttpClient,
  MAX_HEAD_BYTES,
  type ResponseHandler,
} from './http-client.ts'
import { withoutContinue } from './interim.ts'
import { UpstreamError } from './upstream.ts'

/**
 * The class of undici that sends requests, without the rest of the package (fetch, caches, mocks, WebSocket), which would
 * take 11 MB. undici has no entry of its own for it; a release that moves the file fails every test of forwarding. It is
 * loaded for the first connection, as the default is another client.
 */
const loadClient = (): typeof Undici.Client =>
  loadLate('undici/lib/dispatcher/client.js') as typeof Undici.Client

export const openUndiciClient = (options: ClientOptions): HttpClient => new UndiciClient(options)

class UndiciClient implements HttpClient {
  readonly isReusable = true
  /** A request was sent and nothing of its response has arrived. */
  awaitsResponse = false
  /** What ended the latest connection, if that was no orderly end. */
  socketError: Error | undefined
  readonly #client: Undici.Client

  constructor({ origin, keepAliveMs, connect, onConnected, onDisconnected }: ClientOptions) {
    const Class = loadClient()
    this.#client = new Class(origin, {
      connect: (_to, connected) => {
        connect((...outcome) => {
          const [failure, socket] = outcome
          if (failure === null) {
            skipContinue(socket, this)
            this.#watchErrors(socket)
            connected(null, socket)
          } else connected(failure, null)
        })
      },
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: MAX_HEAD_BYTES,
      // We use our own deadlines: undici's timers tick twice a second and may fire half a second early.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    this.#client.on('connect', onConnected).on('disconnect', onDisconnected)
    // A handler that threw was notified before; without a listener the error would end the process.
    const emitter: EventEmitter = this.#client
    emitter.on('error', () => undefined)
  }

  dispatch(
    { method, path, headers, body, contentLength }: ClientRequest,
    handler: ResponseHandler,
  ): void {
    const all =
      contentLength === undefined
        ? (headers as string[])
        : [...headers, 'content-length', String(contentLength)]
    this.#client.dispatch({ method, path, headers: all, body }, new Handler(this, handler))
  }

  destroy(): void {
    this.#client.destroy(null, () => undefined)
  }

  get isDestroyed(): boolean {
    return this.#client.destroyed
  }

  /** Before undici does: it takes a reset for the end of a body that ends with its connection. */
  #watchErrors(socket: Socket): void {
    this.socketError = undefined
    socket.on('error', (error) => {
      this.socketError = error
    })
  }
}

type Controller = Dispatcher.DispatchController

/** Passes what undici reports to our handler. */
class Handler implements Dispatcher.DispatchHandler {
  readonly #client: UndiciClient
  readonly #handler: ResponseHandler

  constructor(client: UndiciClient, handler: ResponseHandler) {
    this.#client = client
    this.#handler = handler
  }

  onRequestStart(controller: Controller): void {
    if (!this.#handler.onRequestStart(controller))
      throw new UpstreamError('aborted', 'given up while it connected', false)
    this.#client.awaitsResponse = true
  }

  onBodySent(): void {
    this.#handler.onBodySent()
  }

  onRequestSent(): void {
    this.#handler.onRequestSent()
  }

  onResponseStarted(): void {
    this.#client.awaitsResponse = false
    this.#handler.onResponseStarted()
  }

  onResponseStart(_controller: Controller, statusCode: number, headers: ParsedHeaders): void {
    if (statusCode >= 200) this.#handler.onResponseHead(statusCode, flatten(headers))
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    // It passes one at each `resume`: who pauses at that would never learn that the upstream is too slow.
    if (chunk.length === 0) return
    if (!this.#handler.onResponseData(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    const { socketError } = this.#client
    if (socketError === undefined) this.#handler.onResponseEnd()
    else this.#handler.onResponseError(socketError)
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    this.#handler.onResponseError(error)
  }
}

type ParsedHeaders = Readonly<Record<string, string | string[] | undefined>>

/** undici has decoded and collected them already; using the raw buffers would do it twice. */
const flatten = (headers: ParsedHeaders): string[] => {
  const list: string[] = []
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (typeof value === 'string') list.push(name, value)
    else if (value !== undefined) for (const each of value) list.push(name, each)
  }
  return list
}

/** Hooks into `read`, by which undici reads its sockets: there is no other place between them and its parser. */
const skipContinue = (socket: Socket, client: UndiciClient): void => {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  socket.read = (size) => {
    const chunk = read(size)
    if (chunk === null || !client.awaitsResponse) return chunk
    const rest = withoutContinue(chunk)
    return rest.length === 0 ? read() : rest
  }
}
