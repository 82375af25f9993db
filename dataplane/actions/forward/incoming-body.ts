// Streams the client's body to an upstream unread, within the limits of the operation, and a second time while its
// bytes are few. It never passes the message itself to the HTTP client, which would destroy it, and with it the
// client's connection.

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { BodyLimits } from '../../../language/compile/compiled.ts'
import { BodyWatch, type SlowBody } from '../../body-watch.ts'
import { GatewayError } from '../../gateway-error.ts'
import { BELOW_LEAST_RATE, type IsScarce } from '../../least-rate.ts'
import { ByteCollector } from '../../memory/byte-collector.ts'
import type { Holding } from '../../memory/memory-budget.ts'
import { noMemoryToRead } from '../../memory/no-memory.ts'

export interface StreamOptions {
  readonly limits: BodyLimits
  /** Most bytes that are kept to be sent again. */
  readonly keepBytes: number
  /** Charged for what is kept. */
  readonly memory: Holding
  /** A body below the least rate is rejected while this returns true. */
  readonly isScarce: IsScarce
  /**
   * Called at most once: the body is too large, too slow, there is no memory for it, or the client has disconnected.
   */
  readonly onError: (error: GatewayError) => void
}

/** Bodies of a known, small length are sent in one piece: half the cost of a stream. */
export const collectBody = (
  incoming: IncomingMessage,
  options: Omit<StreamOptions, 'keepBytes'>,
  onBody: (bytes: Buffer) => void,
): { cancel(): void } => {
  const body = new ByteCollector()
  const { limits, isScarce, memory } = options
  const watch = new BodyWatch({
    bounds: 'whole',
    limitMs: limits.readMs,
    isScarce,
    onSlow: (slow) => {
      cancel()
      options.onError(tooSlow(limits, slow))
    },
  })
  const onData = (chunk: Buffer): void => {
    watch.received(chunk.length)
    if (memory.reserve(chunk.length)) body.add(chunk)
    else {
      cancel()
      options.onError(noMemoryToRead())
    }
  }
  const onEnd = (): void => {
    cancel()
    onBody(body.join())
  }
  const cancel = (): void => {
    watch.stop()
    incoming.off('data', onData).off('end', onEnd)
  }
  watch.start()
  incoming.on('data', onData).on('end', onEnd)
  return { cancel }
}

/** The memory of a chunk in addition to its bytes. */
const CHUNK_BYTES = 128

export class StreamedBody {
  readonly #incoming: IncomingMessage
  readonly #options: StreamOptions
  readonly #watch: BodyWatch
  /** The chunks that `open` sends first. */
  #buffered: Buffer[] = []
  #aheadBytes = 0
  #onAhead: (() => void) | undefined
  #received = 0
  #isReplayable = true
  #isAttached = false
  #isOver = false
  #out: Readable | undefined

  constructor(incoming: IncomingMessage, options: StreamOptions) {
    this.#incoming = incoming
    this.#options = options
    // `body_read_seconds` bounds the pause between the chunks of a streamed body (behaviour §3).
    this.#watch = new BodyWatch({
      bounds: 'pause',
      limitMs: options.limits.readMs,
      isScarce: options.isScarce,
      onSlow: (slow) => {
        this.#fail(tooSlow(options.limits, slow))
      },
    })
  }

  /** Everything read so far can be sent again by `open`. */
  get isReplayable(): boolean {
    return this.#isReplayable
  }

  /**
   * Before it is opened: reads this many bytes, or all if there are fewer, and then calls back once. It does not call
   * back if the body is rejected or closed first.
   */
  readAhead(bytes: number, onRead: () => void): void {
    this.#aheadBytes = bytes
    this.#onAhead = onRead
    this.#pull()
  }

  /** Opens the body for one attempt. Opening it again ends the previous stream. */
  open(): Readable {
    const out = new Readable({
      read: () => {
        if (this.#out === out) this.#pull()
      },
      destroy: (error, done) => {
        if (this.#out === out) this.#hold()
        done(error)
      },
    })
    // The HTTP client listens for errors only while it writes.
    out.on('error', () => undefined)
    this.#out = out
    for (const chunk of this.#buffered) out.push(chunk)
    if (this.#isOver) out.push(null)
    return out
  }

  /** Call it when the body will not be opened again: the rest is discarded. */
  close(): void {
    this.#watch.stop()
    const out = this.#out
    this.#out = undefined
    this.#buffered = []
    // An upstream that has responded before it got the whole body gets no more of it.
    if (!this.#isOver) out?.destroy()
    this.#incoming.off('data', this.#onData).off('end', this.#onEnd)
    if (this.#isAttached && !this.#isOver) this.#incoming.resume()
  }

  /** Starts at the first read: a body that is not needed is not touched. */
  #pull(): void {
    if (this.#isOver) return
    if (!this.#isAttached) {
      this.#isAttached = true
      this.#incoming.on('data', this.#onData).on('end', this.#onEnd)
    }
    this.#incoming.resume()
    this.#watch.start()
  }

  /** The reader takes no more for now, so the client's clock is paused. */
  #hold(): void {
    this.#watch.stop()
    this.#incoming.pause()
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#received += chunk.length
    if (this.#received > this.#options.limits.maxBytes) {
      this.#fail(tooLarge(this.#options.limits))
      return
    }
    this.#watch.received(chunk.length)
    this.#keep(chunk)
    if (this.#onAhead !== undefined) {
      if (this.#received >= this.#aheadBytes) this.#endReadingAhead()
    } else if (this.#out?.push(chunk) !== true) this.#hold()
  }

  readonly #onEnd = (): void => {
    this.#isOver = true
    this.#watch.stop()
    this.#out?.push(null)
    if (this.#onAhead !== undefined) this.#endReadingAhead()
  }

  #endReadingAhead(): void {
    const onRead = this.#onAhead
    this.#onAhead = undefined
    this.#hold()
    onRead?.()
  }

  /**
   * Without memory, the body cannot be sent a second time; what was read ahead could not be sent at all, so it is
   * rejected.
   */
  #keep(chunk: Buffer): void {
    const { keepBytes, memory } = this.#options
    const isAhead = this.#onAhead !== undefined
    const isWanted = isAhead || this.#received <= keepBytes
    if (this.#isReplayable && isWanted && memory.reserve(chunk.length + CHUNK_BYTES)) {
      this.#buffered.push(chunk)
    } else if (isAhead) this.#fail(noMemoryToRead())
    else {
      this.#isReplayable = false
      this.#buffered = []
    }
  }

  #fail(error: GatewayError): void {
    this.#hold()
    this.#onAhead = undefined
    this.#incoming.off('data', this.#onData).off('end', this.#onEnd)
    this.#options.onError(error)
  }
}

// The rest of the body will not be read, so the connection cannot serve another request.
const CLOSE = { headers: { connection: 'close' } }

const tooLarge = ({ maxBytes }: BodyLimits): GatewayError =>
  new GatewayError(
    'svc.error.payload_too_large',
    `The body is larger than the ${maxBytes} bytes that are accepted here`,
    CLOSE,
  )

const tooSlow = ({ readMs }: BodyLimits, slow: SlowBody): GatewayError =>
  new GatewayError(
    'svc.error.request_timeout',
    slow === 'rate' ? BELOW_LEAST_RATE : `No more of the body arrived within ${readMs} ms`,
    CLOSE,
  )
