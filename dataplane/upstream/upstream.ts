// The door to HTTP upstreams: send a request, give its head and body to a sink, abort. Small, so that
// a faster client can stand beside undici without anyone noticing.

import type { Readable } from 'node:stream'
import { CodedError } from '../../base/coded-error.ts'
import type { Endpoint } from './endpoints/endpoint-set.ts'
import type { PoolScope } from './limiter.ts'

export interface UpstreamRequest {
  /** `http://host:port` */
  readonly origin: string
  /** Upper case. */
  readonly method: string
  /** Path and query, ready for the request line. */
  readonly path: string
  /** Flat list name, value, name, value; no framing headers. */
  readonly headers: readonly string[]
  /** A function opens a stream when it is to be sent: one that waits for its turn reads nothing of its client. */
  readonly body: Uint8Array | Readable | (() => Readable) | null
  /** Bytes of a streamed body when known: framed by length, else chunked. */
  readonly contentLength?: number | undefined
  /** For a slot of the pool, and again for the connection. */
  readonly connectTimeoutMs: number
  /** Up to the response headers, then for the longest pause between chunks. */
  readonly timeoutMs: number
  /** Of all that is in the cluster it may go to Services of this namespace alone. */
  readonly confinedTo?: string | undefined
  /** Whose request it is: answers that tell of a fault count for this realm alone. */
  readonly realm?: string | undefined
  /** Whose slots for connections to this origin it takes one of, or waits for one; undefined: it needs none. */
  readonly scope?: PoolScope | undefined
  /** The client that it is for, where slots are shared out (`Exchange.from`). */
  readonly from?: string | undefined
  /** A document names the origin as it is: nothing of a request stands in it. */
  readonly isNamed?: boolean | undefined
  /** The attempt before: another address is taken, or where there is none a new connection. */
  readonly after?: UpstreamCall | undefined
}

export type UpstreamFailure =
  | 'overloaded' // no slot became free in time, or too many wait for one
  | 'refused' // no connection: nothing was sent
  | 'denied' // the destination guard said no
  | 'connect_timeout'
  | 'timeout'
  | 'reset' // broken off; `headSeen` tells whether an answer had begun
  | 'malformed'
  | 'aborted' // by us

export class UpstreamError extends CodedError<UpstreamFailure> {
  readonly headSeen: boolean

  constructor(code: UpstreamFailure, message: string, headSeen: boolean, cause?: unknown) {
    super(code, message, cause === undefined ? undefined : { cause })
    this.headSeen = headSeen
  }
}

export interface UpstreamSink {
  /** Raw header list: name, value, name, value. 1xx heads are not reported. */
  onHead(statusCode: number, rawHeaders: readonly Buffer[] | readonly string[]): void
  /** false: pause until `resume()` of the call. */
  onData(chunk: Buffer): boolean
  onEnd(): void
  /** Exactly one of `onEnd` and `onError`, once. */
  onError(error: UpstreamError): void
}

export interface UpstreamCall {
  abort(): void
  resume(): void
  /** Where the request went, as far as it is known yet. */
  readonly endpoint?: Endpoint | undefined
}

export interface Upstream {
  /** The sink hears nothing before this has returned. */
  send(request: UpstreamRequest, sink: UpstreamSink): UpstreamCall
  /** For gauges: per origin that documents name, and `other`, connections open, busy, and requests that wait. */
  stats(): readonly UpstreamStats[]
  /** Origins that no loaded document names any more are closed when idle. */
  close(): Promise<void>
}

export interface UpstreamStats {
  readonly origin: string
  readonly connected: number
  readonly running: number
  readonly queued: number
}
