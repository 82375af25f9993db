// Decides whether the client of a connection is too slow, by the bytes that have gone out to it; bytes that come in
// prove nothing. It reads the state of a socket and never changes it.

import type { Socket } from 'node:net'
import { type IsScarce, longestTimeFor } from '../least-rate.ts'
import { parserOn, queuedBytesOf, responseOn } from '../connections/node-internals.ts'

export interface ProgressLimits {
  /** Longest time without a byte going out, while bytes wait. */
  readonly stallMs: number
  /** Longest time between a response and the next request. */
  readonly idleMs: number
  /** While it returns true, what is written must also go out at the least rate. */
  readonly isScarce: IsScarce
}

/** What is read of a socket, in addition to what Node keeps there internally. */
export type WatchedSocket = Pick<Socket, 'writableLength' | 'bytesWritten'>

/** The progress of one connection; call it every few seconds. */
export class ClientProgress {
  /** Bytes that are written completely; bytes of the next write that the kernel has; when either changed. */
  #sentBytes = -1
  #queuedBytes = 0
  #movedMs: number
  /** The bytes that must have gone out, and by when. */
  #targetBytes = 0
  #dueMs = Infinity

  constructor(nowMs: number) {
    this.#movedMs = nowMs
  }

  isTooSlow(socket: WatchedSocket, nowMs: number, limits: ProgressLimits): boolean {
    const waitingBytes = socket.writableLength
    if (waitingBytes === 0 && waitsForUs(socket)) {
      this.#movedMs = nowMs
      this.#dueMs = Infinity
      return false
    }
    const sentBytes = socket.bytesWritten - waitingBytes
    const queuedBytes = waitingBytes === 0 ? 0 : (queuedBytesOf(socket) ?? 0)
    if (sentBytes !== this.#sentBytes || queuedBytes !== this.#queuedBytes) this.#movedMs = nowMs
    this.#sentBytes = sentBytes
    this.#queuedBytes = queuedBytes
    const stillMs = nowMs - this.#movedMs
    if (waitingBytes === 0) return stillMs >= limits.idleMs
    this.#aim(waitingBytes, nowMs)
    return stillMs >= limits.stallMs || (nowMs > this.#dueMs && limits.isScarce())
  }

  /** Gives the bytes that wait now a deadline; what is written meanwhile gets its own afterwards. */
  #aim(waitingBytes: number, nowMs: number): void {
    if (this.#dueMs !== Infinity && this.#sentBytes < this.#targetBytes) return
    this.#targetBytes = this.#sentBytes + waitingBytes
    this.#dueMs = nowMs + longestTimeFor(waitingBytes)
  }
}

/** The response is not ready, or the connection was upgraded and has nothing to send. */
const waitsForUs = (socket: WatchedSocket): boolean =>
  responseOn(socket) !== undefined || parserOn(socket) === undefined
