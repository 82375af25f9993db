// Speaks HTTP/1.1 on one connection to an upstream, for one request at a time. A request ends exactly once, and a
// connection whose state is in doubt (left-over bytes, a response that has ended before its request) serves no other.

import type { Socket } from 'node:net'
import { createDeadlines, type Deadlines, type Timed } from '../../deadlines.ts'
import type { MemoryBudget } from '../../memory/memory-budget.ts'
import type { OnConnected, Reading } from '../destinations/connector.ts'
import { PeerError } from '../peer-error.ts'
import { createAfterPoll, type Deferred } from './after-poll.ts'
import { Exchange, type ResponseHandler } from './exchange.ts'
import { OwnBuffers, READ_BYTES, ReadBuffer } from './read-buffer.ts'
import type { ClientRequest } from './request-writer.ts'
import { ResponseParser, type Step } from './response-parser.ts'
import { watchTlsEnd } from './tls-end.ts'

/**
 * Opens the socket of a connection, as the pool decides. `reading` is for the socket that comes of it; without one it emits
 * what it reads.
 * @param connected called once
 */
export type ConnectSocket = (connected: OnConnected, reading: Reading | undefined) => void

export interface ClientOptions {
  /** `http://host:port` */
  readonly origin: string
  /** How long an idle connection is kept if the upstream names no time. */
  readonly keepAliveMs: number
  readonly connect: ConnectSocket
  readonly onConnected: () => void
  readonly onDisconnected: () => void
}

export type OpenClient = (options: ClientOptions) => Http1Client

/** Idle connections are closed at most two ticks late. */
const IDLE_TICK_MS = 100
/** A connection is closed that long before the time that the upstream names, so that no request crosses its end. */
const KEEP_ALIVE_MARGIN_MS = 2000
const MAX_KEEP_ALIVE_MS = 600_000
/** The largest record of TLS: more are never read at once. */
const TLS_READ_BYTES = 16 * 1024

const NO_BYTES = Buffer.alloc(0)

interface ClientTools {
  readonly idleDeadlines: Deadlines
  readonly afterPoll: (deferred: Deferred) => void
  readonly readBuffer: Buffer
  readonly ownBuffers: OwnBuffers
}

/**
 * @param memory that read buffers are charged to
 * @example
 * const openClient = createOpenHttp1Client(memory)
 * openClient({ origin, keepAliveMs, connect, … }).dispatch(request, handler)
 */
export const createOpenHttp1Client = (memory: MemoryBudget): OpenClient => {
  const tools: ClientTools = {
    idleDeadlines: createDeadlines(IDLE_TICK_MS),
    afterPoll: createAfterPoll(),
    readBuffer: Buffer.allocUnsafeSlow(READ_BYTES),
    ownBuffers: new OwnBuffers(memory),
  }
  return (options) => new Http1Client(options, tools)
}

export class Http1Client implements Timed, Deferred {
  due = 0
  slot = -1
  isDestroyed = false
  /** False: the exchange before has left the connection in a state that no other request may be sent on. */
  isReusable = true
  readonly #options: ClientOptions
  readonly #tools: ClientTools
  readonly #host: string
  readonly #parser = new ResponseParser()
  readonly #reading: Reading
  readonly #buffer: ReadBuffer
  /** What a connection needs for its own buffers: those of TLS share none. */
  readonly #ownBytes: number
  /** Connected. */
  #socket: Socket | undefined
  #isConnecting = false
  /** The one that is in progress, or waits to be sent. */
  #exchange: Exchange | undefined
  #keepAliveMs: number
  /** How many bytes the latest read gave. */
  #readBytes = 0
  #isPaused = false
  /** Reading was stopped at the socket. */
  #isStopped = false
  /** Bytes that arrived while the handler wanted none. */
  #held: Buffer | undefined
  /** The upstream has closed its side while bytes of it are held. */
  #hasEnded = false
  /** TLS has ended without the upstream: what a body without a length still had is unknown. */
  #isCutOff = false

