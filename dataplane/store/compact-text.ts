// Keeps texts compressed that are read seldom: documents repeat themselves, so that one of 9 KB takes 0.5.

import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Plain data: it is sent to other threads and processes. `deflated` is one character for each byte: many small buffers
 * would lie between larger ones that come and go, and malloc would give none of them back (25 MB of 1,000 documents).
 */
export type CompactText = { readonly deflated: string } | { readonly plain: string | Uint8Array }

/** Of less there is little to gain. */
const DEFLATED_FROM = 1024
/** To expand more would keep requests waiting for milliseconds; 9 KB take 10 µs, and 25 to compress. */
const DEFLATED_UP_TO = 256 * 1024

/** What is compressed passes through here: a buffer for each text would be garbage until V8 looks for some. */
const scratch = Buffer.allocUnsafeSlow(DEFLATED_UP_TO)

/**
 * 50 KB of memory for each call, not 268, which malloc takes from the system and gives back each time; and no output
 * of 16 KB, which would be garbage as well.
 */
const OPTIONS = { level: 1, windowBits: 13, memLevel: 5, chunkSize: 2048 }

/** @example expand(compact('{"id":"a"}')).toString() // '{"id":"a"}' */
export const compact = (text: string): CompactText => {
  const size = Buffer.byteLength(text)
  if (size < DEFLATED_FROM) return { plain: text }
  if (size > DEFLATED_UP_TO) return { plain: Buffer.from(text) }
  scratch.write(text)
  return { deflated: deflateRawSync(scratch.subarray(0, size), OPTIONS).toString('latin1') }
}

export const expand = (text: CompactText): Buffer =>
  'deflated' in text
    ? inflateRawSync(Buffer.from(text.deflated, 'latin1'), { windowBits: OPTIONS.windowBits })
    : bytesOf(text.plain)

/** Bytes that it takes. */
export const sizeOfCompact = (text: CompactText): number =>
  'deflated' in text ? text.deflated.length : bytesOf(text.plain).length

const bytesOf = (plain: string | Uint8Array): Buffer =>
  typeof plain === 'string'
    ? Buffer.from(plain)
    : Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength)
