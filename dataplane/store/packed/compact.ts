// Keeps content deflated that is read seldom: documents repeat themselves, so that one of 9 KB takes 0.5.

import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Plain data: it is sent to other threads and processes. `deflated` is one character for each byte: many small buffers
 * would lie between larger ones that come and go, and malloc would give none of them back (25 MB of 1,000 documents).
 */
export type Compact = { readonly deflated: string } | { readonly plain: Uint8Array }

/** To inflate more would keep requests waiting for milliseconds; 9 KB take 10 µs, and 25 to deflate. */
const DEFLATED_UP_TO = 256 * 1024

/**
 * 50 KB of memory for each call, not 268, which malloc takes from the system and gives back each time; and no output
 * of 16 KB, which would be garbage as well.
 */
const OPTIONS = { level: 1, windowBits: 13, memLevel: 5, chunkSize: 2048 }

/** @example expand(compact('{"id":"a"}')).toString() // '{"id":"a"}' */
export const compact = (content: string | Uint8Array): Compact => {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return bytes.length > DEFLATED_UP_TO
    ? { plain: bytes }
    : { deflated: deflateRawSync(bytes, OPTIONS).toString('latin1') }
}

export const expand = (content: Compact): Buffer =>
  'deflated' in content
    ? inflateRawSync(Buffer.from(content.deflated, 'latin1'), {
        windowBits: OPTIONS.windowBits,
        maxOutputLength: DEFLATED_UP_TO,
      })
    : Buffer.from(content.plain.buffer, content.plain.byteOffset, content.plain.byteLength)

/** Bytes that it takes. */
export const sizeOfCompact = (content: Compact): number =>
  'deflated' in content ? content.deflated.length : content.plain.length
