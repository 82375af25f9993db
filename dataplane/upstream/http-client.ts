// Defines the HTTP client of one connection to an upstream: it sends one request at a time and passes the response to a
// handler. undici is one implementation, our own (`http1/`) the other.

import type { Readable } from 'node:stream'
import type { OnConnected, Reading } from './destinations/connector.ts'

/** The implementations, as `--upstream-client` names them. */
export const UPSTREAM_CLIENTS = ['undici', 'built-in'] as const

export type UpstreamClient = (typeof UPSTREAM_CLIENTS)[number]

export interface ClientRequest {
  /** Upper case. */
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Flat list name, value, name, value; no framing headers. */
  readonly headers: readonly string[]
  readonly body: Uint8Array | Readable | null
  /** Bytes of a streamed body if known: it is framed by length, otherwise chunked. */
  readonly contentLength: number | undefined
}

/** What a handler can do with the exchange that is in progress; no effect once that is over. */
export interface ExchangeControl {
  /** Ends the exchange and its connection. The handler is not called any more, but for `onResponseError` by undici. */
  abort(error: Error): void
  /** Continues after `onResponseData` returned false. */
  resume(): void
  /** Tells that the handler holds none of the bytes any more that it was given: others are read into their memory. */
  recycle?(): void
}

export interface ResponseHandler {
  /** Sending begins. @returns false: it was given up meanwhile, so nothing is sent, and the handler is not called again */
  onRequestStart(control: ExchangeControl): boolean
  /** A part of the body was passed to the socket. */
  onBodySent(): void
  /** All of the request was passed to the socket. */
  onRequestSent(): void
  /** Something of a response has arrived. */
  onResponseStarted(): void
  /** The final head: name, value, name, value, names in lower case. Interim heads are not reported. */
  onResponseHead(statusCode: number, headers: readonly string[]): void
  /** @returns false: nothing more until `resume()` */
  onResponseData(chunk: Buffer): boolean
  /** Exactly one of `onResponseEnd` and `onResponseError`, once. */
  onResponseEnd(): void
  onResponseError(error: Error): void
}

export interface HttpClient {
  /** Call it when the exchange before is over. The handler may be called before this returns. */
  dispatch(request: ClientRequest, handler: ResponseHandler): void
  /** Closes the connection at once; a client that is still connecting stops that. */
  destroy(): void
  readonly isDestroyed: boolean
  /** False: the exchange before has left the connection in a state that no other request may be sent on. */
  readonly isReusable: boolean
}

/**
 * Opens the socket of a connection, as the pool decides. `reading` is for the socket that comes of it.
 * @param connected called once
 */
export type ConnectSocket = (connected: OnConnected, reading?: Reading) => void

export interface ClientOptions {
  /** `http://host:port` */
  readonly origin: string
  /** How long an idle connection is kept if the upstream names no time. */
  readonly keepAliveMs: number
  readonly connect: ConnectSocket
  readonly onConnected: () => void
  readonly onDisconnected: () => void
}

export type OpenClient = (options: ClientOptions) => HttpClient

/** The most bytes of the head of a response. */
export const MAX_HEAD_BYTES = 64 * 1024
