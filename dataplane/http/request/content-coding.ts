// Decodes the content coding of a request body that the document reads (RFC 9110 §8.4). What it inflates to counts against
// the same limits as a body that comes plain.

import type { BodyLimits } from '../../../language/compile/compiled.ts'
import { codingsIn, inflate, type InflateError } from '../../codec/content-coding.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { Holding } from '../../memory/memory-budget.ts'
import { noMemory } from '../../memory/no-memory.ts'
import { tooLarge } from './body.ts'

/** Those that every client library writes; zstd is read in responses only. */
const READ = ['gzip', 'deflate', 'br'] as const
const NAMES: ReadonlySet<string> = new Set([...READ, 'x-gzip'])

/**
 * The codings of a body that is to be read: one at most; undefined where it can't be read.
 * @param header Content-Encoding
 */
export const readableCodings = (header = ''): readonly string[] | undefined => {
  const codings = codingsIn(header)
  return codings.length <= 1 && codings.every((each) => NAMES.has(each)) ? codings : undefined
}

export const unreadableCoding = (): GatewayError =>
  new GatewayError(
    'svc.error.unsupported_media_type',
    'Bodies in this Content-Encoding are not accepted here',
    {
      description: `This operation reads bodies in one of ${READ.join(', ')}, or plain ones.`,
      headers: { 'accept-encoding': READ.join(', ') },
    },
  )

export interface InflateRequest {
  readonly codings: readonly string[]
  readonly limits: BodyLimits
  readonly memory: Holding
}

/** @param done called once, synchronously for a plain body */
export const inflateRequest = (
  bytes: Buffer,
  { codings, limits, memory }: InflateRequest,
  done: (error: GatewayError | undefined, plain: Buffer) => void,
): void => {
  inflate(bytes, codings, { maxBytes: limits.maxBytes, memory }, (error, plain) => {
    done(error === undefined ? undefined : ERRORS[error](limits), plain)
  })
}

const ERRORS = {
  invalid: () =>
    new GatewayError('svc.error.invalid_data', 'the body is not in the coding that it names', {
      description: 'Send a body that matches its Content-Encoding.',
    }),
  too_large: (limits) => tooLarge(limits, {}),
  no_memory: () => noMemory(),
} as const satisfies Record<InflateError, (limits: BodyLimits) => GatewayError>
