// Creates request ids: UUIDv7 (RFC 9562 §5.7), from a clock and random bytes that are passed in. Random bytes are
// drawn and converted to hex digits in blocks, from which each id takes its digits.

const BLOCK_BYTES = 4096
/** 3 of rand_a, 15 of rand_b. */
const DIGITS_PER_ID = 18
/** The two variant bits are `10`; the two below them need not be random. */
const VARIANT = '8'

/**
 * @param now Unix time in milliseconds
 * @param fillRandom fills the bytes that it gets, as `crypto.randomFillSync` does
 */
export const createRequestIds = (
  now: () => number,
  fillRandom: (bytes: Uint8Array) => void,
): (() => string) => {
  const block = Buffer.alloc(BLOCK_BYTES)
  let digits = ''
  let next = 0
  let lastMs = -1
  let prefix = ''
  return () => {
    if (next + DIGITS_PER_ID > digits.length) {
      fillRandom(block)
      digits = block.toString('hex')
      next = 0
    }
    const ms = now()
    if (ms !== lastMs) {
      lastMs = ms
      const time = ms.toString(16).padStart(12, '0')
      prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`
    }
    const at = next
    next += DIGITS_PER_ID
    const [a, b, c] = [
      digits.slice(at, at + 3),
      digits.slice(at + 3, at + 6),
      digits.slice(at + 6, next),
    ]
    return `${prefix}${a}-${VARIANT}${b}-${c}`
  }
}

/** What a trusted proxy may send as `X-Request-Id`: visible ASCII, up to 128 characters. */
export const isRequestId = (text: string): boolean => /^[\x21-\x7e]{1,128}$/.test(text)
