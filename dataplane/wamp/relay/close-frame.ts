// Encodes a status code and a reason as a Close frame (RFC 6455 §5.5.1).

const FINAL_CLOSE = 0x88
const MASKED = 0x80
/** What a control frame holds, less the code. */
const MAX_REASON_BYTES = 123

/**
 * With `mask` (4 bytes) as a client sends it (§5.3). A longer reason is left out.
 * @example socket.write(closeFrame(1001, 'going away'))
 */
export const closeFrame = (code: number, reason: string, mask?: Uint8Array): Buffer => {
  const words = Buffer.from(reason)
  const payload = Buffer.concat([
    Buffer.from([code >> 8, code & 0xff]),
    words.length > MAX_REASON_BYTES ? Buffer.alloc(0) : words,
  ])
  if (mask === undefined)
    return Buffer.concat([Buffer.from([FINAL_CLOSE, payload.length]), payload])
  const masked = payload.map((byte, at) => byte ^ (mask[at % mask.length] ?? 0))
  return Buffer.concat([Buffer.from([FINAL_CLOSE, MASKED | payload.length]), mask, masked])
}
