// How dispatch and the actions talk: dispatch hands a performer an `Exchange`, and the performer
// reports exactly one outcome to it, at once or later. Callbacks, not promises: the head of an
// upstream's answer and its first bytes come in one tick, and a static answer needs no tick at all.

import type { IncomingMessage } from 'node:http'
import type { Authority } from '../authority.ts'
import type { Context } from '../context.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import type { Holding } from '../memory/memory-budget.ts'

/** `action.error` (behaviour §4): what `on_error` reads. */
export interface ActionError {
  readonly error_uri: string
  readonly args: readonly Value[]
  readonly kwargs: ValueMap
  readonly details: ValueMap
  readonly status_code: number
  readonly headers: ValueMap
  readonly body: Value
  /** For the error record where the document has no `on_error`; not visible to expressions. */
  readonly message: string
}

/** Head of an upstream answer whose body passes through unread. Names lower case, in order, end-to-end only. */
export interface StreamHead {
  readonly statusCode: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** False: none follows, by status or method of the request, also where the headers describe one. */
  readonly hasBody: boolean
}

/** Where passed-through bytes go. `write` returns false when the client is slow: pause until `onDrain`. */
export interface ByteSink {
  /** False: no body is wanted; what is written is thrown away. */
  readonly takesBody: boolean
  write(chunk: Uint8Array): boolean
  onDrain(resume: () => void): void
  /** Cuts the client's connection where fewer bytes came than were promised. */
  end(): void
  /** The upstream died in the middle: the client's connection is cut, so that it can't take half for whole. */
  destroy(cause: Error): void
}

/** One server-sent event (WHATWG HTML §9.2): `data` is `on_result.body` with `result` as `action.result`. */
export interface OutgoingEvent {
  readonly result: ValueMap
  /** Field `event`; a plain message without. */
  readonly name?: string
  /** Field `id`. */
  readonly id?: string
}

/** Where the events of an answer go. What may wait for a slow client is bounded: beyond that it is cut off. */
export interface EventSink {
  /**
   * False: the client has gone or was cut off, or the event's expressions failed: the stream is over. One and
   * the same `result` for several streams is rendered once, where its body reads nothing of the request.
   */
  send(event: OutgoingEvent): boolean
  /** Sends `on_error.body` as an event named `failure`, then ends. */
  fail(error: ActionError): void
  comment(text: string): void
  end(): void
}

export interface Exchange {
  readonly context: Context
  /** The raw request: streamed bodies are read from it by the forward action only. */
  readonly incoming: IncomingMessage
  /** Pays for what is held for this request until its answer is settled. */
  readonly memory: Holding
  /** Whom the client has asked for. */
  readonly authority: Authority
  /**
   * Whose request it is, where slots are shared out: an IPv4 address, the /64 of an IPv6 address. undefined: not
   * known, as for those behind a proxy that does not tell.
   */
  readonly from: string | undefined
  /** Undecoded body where dispatch has buffered it (a template reads it, or it is small). */
  readonly rawBody: Buffer | undefined
  /** The action succeeded; goes through `on_result`. */
  succeed(result: ValueMap): void
  /** The action failed; goes through `on_error`. */
  fail(error: ActionError): void
  /** Not the action's outcome: a refusal, or an expression that failed. Never goes through `on_error`. */
  refuse(error: Error): void
  /** The body passes through: writes the head now, gives where the bytes go; undefined if the client has gone or the head was refused. */
  stream(head: StreamHead): ByteSink | undefined
  /** What Accept says of `text/event-stream`: better than the other types on offer, at all, not at all. */
  readonly eventStreams: 'preferred' | 'accepted' | 'refused'
  /**
   * The answer becomes a stream of events: writes the head now (status and headers of `on_result`, `action.result`
   * being `result`). Heartbeats are looked after. undefined: nothing can follow, and all is settled; the client
   * has gone, the head was refused, the request is a HEAD, or the gateway shuts down.
   */
  events(result: ValueMap): EventSink | undefined
  /** Runs when the client goes away or the gateway gives the request up, also to shut down. At most one at a time; undefined clears it. */
  onCancel(cancel: (() => void) | undefined): void
}

/** Built once per operation at its first use; run for every request. */
export type Perform = (exchange: Exchange) => void
