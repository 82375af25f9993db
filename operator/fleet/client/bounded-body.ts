// Reads the body of a response as text within bounds, or gives an error as soon as it is too large or would take far
// more memory than it has bytes. Never parses it.

import { CodedError } from '../../../base/coded-error.ts'
import type { Limiter } from '../../../base/limiter.ts'
import { countMarks, type JsonMarks, NO_MARKS } from '../../../base/json-weight.ts'

/** How large a response may be. */
export interface ResponseBound {
  readonly bytes: number
  /** The most containers and members of the JSON text, which cost memory however short they are. */
  readonly values: number
}

/**
 * Bounds a response by what is expected in it: entries of which the size is known, and a base for all else.
 * An entry has 37 values in 1.5 KB at most, and one of those that were not expected five in 130 bytes.
 */
export const responseBound = (baseBytes: number, entryBytes: number): ResponseBound => ({
  bytes: baseBytes + entryBytes,
  values: Math.ceil(baseBytes / 16 + entryBytes / 32),
})

/** No response of a gateway is nested more deeply: a document has 64 levels. */
const MAX_DEPTH = 80

/** `excessive`: the data plane says more than it can have to say. `overloaded`: others do, and there is no room for it. */
export class ResponseError extends CodedError<'excessive' | 'overloaded'> {}

export interface BodyLimits {
  readonly bound: ResponseBound
  /** Bytes of responses that are being read, shared by several data planes. */
  readonly budget?: Limiter | undefined
}

/** The text of one response, as it arrives. */
export class BoundedText {
  readonly #limits: BodyLimits
  readonly #chunks: Uint8Array[] = []
  #marks = NO_MARKS
  #bytes = 0
  #acquired = 0

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  /** Undefined: it is within the bounds. Take no more after an error. */
  take(chunk: Uint8Array): ResponseError | undefined {
    const { bound, budget } = this.#limits
    if (this.#bytes + chunk.length > bound.bytes) return tooLarge(bound.bytes)
    if (budget?.tryAcquire(chunk.length) === false) return new ResponseError('overloaded', BUSY)
    this.#acquired += budget === undefined ? 0 : chunk.length
    this.#bytes += chunk.length
    this.#marks = countMarks(this.#marks, chunk)
    this.#chunks.push(chunk)
    return excessOf(this.#marks, bound)
  }

  toString(): string {
    const [first] = this.#chunks
    const whole =
      first !== undefined && this.#chunks.length === 1
        ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
        : Buffer.concat(this.#chunks, this.#bytes)
    return whole.toString('utf8')
  }

  /** Gives back its share of the budget. Calling it twice does no harm. */
  release(): void {
    this.#limits.budget?.release(this.#acquired)
    this.#acquired = 0
  }
}

const BUSY =
  'the sidecars of its namespace respond too slowly with too much at once: the call is tried again'

const tooLarge = (bytes: number): ResponseError =>
  new ResponseError(
    'excessive',
    `its response is larger than ${bytes} bytes, the most that it may be`,
  )

/** A MiB of `{}` takes 20 MiB when it is parsed. Text that is not JSON may be counted wrongly, and does not parse. */
const excessOf = (
  { containers, commas, deepest }: JsonMarks,
  { values }: ResponseBound,
): ResponseError | undefined => {
  if (deepest > MAX_DEPTH)
    return new ResponseError(
      'excessive',
      `its response is nested more than ${MAX_DEPTH} levels deep`,
    )
  return containers + commas > values
    ? new ResponseError(
        'excessive',
        `its response has more than ${values} values, the most that it may have`,
      )
    : undefined
}
