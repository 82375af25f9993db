// Defines the interface of a transport, which carries whole messages in both directions to the address of a router. A
// transport opens once, reports its end exactly once, and never throws at the code that passes it bytes. It knows
// nothing of sessions.

import type { SerializerName, WampMessage } from './messages.ts'

export interface TransportTarget {
  /** `ws://`, `wss://` (WebSocket); `rs://`, `rss://` with host and port, `rs+unix:/path` (RawSocket). */
  readonly url: string
  /** Best first. */
  readonly serializers: readonly SerializerName[]
  /** The connection ends when nothing has been received for so long, pongs included; 0: never. */
  readonly keepaliveMs: number
  /** Up to the end of the transport's own handshake. */
  readonly connectTimeoutMs: number
  /**
   * A larger one is not sent. A larger one that is received by WebSocket, up to four times as large, is unreadable; any
   * other ends the connection.
   */
  readonly maxMessageBytes: number
}

export interface TransportHandlers {
  onOpen(protocol: { readonly serializer: SerializerName }): void
  /** A list that begins with a whole number; nothing else of it has been checked. */
  onMessage(message: WampMessage): void
  /** A message whose first elements could be read and whose payload could not: one call fails, not the session. */
  onUnreadable(head: WampMessage, why: string): void
  /**
   * Nothing has been received for half of `keepaliveMs`, and the transport has no ping that every router understands:
   * the handler makes the router respond to something. Without it such a transport does not detect a silent peer.
   */
  onQuiet?(): void
  /** Called once, whatever happened; also when it never opened. */
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
  /** False: something waits to be sent, and the memory of the process is tight. */
  readonly hasRoom: boolean
  /** Flushes what was sent, then ends; `onClose` follows. Idempotent. */
  close(): void
}

/** Never throws: a bad URL is an `unreachable` end. */
export type OpenTransport = (target: TransportTarget, handlers: TransportHandlers) => Transport
