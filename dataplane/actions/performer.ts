// Defines how dispatch and the actions work together: dispatch gives a performer an `Exchange`, and the performer
// reports exactly one result to it, synchronously or later. It uses callbacks, not promises: the head of an
// upstream's response and its first bytes arrive in one tick, and a static response needs no tick at all.

import type { IncomingMessage } from 'node:http'
import type { Authority } from '../../language/routes/authority.ts'
import type { Context } from '../context.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import type { Holding } from '../memory/memory-budget.ts'
import type { SwitchedConnection } from '../upstream/upstream.ts'
import type { WebSocketOffer } from '../web-socket-switch.ts'
import type { RequestFailure } from './request-failure.ts'

/** `action.error` (behaviour §4): what `on_error` reads. */
export interface ActionError {
  readonly error_uri: string
  readonly args: readonly Value[]
  readonly kwargs: ValueMap
  readonly details: ValueMap
  readonly status_code: number
  readonly headers: ValueMap
  readonly body: Value
  /** The sentence of the error record, which clients may read. */
  readonly message: string
}

/** The head of an upstream response whose body passes through unread. Names lower case, in order, end-to-end only. */
export interface StreamHead {
  readonly statusCode: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** False: none follows, because of status or method, even if the headers describe one. */
  readonly hasBody: boolean
}

/**
 * Takes the bytes of a body that passes through. `write` returns false if the client is slow: pause until `onDrain`.
 */
export interface ByteSink {
  /** False: the response has no body; what is written is discarded. */
  readonly takesBody: boolean
  write(chunk: Uint8Array): boolean
  /** All that was written has gone out to the client: none of its memory is held any more. */
  hasSentAll?(): boolean
  onDrain(resume: () => void): void
  /** Closes the client's connection if fewer bytes were written than declared. */
  end(): void
  /** Call it when the client is to blame: closes its connection, so that it cannot take half a body for the whole. */
  destroy(cause: Error): void
}

/** One server-sent event (WHATWG HTML §9.2): `data` is `on_result.body` with `result` as `action.result`. */
export interface OutgoingEvent {
  readonly result: ValueMap
  /** Field `event`; if left out, an unnamed message. */
  readonly name?: string
  /** Field `id`. */
  readonly id?: string
}

/**
 * Takes the events of a response. What may wait for a slow client is bounded: beyond that the client is disconnected.
 */
export interface EventSink {
  /**
   * False: the stream is over, as the client disconnected or was too slow, or the event's expressions failed. The
   * same `result` object for several streams is rendered once, if its body reads nothing of the request.
   */
  send(event: OutgoingEvent): boolean
  /** Sends `on_error.body` as an event named `failure`, then ends. */
  fail(error: ActionError): void
  comment(text: string): void
  end(): void
}

/** An upstream that has switched to a WebSocket. */
export interface SwitchedPeer extends Omit<SwitchedConnection, 'headers'> {
  /** Those of its 101, in the form of other responses. */
  readonly headers: StreamHead['headers']
}

export interface Exchange {
  readonly context: Context
  /** The raw request: streamed bodies are read from it by the forward action only. */
  readonly incoming: IncomingMessage
  /** Charged for what is held for this request until its response has ended. */
  readonly memory: Holding
  /** The host that the client has requested. */
  readonly authority: Authority
  /**
   * Names the client that slots are shared by: an IPv4 address, the /64 of an IPv6 address. undefined: not known, as behind a
   * proxy that does not name its clients.
   */
  readonly from: string | undefined
  /** The undecoded body if dispatch has buffered it (a template reads it, or it is small). */
  readonly rawBody: Buffer | undefined
  /**
   * Does what takes long, such as decoding a large body, when it is the turn of this document, and again for as long as
   * it returns true. It is done even if the client has disconnected.
   */
  defer(work: () => boolean): void
  /** The action succeeded; goes through `on_result`. */
  succeed(result: ValueMap): void
  /**
   * Keeps what makes the action fail, for the log. Call it before the failure is reported, or before a response that
   * passes through is cut off; the last one counts.
   */
  explain(failure: RequestFailure): void
  /** The action failed; goes through `on_error`. A response of which something was sent is cut off, and counts as failed. */
  fail(error: ActionError): void
  /**
   * The request is rejected, or an expression failed, which is no result of the action. Never goes through
   * `on_error`. A response of which something was sent is cut off.
   */
  refuse(error: Error): void
  /**
   * The body passes through: returns the sink of the bytes; undefined if the client has disconnected or the head was
   * rejected. The head goes out with the first bytes, or at the end of this turn of the event loop.
   */
  stream(head: StreamHead): ByteSink | undefined
  /** What the client offers that asks to switch to a WebSocket, where it may; otherwise undefined. */
  readonly webSocket: WebSocketOffer | undefined
  /** The upstream has switched to it: sends the 101, and passes on what either end sends. It is the response. */
  switchTo(peer: SwitchedPeer): void
  /** Sends the links of a 103 ahead of the response, if the client may have them. */
  hintEarly(headers: StreamHead['headers']): void
  /** How Accept rates `text/event-stream`: above the other types offered, acceptable, not acceptable. */
  readonly eventStreams: 'preferred' | 'accepted' | 'refused'
  /**
   * Makes the response a stream of events: writes the head now (status and headers of `on_result`, with `result` as
   * `action.result`) and sends heartbeats. undefined: the exchange is over, because the client has disconnected, the
   * head was rejected, the request is a HEAD, or the gateway shuts down.
   */
  events(result: ValueMap): EventSink | undefined
  /**
   * Sets the listener that is called when the client disconnects or the gateway aborts the request, also for a
   * shutdown. There is at most one; undefined clears it.
   */
  onCancel(cancel: (() => void) | undefined): void
}

/** Built once per operation at its first use; called for every request. */
export type Perform = (exchange: Exchange) => void
