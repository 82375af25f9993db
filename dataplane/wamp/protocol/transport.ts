// Defines the interface of a transport, which carries whole messages in both directions to the address of a router. A
// transport opens once, reports its end exactly once, and never throws at the code that passes it bytes. It knows
// nothing of sessions.

import type { SerializerName, WampMessage } from './messages.ts'

export interface TransportTarget {
  /** `ws://`, `wss://` (WebSocket); `rs://`, `rss://` with host and port, `rs+unix:/path` (RawSocket). */
  readonly url: string
  /** Best first. */
  readonly serializers: readonly SerializerName[]
  /** The connection ends when nothing has come in for so long, answers to our pings included; 0: never. */
  readonly keepaliveMs: number
  /** Up to the end of the transport's own handshake. */
  readonly connectTimeoutMs: number
  /**
   * A larger one is not sent. One that comes is unreadable by WebSocket, up to four times of it; else it ends the
   * connection.
   */
  readonly maxMessageBytes: number
}

export interface TransportHandlers {
  onOpen(protocol: { readonly serializer: SerializerName }): void
  /** A list that begins with a whole number; nothing else is known of it. */
  onMessage(message: WampMessage): void
  /** A message whose first elements could be read and whose payload could not: one call fails, not the session. */
  onUnreadable(head: WampMessage, why: string): void
  /**
   * Nothing has come for half of `keepaliveMs`, and the transport has no ping that every router understands: make
   * the router answer something. Without this handler such a transport does not notice that a peer is silent.
   */
  onQuiet?(): void
  /** Once, whatever happened; also when it never opened. */
  onClose(end: TransportEnd): void
}

export interface TransportEnd {
  readonly kind: 'unreachable' | 'lost' | 'silent' | 'malformed' | 'closed'
  /** For people; never a secret, no user info of the URL. */
  readonly reason: string
}

export interface Transport {
  /**
   * Encodes and sends at once (messages of one tick go out together).
   * @throws MessageError `unencodable` when the message can't be encoded or is too large: nothing was sent
   */
  send(message: WampMessage): void
  /** Bytes that the kernel has not taken yet. */
  readonly bufferedBytes: number
  /** False: much waits to be sent already, and the memory of the process is tight. */
  readonly hasRoom: boolean
  /** Lets what was sent go out, then ends; `onClose` follows. Idempotent. */
  close(): void
}

/** Never throws: a bad URL is an `unreachable` end. */
export type OpenTransport = (target: TransportTarget, handlers: TransportHandlers) => Transport
