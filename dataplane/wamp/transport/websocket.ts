// Carries WAMP over WebSocket (RFC 6455) to a `ws` or `wss` URL, with the best sub-protocol that the router accepts. It
// compresses nothing and follows no redirect.

import { randomFillSync } from 'node:crypto'
import type { LookupFunction, Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { WebSocket, type ClientOptions } from 'ws'
import { endpointOf, type WebSocketUrl } from './router-url.ts'
import { SERIALIZERS } from './serializers/by-name.ts'
import {
  checkedLength,
  reasonOf,
  TransportLife,
  type Carrier,
  type TransportOpening,
} from './connection.ts'
import type {
  Transport,
  TransportEnd,
  TransportHandlers,
  TransportTarget,
} from '../protocol/transport.ts'
import { FrameBatch, OPCODE } from './websocket-frames.ts'
import type { SerializerName, WampMessage } from '../protocol/messages.ts'

/** @throws what `ws` throws for options that it can't take */
export const openWebSocketTransport = (
  url: WebSocketUrl,
  target: TransportTarget,
  handlers: TransportHandlers,
  opening: TransportOpening,
): Transport => {
  const { dial, closeGraceMs } = opening
  const { host, port } = endpointOf(new URL(url.href))
  const options: ClientOptions & MoreOptions = {
    lookup: dial.lookupFor(host, port),
    ...(url.href.startsWith('wss:') && { secureContext: dial.secureContext() }),
    maxPayload: MAX_PAYLOAD_FACTOR * target.maxMessageBytes,
    perMessageDeflate: false,
    // The serializers check it themselves, at less cost.
    skipUTF8Validation: true,
    closeTimeout: closeGraceMs,
  }
  const protocols = [...new Set(target.serializers)].map(subProtocol)
  const webSocket = new WebSocket(url.href, protocols, options)
  return new WebSocketTransport(webSocket, target, handlers, opening)
}

/** Options that `ws` passes on to `net` and `tls`, and one that its types lack. */
interface MoreOptions {
  readonly lookup: LookupFunction
  readonly secureContext?: SecureContext
  readonly closeTimeout: number
}

/**
 * Routers may pass on larger messages by WebSocket than they accept by RawSocket, and bytes grow by a third in JSON: a
 * message up to this many times the limit fails one call, and not the session with all the others.
 */
const MAX_PAYLOAD_FACTOR = 4

/** WAMP protocol, *WebSocket Transport*. */
const subProtocol = (name: SerializerName): string => `wamp.2.${name}`

/** RFC 6455 §7.4.1. */
const NORMAL_CLOSURE = 1000
const PROTOCOL_ERROR = 1002
const NO_CLOSE_FRAME = 1006

class WebSocketTransport implements Transport, Carrier {
  readonly #webSocket: WebSocket
  readonly #maxMessageBytes: number
  readonly #life: TransportLife
  readonly #batch = new FrameBatch(randomFillSync)
  #socket: Socket | undefined

  constructor(
    webSocket: WebSocket,
    target: TransportTarget,
    handlers: TransportHandlers,
    opening: TransportOpening,
  ) {
    this.#webSocket = webSocket
    this.#maxMessageBytes = target.maxMessageBytes
    this.#life = new TransportLife(target, handlers, this, opening)
    webSocket
      .on('upgrade', (response) => {
        this.#socket = response.socket
        response.socket.on('drain', this.#measure)
      })
      .on('open', () => {
        this.#opened()
      })
      .on('message', (data, isBinary) => {
        this.#take(data as Buffer, isBinary)
      })
      .on('error', (error) => {
        this.#life.end(isErrorOfPeer(error) ? 'malformed' : 'lost', reasonOf(error))
      })
      .on('close', (code, reason) => {
        this.#life.end('lost', closeReason(code, reason.toString()))
      })
  }

  send(message: WampMessage): void {
    if (!this.#life.isOpen) return
    const encoded = this.#life.serializer.encode(message)
    const length = checkedLength(encoded, this.#maxMessageBytes)
    // One write for everything that is sent in one tick of the event loop: half the CPU per call.
    if (this.#batch.bytes === 0) setImmediate(this.#flush)
    this.#batch.add(typeof encoded === 'string' ? OPCODE.text : OPCODE.binary, encoded, length)
  }

  get bufferedBytes(): number {
    return this.#webSocket.bufferedAmount + this.#batch.bytes
  }

  get hasRoom(): boolean {
    return this.#life.backlog.hasRoom
  }

  close(): void {
    if (!this.#life.startClosing()) return
    this.#flush()
    if (this.#webSocket.readyState === WebSocket.CONNECTING) this.#webSocket.terminate()
    else this.#webSocket.close(NORMAL_CLOSURE)
  }

  get bytesRead(): number {
    return this.#socket?.bytesRead ?? 0
  }

  ping(): void {
    this.#webSocket.ping()
  }

  release(kind: TransportEnd['kind']): void {
    // A Close frame goes first; `closeTimeout` bounds the rest.
    if (kind === 'malformed' && this.#webSocket.readyState !== WebSocket.CONNECTING)
      this.#webSocket.close(PROTOCOL_ERROR)
    else this.#webSocket.terminate()
  }

  #opened(): void {
    const { protocol } = this.#webSocket
    const serializer = Object.values(SERIALIZERS).find(({ name }) => subProtocol(name) === protocol)
    if (serializer === undefined) this.#life.end('unreachable', 'the router took no sub-protocol')
    else this.#life.open(serializer.name)
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (isBinary !== this.#life.serializer.isText) this.#life.take(data)
    else
      this.#life.end(
        'malformed',
        `a ${isBinary ? 'binary' : 'text'} frame came instead of the other kind`,
      )
  }

  readonly #measure = (): void => {
    this.#life.backlog.measure(this.#socket?.writableLength ?? 0)
  }

  /** `ws` writes whole frames at once too, so ours stand between them; nothing follows its Close frame. */
  readonly #flush = (): void => {
    if (this.#batch.bytes === 0) return
    const frames = this.#batch.take()
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#socket?.write(frames)
    this.#measure()
  }
}

/** `ws` gives such codes to what breaks RFC 6455, and to messages over `maxPayload`. */
const isErrorOfPeer = (error: Error): boolean =>
  'code' in error && String(error.code).startsWith('WS_ERR_')

const closeReason = (code: number, words: string): string => {
  if (code === NO_CLOSE_FRAME) return 'the connection was lost'
  return `the router closed the connection (${code}${words === '' ? '' : `, ${plain(words)}`})`
}

/** A router's reason, at most 123 bytes (RFC 6455 §5.5), without control characters. */
const plain = (words: string): string => words.replace(/\p{C}/gu, '?')
