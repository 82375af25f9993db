// Manages the life of one connection, whatever carries it: connecting, open, closing, ended. It decodes bytes to
// messages for the handlers, runs the timers, and reports the end once. It knows no socket, and nothing that a handler
// throws reaches the carrier.

import type { MemoryBudget } from '../../memory/memory-budget.ts'
import type { RouterDial } from './router-dial.ts'
import { SendBacklog } from './send-backlog.ts'
import { SERIALIZERS } from './serializers/by-name.ts'
import type { Serializer } from './serializers/serializer.ts'
import { watchSilence, type Every } from './keep-alive.ts'
import { MessageError } from '../protocol/message-error.ts'
import type { TransportEnd, TransportHandlers, TransportTarget } from '../protocol/transport.ts'
import type { SerializerName, WampMessage } from '../protocol/messages.ts'

/** What carries the bytes. */
export interface Carrier {
  readonly bytesRead: number
  /** Makes any peer respond; without it the session has to. */
  ping?(): void
  /** Releases the connection after the end; when `malformed`, the peer may be told the reason first. */
  release(kind: TransportEnd['kind']): void
}

/** What all transports of a process have in common. */
export interface TransportOpening {
  readonly dial: RouterDial
  /** How long a close may take, the router's too, before the connection is destroyed. */
  readonly closeGraceMs: number
  /** Counts what waits to be sent, and says whether there is room for a received message. */
  readonly memory: MemoryBudget
  /** Measures silence; by the system's clock when absent. */
  readonly every?: Every
}

type State = 'connecting' | 'open' | 'closing' | 'ended'

export class TransportLife {
  /** What the carrier has not been able to send yet. */
  readonly backlog: SendBacklog
  readonly #target: TransportTarget
  readonly #handlers: TransportHandlers
  readonly #carrier: Carrier
  readonly #opening: TransportOpening
  #state: State = 'connecting'
  #serializer: Serializer = SERIALIZERS.json
  #timer: NodeJS.Timeout
  #stopWatching: (() => void) | undefined

