// This file keeps the requests of one connection in line: each starts when the response before it is finished
// (RFC 9112 §9.3.2), so that a connection has one request at work. What comes meanwhile is held, within bounds.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { IsScarce } from '../least-rate.ts'

export interface PipelinedOptions {
  readonly isScarce: IsScarce
  /** What a request is given to when it is its turn. */
  readonly start: (request: IncomingMessage, response: ServerResponse) => void
}

/**
 * Beyond this many bytes of held requests nothing more is read; within, reading goes on, for only who reads notices
 * that a client has gone.
 */
export const MAX_HELD_BYTES = 16 * 1024

/** Node makes requests of all that came in one read, up to 64 kB: a connection that has more of them is cut off. */
const MAX_HELD = 512

/** A held request costs 1.8 kB, however short it is: 30 MB of them in all. */
const MAX_HELD_IN_ALL = 16_384

/** Of one connection beyond that, or while memory or connections are short. */
const MAX_HELD_WHEN_SCARCE = 4

/** What is held of one connection. */
interface Line {
  readonly held: IncomingMessage[]
  /** For each request, how many bytes of the connection had been read when its head was complete. */
  readonly readBytes: number[]
  /** Of all heads. */
  headBytes: number
  isPaused: boolean
  /** What came behind the held requests is none: the connection ends with the last of them. */
  isEnding: boolean
  /** The body of the last one is broken: it is not started. */
  refuseLast: (() => void) | undefined
}

/** The event of a server that from now on says `Connection: close` in its responses. */
export const DRAINING = 'draining'

/** Of one server. */
export class PipelinedRequests {
  readonly #options: PipelinedOptions
  // Of connections that have held requests once: others cost nothing.
  readonly #lines = new WeakMap<Duplex, Line>()
  #heldInAll = 0
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
    line.held.push(request)
    line.readBytes.push(socket.bytesRead)
    line.headBytes += headBytesOf(request)
    this.#heldInAll++
    if (this.#isTooLong(line)) {
      socket.destroy()
      return
    }
    if (heldBytes(line, socket) > MAX_HELD_BYTES) pause(line, socket)
    const current = responseOn(socket)
    if (this.#isDraining && current?.headersSent === false) current.shouldKeepAlive = true
    response.once('socket', () => {
      // Later: Node is in the middle of handing the socket over.
      process.nextTick(() => {
        this.#release(line, request, response)
      })
    })
  }

  /** A request behind another one is not late while it is not read: our bounds stop that, or Node's for a body. */
  isTimeoutOfOurs({ code }: NodeJS.ErrnoException, socket: Duplex): boolean {
    const isHeld = (this.#lines.get(socket)?.held.length ?? 0) > 0
    return code === 'ERR_HTTP_REQUEST_TIMEOUT' && isHeld && socket.isPaused()
  }

  /**
   * For `clientError` of a server. A fault of the last request that is held is told when it is its turn; what is no
   * request behind it ends the connection with its answer.
   */
  onFault(error: NodeJS.ErrnoException, socket: Duplex, refuse: () => void): void {
    const line = this.#lines.get(socket)
    const last = line?.held.at(-1)
    if (line === undefined || error.code === 'ECONNRESET') refuse()
    else if (last === undefined) refuse()
    else if (last.complete) line.isEnding = true
    else line.refuseLast = refuse
  }

  #release(line: Line, request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    // Gone, with all that it had.
    if (line.readBytes.shift() === undefined) return
    line.held.shift()
    line.headBytes -= headBytesOf(request)
    this.#heldInAll--
    if (line.isPaused && heldBytes(line, socket) <= MAX_HELD_BYTES) {
      line.isPaused = false
      socket.resume()
    }
    // Refused meanwhile.
    if (!socket.writable) return
    // The last one tells the client to close: what it has sent behind another one would be lost.
    if (this.#isDraining) response.shouldKeepAlive = line.readBytes.length > 0
    const isLast = line.held.length === 0
    if (isLast && line.refuseLast !== undefined) {
      line.refuseLast()
      return
    }
    if (isLast && line.isEnding) {
      response.shouldKeepAlive = false
      // Its head may say otherwise when it is written: the client must not wait for more.
      response.once('finish', () => socket.end())
    }
    this.#options.start(request, response)
  }

  #openLine(socket: Socket): Line {
    const line: Line = {
      held: [],
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
      this.#heldInAll -= line.readBytes.splice(0).length
      line.held.length = 0
    })
    return line
  }

  #isTooLong({ readBytes: { length } }: Line): boolean {
    if (length <= MAX_HELD_WHEN_SCARCE) return false
    return length > MAX_HELD || this.#heldInAll > MAX_HELD_IN_ALL || this.#options.isScarce()
  }
}

const pause = (line: Line, socket: Socket): void => {
  line.isPaused = true
  socket.pause()
}

/** Of what came in one read the heads are counted, and of what came later all. */
const heldBytes = ({ readBytes, headBytes }: Line, socket: Socket): number =>
  Math.max(headBytes, socket.bytesRead - (readBytes[0] ?? Infinity))

/** About as many as its head took on the way. */
const headBytesOf = ({ method = '', url = '', rawHeaders }: IncomingMessage): number => {
  let bytes = method.length + url.length + REQUEST_LINE_BYTES
  for (const text of rawHeaders) bytes += text.length + SEPARATOR_BYTES
  return bytes
}

/** Two blanks, `HTTP/1.1` and the ends of the line and of the head. */
const REQUEST_LINE_BYTES = 14
/** `: ` behind a name, the end of the line behind a value. */
const SEPARATOR_BYTES = 2

/** The response that this connection is at. */
export const responseOn = (socket: object): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined

/** Runs at once where every request that has come whole is answered, else when those are; not if the client goes. */
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
