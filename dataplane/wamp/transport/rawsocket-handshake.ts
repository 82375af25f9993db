// Encodes our four bytes of the RawSocket handshake, and reads and checks those of the router (WAMP protocol,
// *RawSocket Transport*).

export const HANDSHAKE_BYTES = 4
const MAGIC = 0x7f

/**
 * A frame's length has 24 bits.
 * @internal
 */
export const MAX_FRAME_BYTES = 2 ** 24 - 1

/**
 * The announced limit of what we accept: the largest 2^9 … 2^23 within `maxMessageBytes`, or 2^24 if that allows all
 * frames.
 */
export const takenBytes = (maxMessageBytes: number): number =>
  2 ** (9 + lengthNibble(maxMessageBytes))

/** @example greeting(1, 2 ** 24) // 7f f1 00 00 */
export const greeting = (serializerId: number, maxMessageBytes: number): Buffer =>
  Buffer.of(MAGIC, (lengthNibble(maxMessageBytes) << 4) | serializerId, 0, 0)

const lengthNibble = (maxMessageBytes: number): number =>
  maxMessageBytes >= MAX_FRAME_BYTES ? 15 : Math.max(0, Math.floor(Math.log2(maxMessageBytes)) - 9)

export type RouterResponse =
  | { readonly kind: 'ready'; readonly takesBytes: number }
  | { readonly kind: 'other-serializer' }
  | { readonly kind: 'refused'; readonly why: string }

/** Reads the router's first four bytes in response to a greeting with `serializerId`. */
export const readResponse = (bytes: Buffer, serializerId: number): RouterResponse => {
  const second = bytes[1] ?? 0
  const high = second >> 4
  const low = second & 0x0f
  if (bytes[0] !== MAGIC) return refused('the peer does not speak WAMP RawSocket')
  if (low === 0 && high === 1) return { kind: 'other-serializer' }
  if (low === 0) return refused(`the router refused: ${ERRORS.get(high) ?? `error ${high}`}`)
  if (low !== serializerId || bytes[2] !== 0 || bytes[3] !== 0)
    return refused('the router answered with what was not asked for')
  return { kind: 'ready', takesBytes: Math.min(2 ** (9 + high), MAX_FRAME_BYTES) }
}

const refused = (why: string): RouterResponse => ({ kind: 'refused', why })

const ERRORS: ReadonlyMap<number, string> = new Map([
  [2, 'maximum message length unacceptable'],
  [3, 'use of reserved bits'],
  [4, 'maximum connection count reached'],
])
