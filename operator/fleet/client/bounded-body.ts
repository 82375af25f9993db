// Reads the body of a response as text within bounds, or gives an error as soon as it is too large or would take far
// more memory than it has bytes. Never parses it.

import { CodedError } from '../../../base/coded-error.ts'
import type { Limiter } from '../../../base/limiter.ts'
import { countMarks, type JsonMarks, NO_MARKS } from '../../../base/json-weight.ts'

/** How much an answer may be. */
export interface AnswerBound {
  readonly bytes: number
  /** Of the JSON text: containers and members, which cost memory however short they are. */
  readonly values: number
}

/**
 * Bounds an answer by what is expected in it: entries of which the size is known, and a base for all else.
 * An entry has 37 values in 1.5 KB at most, and one of those that were not expected five in 130 bytes.
 */
export const answerBound = (baseBytes: number, entryBytes: number): AnswerBound => ({
  bytes: baseBytes + entryBytes,
  values: Math.ceil(baseBytes / 16 + entryBytes / 32),
})

/** No answer of a gateway is nested more deeply: a document has 64 levels. */
const MAX_DEPTH = 80

/** `excessive`: the data plane says more than it can have to say. `overloaded`: others do, and there is no room for it. */
export class AnswerError extends CodedError<'excessive' | 'overloaded'> {}

export interface BodyLimits {
  readonly bound: AnswerBound
  /** Bytes of answers that are being read, shared by several data planes. */
  readonly budget?: Limiter | undefined
}

/**
 * @throws AnswerError beyond the bound, or where the budget is used up; what the body breaks off with
 * @example await readBounded(answer.body, { bound: { bytes: 1000, values: 100 } })
 */
export const readBounded = async (
  body: AsyncIterable<Uint8Array>,
  { bound, budget }: BodyLimits,
): Promise<string> => {
  const chunks: Uint8Array[] = []
  let marks = NO_MARKS
  let bytes = 0
  try {
    for await (const chunk of body) {
      if (bytes + chunk.length > bound.bytes) throw tooLarge(bound.bytes)
      if (budget?.tryAcquire(chunk.length) === false) throw new AnswerError('overloaded', BUSY)
      bytes += chunk.length
      marks = countMarks(marks, chunk)
      checkMarks(marks, bound)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, bytes).toString('utf8')
  } finally {
    budget?.release(bytes)
  }
}

const BUSY =
  'the sidecars of its namespace respond too slowly with too much at once: the call is tried again'

const tooLarge = (bytes: number): AnswerError =>
  new AnswerError(
    'excessive',
    `its response is larger than ${bytes} bytes, the most that it may be`,
  )

/**
 * A MiB of `{}` takes 20 MiB when it is parsed. Text that is not JSON may be counted wrongly, and does not parse.
 * @throws AnswerError `excessive`
 */
const checkMarks = ({ containers, commas, deepest }: JsonMarks, { values }: AnswerBound): void => {
  if (deepest > MAX_DEPTH)
    throw new AnswerError('excessive', `its response is nested more than ${MAX_DEPTH} levels deep`)
  if (containers + commas > values)
    throw new AnswerError(
      'excessive',
      `its response has more than ${values} values, the most that it may have`,
    )
}
