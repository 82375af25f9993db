// Serialises the pipelined requests of one connection: each starts when the response before it is finished (RFC 9112
// §9.3.2), so that a connection has one request in progress. Requests that arrive meanwhile are queued, within
// bounds.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { IsScarce } from '../least-rate.ts'
import { responseOn } from './node-internals.ts'

export interface PipelinedOptions {
  readonly isScarce: IsScarce
  /** Handles a request when it is its turn. */
  readonly start: (request: IncomingMessage, response: ServerResponse) => void
}

/**
 * Beyond this many bytes of queued requests reading pauses. Below it reading goes on, as only a reader notices that
 * the client has disconnected.
 */
export const MAX_WAITING_BYTES = 16 * 1024

/** Node parses requests from all that came in one read, up to 64 kB: a connection with more of them is closed. */
const MAX_HELD = 512

/** A queued request costs 1.8 kB, however short it is: 30 MB in all. */
const MAX_HELD_IN_ALL = 16_384

/** The bound of one connection beyond that, or while memory or connections are short. */
const MAX_HELD_WHEN_SCARCE = 4

/** The queue of one connection. */
interface Line {
  readonly waiting: IncomingMessage[]
  /** For each request, how many bytes of the connection had been read when its head was complete. */
  readonly readBytes: number[]
  /** The bytes of all heads. */
  headBytes: number
  isPaused: boolean
  /** What followed the queued requests is no request: the connection ends with the last of them. */
  isEnding: boolean
  /** The body of the last one is malformed: it is not started. */
  refuseLast: (() => void) | undefined
}

/** The event of a server that from now on sends `Connection: close` in its responses. */
export const DRAINING = 'draining'

/** Bounds the pipelined requests of one server. */
export class PipelinedRequests {
  readonly #options: PipelinedOptions
  // Only connections that have had queued requests: others cost nothing.
  readonly #lines = new WeakMap<Duplex, Line>()
  #totalWaiting = 0
  #isDraining = false

  constructor(server: Server, options: PipelinedOptions) {
    this.#options = options
    server.once(DRAINING, () => {
      this.#isDraining = true
    })
  }

  /** Holds a request whose response has no socket yet: Node gives it one when those before it are finished. */
  hold(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    if (socket.destroyed) return
    const line = this.#lines.get(socket) ?? this.#openLine(socket)
    line.waiting.push(request)
    line.readBytes.push(socket.bytesRead)
    line.headBytes += headBytesOf(request)
    this.#totalWaiting++
    if (this.#isTooLong(line)) {
      socket.destroy()
      return
    }
    if (unreadBytes(line, socket) > MAX_WAITING_BYTES) pause(line, socket)
    const current = responseOn(socket)
    if (this.#isDraining && current?.headersSent === false) current.shouldKeepAlive = true
    response.once('socket', () => {
      // Later: Node is in the middle of handing the socket over.
      process.nextTick(() => {
        this.#release(line, request, response)
      })
    })
  }

  /** A queued request has not timed out while it is not read: our bounds pause reading, or Node's for a body. */
  isTimeoutOfOurs({ code }: NodeJS.ErrnoException, socket: Duplex): boolean {
    const isWaiting = (this.#lines.get(socket)?.waiting.length ?? 0) > 0
    return code === 'ERR_HTTP_REQUEST_TIMEOUT' && isWaiting && socket.isPaused()
  }

  /**
   * Handles `clientError` of a server. An error of the last queued request is answered when it is its turn; if what
   * follows it is no request, the connection ends with its response.
   */
  onError(error: NodeJS.ErrnoException, socket: Duplex, refuse: () => void): void {
    const line = this.#lines.get(socket)
    const last = line?.waiting.at(-1)
    if (line === undefined || error.code === 'ECONNRESET') refuse()
    else if (last === undefined) refuse()
    else if (last.complete) line.isEnding = true
    else line.refuseLast = refuse
  }

  #release(line: Line, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    // The client has disconnected, and its requests are dropped.
    if (line.readBytes.shift() === undefined) return
    line.waiting.shift()
    line.headBytes -= headBytesOf(request)
    this.#totalWaiting--
    if (line.isPaused && unreadBytes(line, socket) <= MAX_WAITING_BYTES) {
      line.isPaused = false
      socket.resume()
    }
    // Rejected meanwhile.
    if (!socket.writable) return
    // Only the last response tells the client to close: requests sent after an earlier one would be lost.
    if (this.#isDraining) response.shouldKeepAlive = line.readBytes.length > 0
    const isLast = line.waiting.length === 0
    if (isLast && line.refuseLast !== undefined) {
      line.refuseLast()
      return
    }
    if (isLast && line.isEnding) {
      response.shouldKeepAlive = false
      // Its head may say otherwise when it is written: the client must not wait for more responses.
      response.once('finish', () => socket.end())
    }
    this.#options.start(request, response)
  }

  #openLine(socket: Socket): Line {
    const line: Line = {
      waiting: [],
      readBytes: [],
      headBytes: 0,
      isPaused: false,
      isEnding: false,
      refuseLast: undefined,
    }
    this.#lines.set(socket, line)
    // Node resumes a socket at the end of each request that it has read.
    socket.on('resume', () => {
      if (line.isPaused) socket.pause()
    })
    socket.once('close', () => {
      this.#totalWaiting -= line.readBytes.splice(0).length
      line.waiting.length = 0
    })
    return line
  }

  #isTooLong({ readBytes: { length } }: Line): boolean {
    if (length <= MAX_HELD_WHEN_SCARCE) return false
    return length > MAX_HELD || this.#totalWaiting > MAX_HELD_IN_ALL || this.#options.isScarce()
  }
}

const pause = (line: Line, socket: Socket): void => {
  line.isPaused = true
  socket.pause()
}

/** Counts the heads of what came in one read, and everything of what came later. */
const unreadBytes = ({ readBytes, headBytes }: Line, socket: Socket): number =>
  Math.max(headBytes, socket.bytesRead - (readBytes[0] ?? Infinity))

/** About as many as its head had on the wire. */
const headBytesOf = ({ method = '', url = '', rawHeaders }: IncomingMessage): number => {
  let bytes = method.length + url.length + REQUEST_LINE_BYTES
  for (const text of rawHeaders) bytes += text.length + SEPARATOR_BYTES
  return bytes
}

/** Two spaces, `HTTP/1.1` and the ends of the line and of the head. */
const REQUEST_LINE_BYTES = 14
/** `: ` behind a name, the end of the line behind a value. */
const SEPARATOR_BYTES = 2

/**
 * Calls `run` once every request that has arrived completely is answered, immediately if that is so; never if the
 * client disconnects.
 */
export const whenAnswered = (socket: Socket, run: () => void): void => {
  const current = responseOn(socket)
  if (current?.req.complete !== true) {
    run()
    return
  }
  current.once('close', () => {
    // A last response has ended the connection.
    if (socket.writable) whenAnswered(socket, run)
  })
}
