// Reads what Node keeps of a connection and has no public name for. Whether it is there is checked at the start
// (`start/private-doors.ts`).

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

interface RequestParser {
  /** The request whose head was read last. */
  readonly incoming?: Pick<IncomingMessage, 'complete' | 'resume'> | null
  /** What came in the read that is parsed now. */
  readonly getCurrentBuffer?: () => Buffer
}

/** The response in progress on this connection. */
export const responseOn = (socket: object): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined

/** undefined: the connection was upgraded, and Node has removed its parser. */
export const parserOn = (socket: object): RequestParser | undefined =>
  (socket as { readonly parser?: RequestParser | null }).parser ?? undefined

/**
 * Bytes of the current write that the kernel has not accepted yet. The figure changes in steps of a third of its
 * buffer.
 */
export const queuedBytesOf = (socket: object): number | undefined =>
  (socket as { readonly _handle?: { readonly writeQueueSize?: number } | null })._handle
    ?.writeQueueSize

/** The socket that a TLS connection was accepted on. */
export const socketUnder = (secure: TLSSocket): Socket | undefined =>
  (secure as { _parent?: Socket })._parent
