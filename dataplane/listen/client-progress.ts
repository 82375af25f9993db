// This file judges whether the client of a connection is too slow, by the bytes that have gone out to it: what comes in
// proves nothing. It reads a socket, and never changes it.

import type { Socket } from 'node:net'
import { type IsScarce, longestTimeFor } from '../least-rate.ts'
import { responseOn } from '../connections/pipelined-requests.ts'

export interface ProgressLimits {
  /** Longest time without a byte going out, while bytes wait. */
  readonly stallMs: number
  /** Longest time between an answer and the next request. */
  readonly idleMs: number
  /** While true, what is written also has to go out at the least rate. */
  readonly isScarce: IsScarce
}

/** What is read of a socket, beside what Node keeps there for itself. */
export type WatchedSocket = Pick<Socket, 'writableLength' | 'bytesWritten'>

/** Of one connection; to be asked every few seconds. */
export class ClientProgress {
  /** Bytes whose writing is over; what is in the kernel's hands of the next write; when either changed. */
  #sentBytes = -1
  #queuedBytes = 0
  #movedMs: number
  /** Bytes that have to have gone out, and by when. */
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
    const queuedBytes = waitingBytes === 0 ? 0 : queueOf(socket)
    if (sentBytes !== this.#sentBytes || queuedBytes !== this.#queuedBytes) this.#movedMs = nowMs
    this.#sentBytes = sentBytes
    this.#queuedBytes = queuedBytes
    const stillMs = nowMs - this.#movedMs
    if (waitingBytes === 0) return stillMs >= limits.idleMs
    this.#aim(waitingBytes, nowMs)
    return stillMs >= limits.stallMs || (nowMs > this.#dueMs && limits.isScarce())
  }

  /** What waits now has its own time; what is written meanwhile gets its own after that. */
  #aim(waitingBytes: number, nowMs: number): void {
    if (this.#dueMs !== Infinity && this.#sentBytes < this.#targetBytes) return
    this.#targetBytes = this.#sentBytes + waitingBytes
    this.#dueMs = nowMs + longestTimeFor(waitingBytes)
  }
}

/** The answer is not ready, or this is no HTTP any more and there is nothing to say. */
const waitsForUs = (socket: WatchedSocket): boolean =>
  responseOn(socket) !== undefined || hasLeftHttp(socket)

/** Upgraded: Node has taken its parser away. */
const hasLeftHttp = (socket: WatchedSocket): boolean =>
  ((socket as { readonly parser?: object | null }).parser ?? undefined) === undefined

/** Bytes of the write under way that the kernel has not taken yet. It tells in bursts of a third of its buffer. */
const queueOf = (socket: WatchedSocket): number =>
  (socket as { readonly _handle?: { readonly writeQueueSize?: number } | null })._handle
    ?.writeQueueSize ?? 0
