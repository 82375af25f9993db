// Decodes the body of an upstream's response if the document reads it. Compressed bodies are inflated within a bound,
// off the event loop.

import type { Value } from '../../../language/expression/value.ts'
import { toUtf8 } from '../../codec/charset.ts'
import { decodeInPieces } from '../../codec/codec.ts'
import { canInflate, codingsIn, inflate, type InflateError } from '../../codec/content-coding.ts'
import { charsetOf, isTextual, mediaKind } from '../../../language/routes/media-kind.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { Holding } from '../../memory/memory-budget.ts'
import { noMemory } from '../../memory/no-memory.ts'
import { LARGE_BODY_BYTES } from '../../turns.ts'

/** Most bytes that are read of a response, as received and as inflated (behaviour §4). */
export const MAX_RESPONSE_BYTES = 25_000_000

type Pairs = readonly (readonly [name: string, value: string])[]

/** @internal */
export interface DecodedResponse {
  readonly body: Value
  /** Without `content-encoding` and `content-length` if they no longer describe `body`. */
  readonly headers: Pairs
}

interface DecodeOptions {
  /** An undecodable body is passed on as it is, as its status matters more. */
  readonly isLenient: boolean
  /** Charged for what the body is inflated and decoded to. */
  readonly memory: Holding
  /** As of the exchange. */
  readonly defer: (work: () => boolean) => void
}

type Done = (error: Error | 'no memory' | undefined, response?: DecodedResponse) => void

/** More are an attack: each layer may expand a thousandfold. */
const MAX_CODINGS = 3

/**
 * JSON and msgpack become values; everything else text in the charset that it names, or bytes if it names none and is
 * not UTF-8. An empty body is `""`.
 *
 * @param done called later, or synchronously if there is little to read and nothing to inflate
 */
export const decodeResponse = (
  headers: Pairs,
  bytes: Buffer,
  options: DecodeOptions,
  done: Done,
): void => {
  const codings = codingsIn(valuesOf(headers, 'content-encoding').join(','))
  if (bytes.length > 0 && !codings.every(canInflate)) {
    if (options.isLenient) readInTurns(headers, bytes, options, done)
    else done(new Error('The upstream sent a body in a coding that is not decoded here.'))
    return
  }
  if (codings.length > MAX_CODINGS) {
    done(INFLATE_ERRORS.invalid)
    return
  }
  inflate(
    bytes,
    codings,
    { maxBytes: MAX_RESPONSE_BYTES, memory: options.memory },
    (error, plain) => {
      if (error !== undefined) {
        done(INFLATE_ERRORS[error])
        return
      }
      const kept =
        codings.length === 0 ? headers : headers.filter(([name]) => !DESCRIBES_CODED.has(name))
      readInTurns(kept, plain, options, done)
    },
  )
}

const INVALID = new Error('The upstream sent a compressed body that is invalid or too large.')

const INFLATE_ERRORS = {
  invalid: INVALID,
  too_large: INVALID,
  no_memory: 'no memory',
} as const satisfies Record<InflateError, Error | 'no memory'>

const valuesOf = (headers: Pairs, name: string): readonly string[] =>
  headers.filter((each) => each[0] === name).map(([, value]) => value)

const DESCRIBES_CODED: ReadonlySet<string> = new Set(['content-encoding', 'content-length'])

/** At once if there is little to read. */
const readInTurns = (
  headers: Pairs,
  bytes: Buffer,
  { isLenient, memory, defer }: DecodeOptions,
  done: Done,
): void => {
  const pieces = toValue(valuesOf(headers, 'content-type')[0] ?? '', bytes, memory)
  const readPiece = (): boolean => {
    let body: Value
    try {
      const piece = pieces.next()
      if (piece.done !== true) return true
      body = piece.value
    } catch (cause) {
      if (isNoMemory(cause) || !isLenient) {
        done(isNoMemory(cause) ? 'no memory' : new Error(unreadable(cause), { cause }))
        return false
      }
      body = textOrBytes(bytes)
    }
    done(undefined, { body, headers })
    return false
  }
  if (bytes.length > LARGE_BODY_BYTES) defer(readPiece)
  else readPiece()
}

/** @throws GatewayError */
function* toValue(
  contentType: string,
  bytes: Buffer,
  memory: Holding,
): Generator<undefined, Value> {
  const kind = mediaKind(contentType)
  if (bytes.length === 0) return ''
  if (kind === 'msgpack') return yield* decodeInPieces(contentType, bytes, memory)
  const charset = isTextual(contentType) ? charsetOf(contentType) : undefined
  if (kind === 'json') {
    // Decoding JSON checks that by itself: no copy is needed.
    const isUtf8 = charset === undefined || charset === 'utf-8'
    const utf8 = isUtf8 ? bytes : inUtf8(bytes, charset, memory)
    return yield* decodeInPieces(contentType, utf8, memory)
  }
  return asText(charset === undefined ? bytes : inUtf8(bytes, charset, memory), memory)
}

/** @throws GatewayError */
const inUtf8 = (bytes: Buffer, charset: string, memory: Holding): Buffer => {
  const text = toUtf8(bytes, charset)
  if (text === undefined || text.length > MAX_RESPONSE_BYTES)
    throw new GatewayError('svc.error.invalid_data', 'The body is not in the charset that it names')
  if (!memory.reserve(text.length)) throw noMemory()
  return text
}

/** @throws GatewayError `svc.error.overloaded` */
const asText = (bytes: Buffer, memory: Holding): Value => {
  if (!memory.reserveValues(bytes.length)) throw noMemory()
  return textOrBytes(bytes)
}

const isNoMemory = (cause: unknown): boolean =>
  cause instanceof GatewayError && cause.code === 'svc.error.overloaded'

const unreadable = (cause: unknown): string =>
  cause instanceof GatewayError && cause.code === 'svc.error.payload_too_large'
    ? 'The upstream sent a body with too many values.'
    : 'The upstream sent a body that does not match its content type.'

/** A byte order mark is no part of a text. */
const textOrBytes = (bytes: Buffer): Value => {
  const text = bytes.toString('utf8')
  // The text may also contain a replacement character of its own; only then are the bytes compared.
  return !text.includes('\uFFFD') || Buffer.from(text).equals(bytes)
    ? text.replace(/^\uFEFF/, '')
    : bytes
}