  constructor(options: ClientOptions, tools: ClientTools) {
    this.#options = options
    this.#tools = tools
    const { host, protocol } = new URL(options.origin)
    this.#host = host
    this.#keepAliveMs = options.keepAliveMs
    const isPlain = protocol === 'http:'
    this.#ownBytes = isPlain ? 0 : TLS_READ_BYTES
    // A TLS socket may read while bytes of another socket are looked at; a plain one reads in the poll phase alone.
    this.#buffer = new ReadBuffer(
      isPlain ? tools.readBuffer : Buffer.allocUnsafeSlow(TLS_READ_BYTES),
      tools.ownBuffers,
    )
    this.#reading = {
      buffer: () => this.#buffer.next(isPlain && this.#isMuchExpected()),
      callback: (length) => {
        this.#isStopped = !this.#onRead(length)
        return !this.#isStopped
      },
    }
  }

  /** Call it when the exchange before is over. The handler may be called before this returns. */
  dispatch(request: ClientRequest, handler: ResponseHandler): void {
    this.#exchange = new Exchange(this, request, handler)
    this.due = 0
    if (this.#socket === undefined) this.#connect()
    else this.#tools.afterPoll(this)
  }

  /** Closes the connection at once; a client that is still connecting stops that. */
  destroy(): void {
    this.isDestroyed = true
    this.isReusable = false
    this.#exchange?.end()
    this.#exchange = undefined
    this.#disconnect()
  }

  /** The time of an idle connection is up. */
  expire(): void {
    if (this.#exchange === undefined) this.#disconnect()
  }

  onPolled(): void {
    if (this.isDestroyed || this.#exchange === undefined) return
    if (this.#socket === undefined) this.#connect()
    else this.#send(this.#exchange, this.#socket)
  }

  /** Call it when the handler of the exchange wants more. */
  resume(exchange: Exchange): void {
    if (exchange !== this.#exchange || !this.#isPaused) return
    this.#isPaused = false
    const held = this.#held ?? NO_BYTES
    this.#releaseHeld()
    this.#parser.feed(held, held.length)
    if (!this.#advance(exchange, held)) return
    if (this.#hasEnded) this.#onPeerEnd()
    else this.#continueReading()
  }

  /** Call it when the handler of the exchange holds none of the bytes that it was given. */
  recycle(exchange: Exchange): void {
    if (exchange === this.#exchange) this.#buffer.recycle()
  }

  /** Call it when the exchange failed for another reason than its connection. */
  fail(exchange: Exchange, error: Error): void {
    if (exchange !== this.#exchange) return
    this.#exchange = undefined
    this.destroy()
    exchange.fail(error)
  }

  #connect(): void {
    if (this.#isConnecting) return
    this.#isConnecting = true
    this.#options.connect(
      (...result) => {
        this.#isConnecting = false
        const [failure, socket] = result
        if (this.isDestroyed) socket?.destroy()
        else if (failure === null) this.#open(socket)
        else if (this.#exchange !== undefined) this.fail(this.#exchange, failure)
        // One that is passed on is read as any other socket.
      },
      this.#isForWebSocket ? undefined : this.#reading,
    )
  }

  #open(socket: Socket): void {
    this.#socket = socket
    this.#isPaused = false
    this.#isStopped = false
    this.#hasEnded = false
    this.#isCutOff = false
    watchTlsEnd(socket, () => {
      if (socket === this.#socket) this.#isCutOff = true
    })
    if (this.#isForWebSocket) socket.on('data', this.#onChunk)
    socket
      .on('error', (error) => {
        this.#onLost(socket, error)
      })
      .on('end', () => {
        if (socket === this.#socket) this.#onPeerEnd()
      })
      .on('close', () => {
        this.#onLost(socket, new PeerError('closed', 'the upstream closed the connection'))
      })
    this.#tools.idleDeadlines.add(this)
    this.#tools.ownBuffers.add(this.#ownBytes)
    this.#options.onConnected()
    if (this.#exchange === undefined) this.#disconnect()
    else this.#send(this.#exchange, socket)
  }

  #send(exchange: Exchange, socket: Socket): void {
    this.#parser.expect(exchange.request.method, exchange.request.webSocket)
    exchange.send(socket, this.#host)
  }

  /** False once the connection has ended: what it has acquired would never be released. */
  #isMuchExpected(): boolean {
    if (this.#socket === undefined || this.#exchange === undefined) return false
    return this.#parser.leftBytes >= READ_BYTES || this.#readBytes >= READ_BYTES
  }

  get #isForWebSocket(): boolean {
    return this.#exchange?.request.webSocket !== undefined
  }

  /** Takes what a socket without a read buffer of ours emits. */
  readonly #onChunk = (chunk: Buffer): void => {
    const exchange = this.#exchange
    if (exchange?.isSent !== true) this.#disconnect()
    else if (this.#isPaused) this.#hold(chunk)
    else {
      this.#parser.feed(chunk, chunk.length)
      const isWanted = this.#advance(exchange, chunk)
      if (isWanted || exchange !== this.#exchange) return
      this.#isStopped = true
      this.#socket?.pause()
    }
  }

  /** @returns false: stop reading */
  #onRead(length: number): boolean {
    this.#readBytes = length
    const { current } = this.#buffer
    const exchange = this.#exchange
    if (exchange?.isSent !== true) {
      // The connection is closed before the next request is sent on it.
      this.#disconnect()
      return false
    }
    // TLS passes on what it has decrypted, paused or not.
    if (this.#isPaused) {
      this.#hold(current.subarray(0, length))
      return false
    }
    this.#parser.feed(current, length)
    this.#advance(exchange, undefined)
    return !this.#isPaused
  }

  /**
   * @param owned the bytes in hand, where their memory is not that of the read buffer
   * @returns true: more bytes are wanted
   */
  #advance(exchange: Exchange, owned: Buffer | undefined): boolean {
    const parser = this.#parser
    let isWanted = true
    exchange.begin()
    while (isWanted && exchange === this.#exchange) {
      const step = parser.next()
      if (step === 'more') break
      if (step === 'data')
        isWanted = exchange.handler.onResponseData(this.#dataOf(owned ?? this.#buffer))
      else this.#take(step, exchange, owned ?? NO_BYTES)
    }
    const isInProgress = exchange === this.#exchange
    if (!isWanted && isInProgress) this.#pause(owned ?? this.#buffer.current)
    parser.release()
    return isWanted && isInProgress
  }

  /** @param bytes in hand, of a connection that may be passed on */
  #take(step: Exclude<Step, 'more' | 'data'>, exchange: Exchange, bytes: Buffer): void {
    const parser = this.#parser
    if (step === 'end') this.#complete(exchange)
    else if (step === 'fault') this.fail(exchange, malformed(parser))
    else if (step === 'switched') this.#passOn(exchange, bytes)
    else exchange.onHead(step, parser)
  }

  #dataOf(memory: Buffer | ReadBuffer): Buffer {
    const { dataFrom, dataTo } = this.#parser
    return memory instanceof ReadBuffer
      ? memory.take(dataFrom, dataTo)
      : memory.subarray(dataFrom, dataTo)
  }

  #pause(bytes: Buffer): void {
    const { readTo, end } = this.#parser
    this.#isPaused = true
    if (readTo < end) this.#hold(bytes.subarray(readTo, end))
  }

  #hold(bytes: Buffer): void {
    this.#held = this.#held === undefined ? Buffer.from(bytes) : Buffer.concat([this.#held, bytes])
    this.#tools.ownBuffers.add(bytes.length)
  }

  #releaseHeld(): void {
    if (this.#held === undefined) return
    this.#tools.ownBuffers.subtract(this.#held.length)
    this.#held = undefined
  }

  #complete(exchange: Exchange): void {
    const { keepsAlive, hasMore, head } = this.#parser
    const seconds = head?.keepAliveSeconds
    this.#readBytes = 0
    this.#keepAliveMs =
      seconds === undefined
        ? this.#options.keepAliveMs
        : Math.min(seconds * 1000 - KEEP_ALIVE_MARGIN_MS, MAX_KEEP_ALIVE_MS)
    // Bytes of the request that are not sent yet would reach a server that takes them for the next request.
    const isRequestSent = exchange.isRequestOver && this.#socket?.writableLength === 0
    const isOpenAfter = keepsAlive && !this.#hasEnded && !exchange.closes
    this.isReusable = isOpenAfter && !hasMore && isRequestSent && this.#keepAliveMs > 0
    this.#exchange = undefined
    exchange.end()
    // The receiver may keep the bytes while the connection serves other requests.
    this.#buffer.forget()
    if (this.isReusable) {
      this.due = this.#tools.idleDeadlines.dueIn(this.#keepAliveMs)
      // The handler may have paused with the last bytes: an idle connection is read, too.
      this.#continueReading()
    } else this.destroy()
    // Last: it may send the next request at once.
    exchange.handler.onResponseEnd()
  }

  /** The connection is the handler's. @param bytes in hand */
  #passOn(exchange: Exchange, bytes: Buffer): void {
    const { readTo, end, head, switched } = this.#parser
    const socket = this.#socket
    if (socket === undefined || switched === undefined) return
    const rest = Buffer.from(bytes.subarray(readTo, end))
    socket.pause()
    socket.off('data', this.#onChunk)
    // A peer that ends its half still reads the response to its Close frame.
    socket.allowHalfOpen = true
    this.#exchange = undefined
    exchange.end()
    this.#release(socket)
    this.isDestroyed = true
    this.isReusable = false
    exchange.handler.onSwitched({
      socket,
      head: rest,
      chosen: switched,
      headers: head?.headers ?? [],
    })
  }

  #continueReading(): void {
    if (!this.#isStopped) return
    this.#isStopped = false
    this.#socket?.resume()
  }

  #onPeerEnd(): void {
    const exchange = this.#exchange
    if (this.#isPaused) this.#hasEnded = true
    else if (exchange?.isSent === true && this.#parser.finish(!this.#isCutOff))
      this.#complete(exchange)
    else if (this.#socket !== undefined)
      this.#onLost(this.#socket, new PeerError('closed', this.#isCutOff ? CUT_OFF : INCOMPLETE))
  }

  #onLost(socket: Socket, error: Error): void {
    // What came before the end is passed on first, when its handler wants it.
    if (socket !== this.#socket || (this.#isPaused && this.#hasEnded)) return
    const exchange = this.#exchange
    if (exchange?.isSent === true) this.fail(exchange, error)
    else this.#disconnect()
  }

  #disconnect(): void {
    const socket = this.#socket
    if (socket === undefined) return
    socket.destroy()
    this.#release(socket)
  }

  #release(socket: Socket): void {
    if (socket !== this.#socket) return
    this.#socket = undefined
    this.due = 0
    this.#tools.idleDeadlines.remove(this)
    this.#readBytes = 0
    this.#buffer.release()
    this.#releaseHeld()
    this.#tools.ownBuffers.subtract(this.#ownBytes)
    this.#options.onDisconnected()
  }
}

const INCOMPLETE = 'the upstream closed the connection before its response was complete'
const CUT_OFF =
  'the TLS connection of the upstream ended without close_notify, so its response may be cut off: it ought to send a length or chunks'

const malformed = ({ problem = 'an invalid chunk' }: ResponseParser): PeerError =>
  new PeerError('malformed', `the response is not valid HTTP/1.1: ${problem}`)
