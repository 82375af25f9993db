// Frames for tests of the WebSocket relay (RFC 6455 §5.2): what a test says in, bytes out, however wrong.

export interface FrameParts {
  readonly opcode?: number
  readonly isFinal?: boolean
  readonly reserved?: number
  /** As a client sends it. */
  readonly isMasked?: boolean
  /** Written instead of the payload's own. */
  readonly length?: number | bigint
}

const MASK = Buffer.from([0x12, 0x34, 0x56, 0x78])

export const frame = (payload: Uint8Array | string, parts: FrameParts = {}): Buffer => {
  const { opcode = 2, isFinal = true, reserved = 0, isMasked = false } = parts
  const bytes = Buffer.from(payload)
  const length = parts.length ?? bytes.length
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode
  const masked = isMasked ? bytes.map((byte, at) => byte ^ (MASK[at % 4] ?? 0)) : bytes
  return Buffer.concat([
    Buffer.from([first]),
    lengthBytes(length, isMasked ? 0x80 : 0),
    isMasked ? MASK : Buffer.alloc(0),
    masked,
  ])
}

const lengthBytes = (length: number | bigint, mask: number): Buffer => {
  if (length < 126) return Buffer.from([mask | Number(length)])
  const bytes = Buffer.alloc(length < 65_536 ? 3 : 9)
  bytes[0] = mask | (length < 65_536 ? 126 : 127)
  if (length < 65_536) bytes.writeUInt16BE(Number(length), 1)
  else bytes.writeBigUInt64BE(BigInt(length), 1)
  return bytes
}

export const close = (code: number, parts: FrameParts = {}): Buffer =>
  frame(Buffer.from([code >> 8, code & 0xff]), { ...parts, opcode: 8 })
