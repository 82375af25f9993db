// Moves bytes in both directions between the sockets of a client and of its peer, a router or an upstream, after both WebSocket handshakes,
// until either ends or a limit is reached. It never throws: whatever happens to one end, the other one is closed.

import type { Duplex } from 'node:stream'
import type { Holding } from '../../memory/memory-budget.ts'
import { closeFrame } from './close-frame.ts'
import type { FrameError } from './frame-error.ts'
import { HelloGate, type HelloGateOptions } from './hello-gate.ts'
import type { FrameRules } from './frames.ts'
import { RelayDirection } from './relay-direction.ts'

export interface RelayEnds {
  readonly client: Duplex
  /** The bytes that followed the client's handshake, and the peer's. */
  readonly clientHead: Buffer
  /** A router, or an upstream. */
  readonly peer: Duplex
  readonly peerHead: Buffer
}

/** What is demanded of the messages to a router. */
export interface WampRules extends HelloGateOptions {
  readonly maxMessageBytes: number
}

export interface RelayOptions {
  /** Absent: all bytes pass as they are. */
  readonly wamp?: WampRules | undefined
  /** Longest time without a byte of either; pings count. */
  readonly idleMs: number
  /** Longest time that either reads nothing of what waits for it. */
  readonly stallMs: number
  /** From the first sign of the end to the destruction of both sockets. */
  readonly lingerMs: number
  /** Charged for what an end does not take; its owner is the client's socket. */
  readonly memory?: Holding | undefined
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
  readonly #toPeer: RelayDirection
  readonly #toClient: RelayDirection
  #openEnds = 2
  #linger: NodeJS.Timeout | undefined = undefined

  /** Starts to move bytes. */
  constructor(ends: RelayEnds, options: RelayOptions) {
    const { client, peer } = ends
    this.#ends = ends
    this.#options = options
    const { wamp, now, memory } = options
    const rulesFor = (isMasked: boolean): FrameRules | undefined =>
      wamp && { isMasked, maxMessageBytes: wamp.maxMessageBytes }
    const gate = wamp && new HelloGate(wamp)
    this.#toPeer = new RelayDirection(
      { from: client, to: peer },
      { rules: rulesFor(true), now, gate, memory, onError: this.#closeForClient },
    )
    this.#toClient = new RelayDirection(
      { from: peer, to: client },
      { rules: rulesFor(false), now, memory, onError: this.#closeForPeer },
    )
    this.#connect(client, this.#toPeer, ends.clientHead)
    this.#connect(peer, this.#toClient, ends.peerHead)
  }

  /** Sends `code` to the client, tells the peer that its client is going away, and ends both in time. Idempotent. */
  close(code: number, reason: string): void {
    this.#close({ code, reason }, GOING_AWAY)
  }

  /** Destroys both sockets at once, without Close frames. */
  destroy(): void {
    this.#ends.client.destroy()
    this.#ends.peer.destroy()
  }

  /** Ends the relay if it is idle or stalled; to be called at intervals. */
  check(): void {
    const now = this.#options.now()
    const directions = [this.#toPeer, this.#toClient]
    const { idleMs, stallMs } = this.#options
    if (
      directions.some(
        ({ stuckSinceMs }) => stuckSinceMs !== undefined && now - stuckSinceMs > stallMs,
      )
    )
      this.destroy()
    else if (directions.every(({ lastByteMs }) => now - lastByteMs > idleMs))
      this.close(GOING_AWAY, 'idle')
  }

  /** The peer need not know what its client has done. */
  readonly #closeForClient = (error: FrameError): void => {
    this.#close(error, GOING_AWAY)
  }

  readonly #closeForPeer = (error: FrameError): void => {
    this.#close(error, error.code)
  }

  #close({ code, reason, abort }: CloseReason, peerCode: number): void {
    this.#toClient.close(closeFrame(code, reason), abort)
    this.#toPeer.close(closeFrame(peerCode, '', this.#options.mask()))
    this.#endSoon()
  }

  #connect(from: Duplex, direction: RelayDirection, head: Buffer): void {
    const other = from === this.#ends.client ? this.#ends.peer : this.#ends.client
    // The error is of no use to the other end; `close` follows.
    from.on('error', () => undefined)
    from.on('data', (chunk: Buffer) => {
      direction.take(chunk)
      if (this.#toPeer.isOver && this.#toClient.isOver) this.#endSoon()
    })
    from.once('end', () => {
      direction.end()
    })
    const onClose = (): void => {
      direction.end()
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
    if (head.length > 0) direction.take(head)
  }

  #endSoon(): void {
    this.#linger ??= setTimeout(() => {
      this.destroy()
    }, this.#options.lingerMs)
  }
}
