// Defines the interface to HTTP upstreams: send a request, pass its head and body to a sink, abort.

import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { SecureContext } from 'node:tls'
import type { WebSocketOffer, WebSocketSwitch } from '../web-socket-switch.ts'
import { CodedError } from '../../base/coded-error.ts'
import type { Endpoint } from './endpoints/endpoint-set.ts'
import type { PoolScope } from './limiter.ts'

/** How TLS is spoken for a client certificate. Its connections serve no request without it. */
export interface ClientTls {
  /** Another one where anything of it is another: names the pool. Without spaces. */
  readonly id: string
  /** Certificate, key and trusted CAs. */
  readonly secureContext: SecureContext
  /** In place of the host of the origin: SNI, and the name that the certificate of the upstream must be for. */
  readonly serverName: string | undefined
}

export interface UpstreamRequest {
  /** `http://host:port` */
  readonly origin: string
  /** Upper case. */
  readonly method: string
  /** Path and query, ready for the request line. */
  readonly path: string
  /** Flat list name, value, name, value; no framing headers. */
  readonly headers: readonly string[]
  /** In `Host` in place of the host of the origin. */
  readonly hostHeader?: string | undefined
  /** A function opens a stream when the request is sent: one that waits in the queue reads nothing from its client. */
  readonly body: Uint8Array | Readable | (() => Readable) | null
  /** Bytes of a streamed body if known: it is framed by length, otherwise chunked. */
  readonly contentLength?: number | undefined
  /** The most time for a slot of the pool, and again for the connection. */
  readonly connectTimeoutMs: number
  /** The most time up to the response headers, then for each pause between chunks. */
  readonly timeoutMs: number
  /** Within the cluster it may go only to Services of this namespace. */
  readonly confinedTo?: string | undefined
  /** The realm of the request: responses that indicate a fault count only for this realm. */
  readonly realm?: string | undefined
  /** The pool scope in which it takes a slot for this origin, or waits for one; undefined: it needs none. */
  readonly scope?: PoolScope | undefined
  /** The client that it is for, by which slots are shared (`Exchange.from`). */
  readonly from?: string | undefined
  /** A document names the origin literally: it contains nothing of a request. */
  readonly isNamed?: boolean | undefined
  /** The client certificate to show. */
  readonly tls?: ClientTls | undefined
  /** Asks to switch to a WebSocket, on a connection of its own. */
  readonly webSocket?: WebSocketOffer | undefined
  /** The endpoint of the attempt before: another address is taken or, if there is none, a new connection. */
  readonly after?: UpstreamCall | undefined
}

export type UpstreamFailure =
  | 'overloaded' // no slot became free in time, or too many wait for one
  | 'refused' // no connection was opened: nothing was sent
  | 'denied' // the destination guard does not allow it
  | 'connect_timeout'
  | 'timeout'
  | 'reset' // closed by the peer; `headSeen`: a response had begun
  | 'malformed'
  | 'aborted' // by us

export class UpstreamError extends CodedError<UpstreamFailure> {
  readonly headSeen: boolean

  constructor(code: UpstreamFailure, message: string, headSeen: boolean, cause?: unknown) {
    super(code, message, cause === undefined ? undefined : { cause })
    this.headSeen = headSeen
  }
}

/** A connection that was switched, and is its receiver's from now on. */
export interface SwitchedConnection {
  /** Paused; its errors are ignored. */
  readonly socket: Socket
  /** The bytes that came behind the head. */
  readonly head: Buffer
  readonly chosen: WebSocketSwitch
  /** Raw header list of the 101. */
  readonly headers: readonly string[]
}

export interface UpstreamSink {
  /** The head of a 103, as a raw header list. It extends no deadline. */
  onEarlyHints?(rawHeaders: readonly string[]): void
  /** Raw header list: name, value, name, value. Of 1xx heads only those of 103 are reported. */
  onHead(statusCode: number, rawHeaders: readonly Buffer[] | readonly string[]): void
  /** false: pause until `resume()` of the call. */
  onData(chunk: Buffer): boolean
  onEnd(): void
  /** In place of `onHead`, for a request that asks for it: proven (RFC 6455 §4.1). It is the end. */
  onSwitched?(connection: SwitchedConnection): void
  /** Exactly one of `onEnd`, `onSwitched` and `onError`, once. */
  onError(error: UpstreamError): void
  /**
   * A connection that had served requests before has died before a byte of a response came: most likely the upstream
   * closed it while this request was sent. @returns true: the request is sent again, at once, on a new connection
   */
  onStale?(): boolean
}

export interface UpstreamCall {
  abort(): void
  resume(): void
  /**
   * Call it once neither the sink nor a receiver behind it references any of the bytes that it was given: their memory is
   * read into again.
   */
  recycle?(): void
  /** The endpoint that the request went to, as far as it is known yet. */
  readonly endpoint?: Endpoint | undefined
}

export interface Upstream {
  /** The sink is not called before this has returned. */
  send(request: UpstreamRequest, sink: UpstreamSink): UpstreamCall
  /** For gauges: open and busy connections and waiting requests, per origin that documents name, and `other`. */
  stats(): readonly UpstreamStats[]
  /** Closes idle connections, and the others after their requests. */
  close(): Promise<void>
}

export interface UpstreamStats {
  readonly origin: string
  readonly connected: number
  readonly running: number
  readonly queued: number
}
