// Inflates bodies in content codings (RFC 9110 §8.4.1) off the event loop. What they grow to is bounded, and charged piece
// by piece, so that a bomb ends while it grows.

import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import { ByteCollector } from '../memory/byte-collector.ts'
import type { Holding } from '../memory/memory-budget.ts'

export interface InflateOptions {
  /** The most that each layer may inflate to. */
  readonly maxBytes: number
  /** Charged for what is inflated. */
  readonly memory: Holding
}

export type InflateError = 'invalid' | 'too_large' | 'no_memory'

type Done = (error: InflateError | undefined, plain: Buffer) => void

/** `deflate` is zlib, but some senders send the bare stream. */
const INFLATERS: ReadonlyMap<string, (bytes: Buffer) => Transform> = new Map<
  string,
  (bytes: Buffer) => Transform
>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress()],
  ['deflate', ([first = 0]) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw())],
])

/** In lower case, in the order in which they were applied, without `identity`. */
export const codingsIn = (contentEncoding: string): readonly string[] =>
  contentEncoding
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== 'identity')

export const canInflate = (coding: string): boolean => INFLATERS.has(coding)

/**
 * @param codings those that `canInflate` knows
 * @param done called once, synchronously if there is nothing to inflate
 */
export const inflate = (
  bytes: Buffer,
  codings: readonly string[],
  options: InflateOptions,
  done: Done,
): void => {
  const inflater = INFLATERS.get(codings.at(-1) ?? '')
  if (inflater === undefined || bytes.length === 0) {
    done(undefined, bytes)
    return
  }
  inflateLayer(inflater(bytes), bytes, options, (error, plain) => {
    if (error !== undefined) done(error, plain)
    else inflate(plain, codings.slice(0, -1), options, done)
  })
}

const inflateLayer = (
  stream: Transform,
  bytes: Buffer,
  { maxBytes, memory }: InflateOptions,
  done: Done,
): void => {
  const plain = new ByteCollector()
  let length = 0
  let isDone = false
  const finish = (error: InflateError | undefined): void => {
    if (isDone) return
    isDone = true
    stream.destroy()
    done(error, error === undefined ? plain.join() : bytes)
  }
  stream
    .on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBytes) finish('too_large')
      else if (memory.reserve(chunk.length)) plain.add(chunk)
      else finish('no_memory')
    })
    .on('end', () => {
      finish(undefined)
    })
    .on('error', () => {
      finish('invalid')
    })
    .end(bytes)
}
