// The client's body on its way to an upstream, unread: an IncomingMessage comes in, its bytes go out,
// within the limits of the operation, and a second time while they are few. The message itself never
// reaches the HTTP client, which would destroy it, and with it the client's connection.

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { BodyLimits } from '../../spec/compiled.ts'
import { bodyDeadlines, startBodyDeadline } from '../body-deadlines.ts'
import type { Timed } from '../deadlines.ts'
import { GatewayError } from '../gateway-error.ts'

export interface StreamedBody {
  /** For one attempt. Opening again ends the one before. */
  open(): Readable
  /** Nothing has been read that `open` could not give again. */
  readonly isReplayable: boolean
  /** Nobody will open it any more: what still comes is thrown away. */
  close(): void
}

export interface StreamOptions {
  readonly limits: BodyLimits
  /** What is kept to be sent again. */
  readonly keepBytes: number
  /** Too large, too slow, or the client is gone. Told at most once. */
  readonly onFault: (fault: GatewayError) => void
}

export const streamBody = (incoming: IncomingMessage, options: StreamOptions): StreamedBody =>
  new IncomingBody(incoming, options)

/** Bodies of a known, small length are sent in one piece: half the cost of a stream. */
export const collectBody = (
  incoming: IncomingMessage,
  options: Omit<StreamOptions, 'keepBytes'>,
  onBody: (bytes: Buffer) => void,
): { cancel(): void } => {
  const chunks: Buffer[] = []
  const deadline = startBodyDeadline(options.limits.readMs, () => {
    cancel()
    options.onFault(tooSlow(options.limits))
  })
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
  }
  const onEnd = (): void => {
    cancel()
    onBody(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
  }
  const cancel = (): void => {
    bodyDeadlines.remove(deadline)
    incoming.off('data', onData).off('end', onEnd)
  }
  incoming.on('data', onData).on('end', onEnd)
  return { cancel }
}

class IncomingBody implements StreamedBody, Timed {
  due = 0
  slot = -1
  readonly #incoming: IncomingMessage
  readonly #options: StreamOptions
  #kept: Buffer[] = []
  #received = 0
  #isReplayable = true
  #isAttached = false
  #isOver = false
  #out: Readable | undefined

  constructor(incoming: IncomingMessage, options: StreamOptions) {
    this.#incoming = incoming
    this.#options = options
  }

  get isReplayable(): boolean {
    return this.#isReplayable
  }

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
    for (const chunk of this.#kept) out.push(chunk)
    if (this.#isOver) out.push(null)
    return out
  }

  close(): void {
    bodyDeadlines.remove(this)
    const out = this.#out
    this.#out = undefined
    this.#kept = []
    // An upstream that has answered before it got the whole of the body gets no more of it.
    if (!this.#isOver) out?.destroy()
    this.#incoming.off('data', this.#onData).off('end', this.#onEnd)
    if (this.#isAttached && !this.#isOver) this.#incoming.resume()
  }

  /** First at the first read: a body that is not wanted is not touched. */
  #pull(): void {
    if (this.#isOver) return
    if (!this.#isAttached) {
      this.#isAttached = true
      this.#incoming.on('data', this.#onData).on('end', this.#onEnd)
    }
    this.#incoming.resume()
    this.#watch()
  }

  expire(): void {
    this.#fault(tooSlow(this.#options.limits))
  }

  /** The reader takes no more for now: the client's time stands still. */
  #hold(): void {
    bodyDeadlines.remove(this)
    this.#incoming.pause()
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#received += chunk.length
    if (this.#received > this.#options.limits.maxBytes) {
      this.#fault(tooLarge(this.#options.limits))
      return
    }
    this.#keep(chunk)
    this.#watch()
    if (this.#out?.push(chunk) !== true) this.#hold()
  }

  readonly #onEnd = (): void => {
    this.#isOver = true
    bodyDeadlines.remove(this)
    this.#out?.push(null)
  }

  #keep(chunk: Buffer): void {
    if (this.#isReplayable && this.#received <= this.#options.keepBytes) this.#kept.push(chunk)
    else {
      this.#isReplayable = false
      this.#kept = []
    }
  }

  /** `body_read_seconds` bounds the pause between the chunks of a streamed body (behaviour §3). */
  #watch(): void {
    this.due = bodyDeadlines.dueIn(this.#options.limits.readMs)
    if (this.slot < 0) bodyDeadlines.add(this)
  }

  #fault(fault: GatewayError): void {
    this.#hold()
    this.#incoming.off('data', this.#onData).off('end', this.#onEnd)
    this.#options.onFault(fault)
  }
}

// The rest of the body will not be read: the connection can't serve another request.
const CLOSE = { headers: { connection: 'close' } }

const tooLarge = ({ maxBytes }: BodyLimits): GatewayError =>
  new GatewayError(
    'svc.error.payload_too_large',
    `The body is larger than the ${maxBytes} bytes that are taken here`,
    CLOSE,
  )

const tooSlow = ({ readMs }: BodyLimits): GatewayError =>
  new GatewayError(
    'svc.error.request_timeout',
    `No more of the body arrived within ${readMs} ms`,
    CLOSE,
  )
