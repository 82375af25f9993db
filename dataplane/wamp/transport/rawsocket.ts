// Carries WAMP over RawSocket (WAMP protocol, *RawSocket Transport*) to a TCP, TLS or unix socket, with the first
// serializer that the router accepts, each tried on a connection of its own. It answers pings and sends none: Crossbar
// takes one for the head of a 16 MiB message and reads nothing after it.

import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { FRAME, FrameBatch, FrameReader, type FrameType } from './rawsocket-frames.ts'
import { greeting, HANDSHAKE_BYTES, readResponse, takenBytes } from './rawsocket-handshake.ts'
import type { RouterDial } from './router-dial.ts'
import type { RawSocketUrl, UnixSocketUrl } from './router-url.ts'
import { SERIALIZERS } from './serializers/by-name.ts'
import {
  checkedLength,
  reasonOf,
  TransportLife,
  type Carrier,
  type TransportOpening,
} from './connection.ts'
import { MessageError } from '../protocol/message-error.ts'
import type { Transport, TransportHandlers, TransportTarget } from '../protocol/transport.ts'
import type { SerializerName, WampMessage } from '../protocol/messages.ts'

/** @throws what `net` and `tls` throw for options that they can't take, and Error where it may not be dialled */
export const openRawSocketTransport = (
  url: RawSocketUrl | UnixSocketUrl,
  target: TransportTarget,
  handlers: TransportHandlers,
  opening: TransportOpening,
): Transport => {
  return new RawSocketTransport(connectorTo(url, target, opening.dial), target, handlers, opening)
}

/** The sockets emit `connect`, or for TLS `secureConnect`, when they can be written to. */
const connectorTo = (
  url: RawSocketUrl | UnixSocketUrl,
  target: TransportTarget,
  { lookupFor, secureContext }: RouterDial,
): (() => Socket) => {
  if (url.kind === 'rawsocket-unix') return () => connectTcp({ path: url.path })
  const { host, port } = url
  const lookup = lookupFor(host, port)
  return () => {
    const socket = url.isSecure
      ? connectTls({
          host,
          port,
          lookup,
          // RFC 6066 §3: literals are no server names.
          ...(isIP(host) === 0 && { servername: host }),
          secureContext: secureContext(),
        })
      : connectTcp({ host, port, lookup })
    // The kernel's own keep-alive detects hosts that are gone, if nothing makes the router respond.
    return socket.setNoDelay(true).setKeepAlive(true, target.keepaliveMs || IDLE_MS)
  }
}

const IDLE_MS = 60_000

/** A peer that pings and never reads gets no pongs once so much waits to be sent. */
const MAX_WAITING_FOR_PONG_BYTES = 1024 * 1024

class RawSocketTransport implements Transport, Carrier {
  readonly #connect: () => Socket
  readonly #target: TransportTarget
  readonly #life: TransportLife
  readonly #reader: FrameReader
  readonly #batch = new FrameBatch()
  #socket: Socket
  /** What was received of the router's handshake. */
  #handshake = Buffer.alloc(0)
  #sendLimitBytes = 0

  constructor(
    connect: () => Socket,
    target: TransportTarget,
    handlers: TransportHandlers,
    opening: TransportOpening,
  ) {
    this.#connect = connect
    this.#target = target
    this.#socket = connect()
    this.#life = new TransportLife(target, handlers, this, opening)
    this.#reader = new FrameReader(takenBytes(target.maxMessageBytes), (type, payload) => {
      this.#takeFrame(type, payload)
    })
    this.#greet(0)
  }

  send(message: WampMessage): void {
    if (!this.#life.isOpen) return
    const encoded = this.#life.serializer.encode(message)
    this.#add(FRAME.message, encoded, checkedLength(encoded, this.#sendLimitBytes))
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength + this.#batch.bytes
  }

  get hasRoom(): boolean {
    return this.#life.backlog.hasRoom
  }

  close(): void {
    const { isOpen } = this.#life
    if (!this.#life.startClosing()) return
    this.#flush()
    if (isOpen) this.#socket.end()
    else this.#socket.destroy()
  }

  get bytesRead(): number {
    return this.#socket.bytesRead
  }

  release(): void {
    this.#socket.destroy()
  }

  /** Offers the serializer of that index on a new connection. */
  #greet(index: number): void {
    const socket = this.#socket
    const name = this.#target.serializers[index]
    if (name === undefined) {
      this.#life.end(
        'unreachable',
        `the router takes none of ${this.#target.serializers.join(', ')}`,
      )
      return
    }
    const lost = (reason: string): void => {
      if (socket === this.#socket) this.#life.end('lost', reason)
    }
    socket
      .on('data', (chunk) => {
        if (socket !== this.#socket) return
        if (this.#life.isConnecting) this.#takeHandshake(chunk, index, name)
        else this.#take(chunk)
      })
      .on('drain', this.#measure)
      .on('error', (error) => {
        lost(reasonOf(error))
      })
      .on('end', () => {
        // A close of ours waits until all has been written.
        if (this.#life.isOpen) lost('the router closed the connection')
      })
      .on('close', () => {
        lost('the router closed the connection')
      })
    // Waits in the socket until it is connected.
    socket.write(greeting(SERIALIZERS[name].rawSocketId, this.#target.maxMessageBytes))
  }

  #takeHandshake(chunk: Buffer, index: number, name: SerializerName): void {
    this.#handshake = Buffer.concat([this.#handshake, chunk])
    if (this.#handshake.length < HANDSHAKE_BYTES) return
    const rest = this.#handshake.subarray(HANDSHAKE_BYTES)
    const response = readResponse(this.#handshake, SERIALIZERS[name].rawSocketId)
    this.#handshake = Buffer.alloc(0)
    switch (response.kind) {
      case 'ready':
        this.#sendLimitBytes = Math.min(response.takesBytes, this.#target.maxMessageBytes)
        this.#life.open(name)
        this.#take(rest)
        break
      case 'other-serializer':
        this.#reconnect(index + 1)
        break
      case 'refused':
        this.#life.end('unreachable', response.why)
    }
  }

  #reconnect(index: number): void {
    const rejecting = this.#socket
    if (index < this.#target.serializers.length) this.#socket = this.#connect()
    rejecting.destroy()
    this.#greet(index)
  }

  #take(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      const isOfFrame = error instanceof MessageError && error.code === 'malformed_frame'
      this.#life.end('malformed', isOfFrame ? error.message : 'a frame that cannot be taken')
    }
  }

  #takeFrame(type: FrameType, payload: Buffer): void {
    if (type === FRAME.message) this.#life.take(payload)
    else if (type === FRAME.ping && this.bufferedBytes < MAX_WAITING_FOR_PONG_BYTES)
      this.#add(FRAME.pong, Buffer.from(payload), payload.length)
  }

  #add(type: FrameType, payload: string | Uint8Array, length: number): void {
    // One write for everything that is sent in one tick of the event loop.
    if (this.#batch.bytes === 0) setImmediate(this.#flush)
    this.#batch.add(type, payload, length)
  }

  readonly #measure = (): void => {
    this.#life.backlog.measure(this.#socket.writableLength)
  }

  readonly #flush = (): void => {
    if (this.#batch.bytes > 0) this.#socket.write(this.#batch.take())
    this.#measure()
  }
}