  constructor(
    target: TransportTarget,
    handlers: TransportHandlers,
    carrier: Carrier,
    opening: TransportOpening,
  ) {
    this.#target = target
    this.#handlers = handlers
    this.#carrier = carrier
    this.#opening = opening
    this.backlog = new SendBacklog(opening.memory, {
      destroy: () => {
        this.end('lost', 'the router does not read what it is sent, and memory has run out')
      },
    })
    this.#timer = setTimeout(() => {
      this.end('unreachable', `no connection within ${target.connectTimeoutMs} ms`)
    }, target.connectTimeoutMs).unref()
  }

  get isConnecting(): boolean {
    return this.#state === 'connecting'
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  open(name: SerializerName): void {
    if (this.#state !== 'connecting') return
    clearTimeout(this.#timer)
    this.#state = 'open'
    this.#serializer = SERIALIZERS[name]
    this.#stopWatching = this.#watch()
    try {
      this.#handlers.onOpen({ serializer: name })
    } catch (error) {
      this.#endForHandler(error)
    }
  }

  #watch(): (() => void) | undefined {
    const carrier = this.#carrier
    const { keepaliveMs } = this.#target
    if (keepaliveMs === 0 || !(carrier.ping ?? this.#handlers.onQuiet)) return undefined
    const peer = {
      bytesRead: () => carrier.bytesRead,
      ping: () => {
        this.#ping()
      },
      onSilent: () => {
        this.end('silent', `nothing came for ${keepaliveMs} ms`)
      },
    }
    return watchSilence(keepaliveMs, peer, this.#opening.every)
  }

  #ping(): void {
    if (this.#carrier.ping) {
      this.#carrier.ping()
      return
    }
    try {
      this.#handlers.onQuiet?.()
    } catch (error) {
      this.#endForHandler(error)
    }
  }

  /** The one that was negotiated. */
  get serializer(): Serializer {
    return this.#serializer
  }

  /** Takes the bytes of one message; those that arrive after a close are dropped. */
  take(bytes: Buffer): void {
    if (this.#state !== 'open') return
    const { maxMessageBytes } = this.#target
    const isTooLarge = bytes.length > maxMessageBytes
    const isTaken = !isTooLarge && this.#opening.memory.open().hasRoomFor(bytes.length)
    let message: WampMessage
    try {
      message = this.#serializer.decode(isTaken ? bytes : beginningOf(bytes))
    } catch (error) {
      const why = isTooLarge
        ? `a message has more than ${maxMessageBytes} bytes`
        : 'the gateway has no memory for a message now'
      this.#takeUnreadable(
        !isTaken && isUndecodable(error)
          ? new MessageError('undecodable', why, { head: error.head })
          : error,
      )
      return
    }
    if (!isTaken) {
      this.end('malformed', 'a message that goes on behind its end')
      return
    }
    try {
      this.#handlers.onMessage(message)
    } catch (error) {
      this.#endForHandler(error)
    }
  }

  #takeUnreadable(error: unknown): void {
    if (!isUndecodable(error)) {
      this.end('malformed', 'a message that cannot be taken')
      return
    }
    if (error.head === undefined) {
      this.end('malformed', error.message)
      return
    }
    try {
      this.#handlers.onUnreadable(error.head, error.message)
    } catch (cause) {
      this.#endForHandler(cause)
    }
  }

  /** Reports the name alone: the message of an error may quote the WAMP message. */
  #endForHandler(error: unknown): void {
    const name = error instanceof Error ? error.name : typeof error
    this.end('malformed', `the session failed (${name})`)
  }

  /** Starts to close the connection; false if that has begun already. */
  startClosing(): boolean {
    if (this.#state === 'closing' || this.#state === 'ended') return false
    this.#state = 'closing'
    this.#stopClocks()
    this.#timer = setTimeout(() => {
      this.end('closed', '')
    }, this.#opening.closeGraceMs).unref()
    return true
  }

  /**
   * Ends it, once. A connection that we are closing ends as `closed`, whatever ends it; one that never opened as
   * `unreachable`.
   */
  end(kind: TransportEnd['kind'], reason: string): void {
    const was = this.#state
    if (was === 'ended') return
    this.#state = 'ended'
    this.#stopClocks()
    this.backlog.end()
    this.#carrier.release(kind)
    const end: TransportEnd =
      was === 'closing'
        ? { kind: 'closed', reason: 'we closed the connection' }
        : { kind: was === 'connecting' ? 'unreachable' : kind, reason }
    try {
      this.#handlers.onClose(end)
    } catch {
      // This was the last call of the handlers: there is nothing left to end.
    }
  }

  #stopClocks(): void {
    clearTimeout(this.#timer)
    this.#stopWatching?.()
  }
}

const isUndecodable = (error: unknown): error is MessageError =>
  error instanceof MessageError && error.code === 'undecodable'

/** Enough to determine which request a message belongs to, cut between two characters. */
const beginningOf = (bytes: Buffer): Buffer => {
  let end = Math.min(BEGINNING_BYTES, bytes.length - 1)
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}

const BEGINNING_BYTES = 4096

/**
 * @returns the bytes of an encoded message
 * @throws MessageError `unencodable`
 */
export const checkedLength = (encoded: string | Uint8Array, limitBytes: number): number => {
  const bytes = typeof encoded === 'string' ? Buffer.byteLength(encoded) : encoded.length
  if (bytes > limitBytes)
    throw new MessageError(
      'unencodable',
      `the message has ${bytes} bytes, the limit is ${limitBytes}`,
    )
  return bytes
}

/** Connecting to several addresses fails with an error that has a code but no message. */
export const reasonOf = (error: Error): string =>
  error.message || ('code' in error ? String(error.code) : error.name)
