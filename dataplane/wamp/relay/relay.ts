// Moves bytes in both directions between the sockets of a client and of a router, after both WebSocket handshakes,
// until either ends or a limit is reached. It never throws: whatever happens to one end, the other one is closed.

import type { Duplex } from 'node:stream'
import type { SerializerName } from '../protocol/messages.ts'
import { closeFrame } from './close-frame.ts'
import type { FrameError } from './frame-error.ts'
import { HelloGate } from './hello-gate.ts'
import { Lane } from './lane.ts'

export interface RelayEnds {
  readonly client: Duplex
  /** The bytes that followed the client's handshake, and the router's. */
  readonly clientHead: Buffer
  readonly router: Duplex
  readonly routerHead: Buffer
}

export interface RelayOptions {
  /** The realm that sessions of the client may join. */
  readonly realmUri: string
  /** The format of the router's sub-protocol. */
  readonly format: SerializerName
  readonly maxMessageBytes: number
  /** Longest time without a byte of either; pings count. */
  readonly idleMs: number
  /** Longest time that either reads nothing of what waits for it. */
  readonly stallMs: number
  /** From the first sign of the end to the destruction of both sockets. */
  readonly lingerMs: number
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** Four bytes for the mask of a Close frame (RFC 6455 §5.3). */
  readonly mask: () => Uint8Array
  /** Both ends are closed. */
  readonly onClosed: () => void
}

interface CloseReason extends Pick<FrameError, 'reason' | 'abort'> {
  readonly code: number
}

/** RFC 6455 §7.4.1. */
export const GOING_AWAY = 1001

export class Relay {
  readonly #ends: RelayEnds
  readonly #options: RelayOptions
  readonly #toRouter: Lane
  readonly #toClient: Lane
  #openEnds = 2
  #linger: NodeJS.Timeout | undefined = undefined

  /** Starts to move bytes. */
  constructor(ends: RelayEnds, options: RelayOptions) {
    const { client, router } = ends
    this.#ends = ends
    this.#options = options
    const { maxMessageBytes, now } = options
    const gate = new HelloGate(options)
    this.#toRouter = new Lane(
      { from: client, to: router },
      { isMasked: true, maxMessageBytes, now, gate, onError: this.#closeForClient },
    )
    this.#toClient = new Lane(
      { from: router, to: client },
      { isMasked: false, maxMessageBytes, now, onError: this.#closeForRouter },
    )
    this.#connect(client, this.#toRouter, ends.clientHead)
    this.#connect(router, this.#toClient, ends.routerHead)
  }

  /** Sends `code` to the client, tells the router that its client is going away, and ends both in time. Idempotent. */
  close(code: number, reason: string): void {
    this.#close({ code, reason }, GOING_AWAY)
  }

  /** Destroys both sockets at once, without Close frames. */
  destroy(): void {
    this.#ends.client.destroy()
    this.#ends.router.destroy()
  }

  /** Ends the relay if it is idle or stalled; to be called at intervals. */
  check(): void {
    const now = this.#options.now()
    const lanes = [this.#toRouter, this.#toClient]
    const { idleMs, stallMs } = this.#options
    if (
      lanes.some(({ stuckSinceMs }) => stuckSinceMs !== undefined && now - stuckSinceMs > stallMs)
    )
      this.destroy()
    else if (lanes.every(({ lastByteMs }) => now - lastByteMs > idleMs))
      this.close(GOING_AWAY, 'idle')
  }

  /** The router need not know what its client has done. */
  readonly #closeForClient = (error: FrameError): void => {
    this.#close(error, GOING_AWAY)
  }

  readonly #closeForRouter = (error: FrameError): void => {
    this.#close(error, error.code)
  }

  #close({ code, reason, abort }: CloseReason, routerCode: number): void {
    this.#toClient.close(closeFrame(code, reason), abort)
    this.#toRouter.close(closeFrame(routerCode, '', this.#options.mask()))
    this.#endSoon()
  }

  #connect(from: Duplex, lane: Lane, head: Buffer): void {
    const other = from === this.#ends.client ? this.#ends.router : this.#ends.client
    // The error is of no use to the other end; `close` follows.
    from.on('error', () => undefined)
    from.on('data', (chunk: Buffer) => {
      lane.take(chunk)
      if (this.#toRouter.isOver && this.#toClient.isOver) this.#endSoon()
    })
    from.once('end', () => {
      lane.end()
    })
    const onClose = (): void => {
      lane.end()
      this.#endSoon()
      this.#openEnds -= 1
      if (this.#openEnds > 0) return
      clearTimeout(this.#linger)
      this.#options.onClosed()
    }
    if (from.closed) process.nextTick(onClose)
    else from.once('close', onClose)
    // The other half has ended and all of it was sent: it has no reason to stay open.
    other.once('finish', () => {
      this.#endSoon()
    })
    from.resume()
    if (head.length > 0) lane.take(head)
  }

  #endSoon(): void {
    this.#linger ??= setTimeout(() => {
      this.destroy()
    }, this.#options.lingerMs)
  }
}
