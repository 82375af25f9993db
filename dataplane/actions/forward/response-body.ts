// Decodes the body of an upstream's response if the document reads it. Compressed bodies are inflated within a bound,
// off the event loop.

import {
  brotliDecompress,
  gunzip,
  inflate,
  inflateRaw,
  type InputType,
  zstdDecompress,
} from 'node:zlib'
import type { Value } from '../../../language/expression/value.ts'
import { decodeBody } from '../../codec/codec.ts'
import { mediaKind } from '../../../language/routes/media-kind.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { Holding } from '../../memory/memory-budget.ts'
import { noMemory } from '../../memory/no-memory.ts'

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
}

type Done = (fault: Error | 'no memory' | undefined, response?: DecodedResponse) => void

/**
 * JSON and msgpack become values, everything else text, or bytes if it is not UTF-8. An empty body is `""`.
 *
 * @param done called later, or synchronously if there is nothing to inflate
 */
export const decodeResponse = (
  headers: Pairs,
  bytes: Buffer,
  options: DecodeOptions,
  done: Done,
): void => {
  const codings = codingsOf(headers)
  inflateAll(bytes, codings, (error, plain) => {
    if (error !== null) {
      done(
        new Error('The upstream sent a compressed body that is invalid or too large.', {
          cause: error,
        }),
      )
      return
    }
    if (plain !== bytes && !options.memory.reserve(plain.length)) {
      done('no memory')
      return
    }
    const kept =
      codings.length === 0 ? headers : headers.filter(([name]) => !DESCRIBES_CODED.has(name))
    readValue(kept, plain, options, done)
  })
}

const DESCRIBES_CODED: ReadonlySet<string> = new Set(['content-encoding', 'content-length'])

const readValue = (
  headers: Pairs,
  bytes: Buffer,
  { isLenient, memory }: DecodeOptions,
  done: Done,
): void => {
  const contentType = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  const kind = mediaKind(contentType)
  const isDecoded = bytes.length > 0 && (kind === 'json' || kind === 'msgpack')
  let body: Value
  try {
    body = isDecoded ? decodeBody(contentType, bytes, memory) : asText(bytes, memory)
  } catch (cause) {
    if (isNoMemory(cause) || !isLenient) {
      done(isNoMemory(cause) ? 'no memory' : new Error(unreadable(cause), { cause }))
      return
    }
    body = textOrBytes(bytes)
  }
  done(undefined, { body, headers })
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

const textOrBytes = (bytes: Buffer): Value => {
  const text = bytes.toString('utf8')
  // The text may also contain a replacement character of its own; only then are the bytes compared.
  return !text.includes('\uFFFD') || Buffer.from(text).equals(bytes) ? text : bytes
}

type Inflate = (
  bytes: InputType,
  options: { readonly maxOutputLength: number },
  done: (error: Error | null, result: Buffer) => void,
) => void

/** RFC 9110 §8.4.1. `deflate` is zlib, but some servers send the bare stream. */
const INFLATERS: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['br', brotliDecompress],
  ['zstd', zstdDecompress],
  [
    'deflate',
    (bytes, options, done) => {
      const isZlib = bytes instanceof Uint8Array && ((bytes[0] ?? 0) & 0x0f) === 8
      ;(isZlib ? inflate : inflateRaw)(bytes, options, done)
    },
  ],
])

/** Codings that can be decoded, last applied first. An unknown one leaves the body as it is. */
const codingsOf = (headers: Pairs): readonly Inflate[] => {
  const names = headers
    .filter(([name]) => name === 'content-encoding')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== 'identity')
  const inflaters = names.map((name) => INFLATERS.get(name))
  return inflaters.every((each) => each !== undefined) ? inflaters.reverse() : []
}

/** More are an attack: each layer may expand a thousandfold. */
const MAX_CODINGS = 3

const inflateAll = (
  bytes: Buffer,
  codings: readonly Inflate[],
  done: (error: Error | null, result: Buffer) => void,
): void => {
  const [first, ...rest] = codings
  if (first === undefined || bytes.length === 0) done(null, bytes)
  else if (codings.length > MAX_CODINGS) done(new Error('too many content codings'), bytes)
  else {
    first(bytes, { maxOutputLength: MAX_RESPONSE_BYTES }, (error, result) => {
      if (error !== null) done(error, bytes)
      else inflateAll(result, rest, done)
    })
  }
}
