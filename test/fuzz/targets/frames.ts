// Bytes of a WAMP connection go through the readers of frames, at once and in pieces: the same frames come out and the
// same fault, none larger than the limit, and what was read is what would be written.

import {
  FRAME,
  FrameBatch,
  FrameReader,
  type FrameType,
} from '../../../dataplane/wamp/transport/rawsocket-frames.ts'
import {
  greeting,
  readResponse,
  takenBytes,
} from '../../../dataplane/wamp/transport/rawsocket-handshake.ts'
import { FrameScanner } from '../../../dataplane/wamp/relay/frames.ts'
import { readHandshakeResponse } from '../../../dataplane/wamp/relay/handshake.ts'
import {
  FrameBatch as ClientFrameBatch,
  OPCODE,
} from '../../../dataplane/wamp/transport/websocket-frames.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'
import { MessageError } from '../../../dataplane/wamp/protocol/message-error.ts'

/** Where pieces end follows from the bytes themselves. */
const pieces = (input: Buffer): readonly Buffer[] => {
  const parts: Buffer[] = []
  for (let at = 0, turn = 0; at < input.length; turn++) {
    const size = 1 + (((input[turn] ?? 0) * 7 + turn) % 11)
    parts.push(input.subarray(at, at + size))
    at += size
  }
  return parts
}

const RAW_LIMIT = 1000

interface RawReading {
  readonly frames: { readonly type: FrameType; readonly payload: string }[]
  fault: string
}

const readRaw = (chunks: readonly Buffer[]): RawReading => {
  const reading: RawReading = { frames: [], fault: '' }
  const reader = new FrameReader(RAW_LIMIT, (type, payload) => {
    reading.frames.push({ type, payload: payload.toString('latin1') })
  })
  try {
    for (const chunk of chunks) reader.push(chunk)
  } catch (error) {
    if (!(error instanceof MessageError && error.code === 'malformed_frame')) throw error
    reading.fault = error.message
  }
  return reading
}

const checkRaw = (input: Buffer): string => {
  const whole = readRaw([input])
  if (JSON.stringify(readRaw(pieces(input))) !== JSON.stringify(whole))
    throw new Error('other frames come of the same bytes in pieces')
  const batch = new FrameBatch()
  for (const { type, payload } of whole.frames) {
    if (payload.length > RAW_LIMIT) throw new Error('a frame is larger than the limit')
    batch.add(type, Buffer.from(payload, 'latin1'), payload.length)
  }
  const written = batch.take()
  if (!written.equals(input.subarray(0, written.length)))
    throw new Error('what was read is written in other bytes')
  checkGreeting(input)
  return `${Math.min(4, whole.frames.length)} ${whole.fault.replaceAll(/\d+/g, '')}`
}

/** The first bytes of a connection, and a limit, which are as hostile. */
const checkGreeting = (input: Buffer): void => {
  const response = readResponse(input.subarray(0, 4), 1)
  if (response.kind === 'ready' && !(response.takesBytes >= 512 && response.takesBytes < 2 ** 24))
    throw new Error(`a router takes ${response.takesBytes} bytes`)
  const limit = input.length < 4 ? 0 : input.readUInt32BE(0)
  if (limit >= 512 && takenBytes(limit) > Math.max(limit, 2 ** 24))
    throw new Error('more is announced than the limit')
  if (greeting(1, limit).length !== 4) throw new Error('a greeting has four bytes')
}

const rawFrame = (type: FrameType, payload: string): Buffer => {
  const batch = new FrameBatch()
  batch.add(type, payload, Buffer.byteLength(payload))
  return batch.take()
}

export const rawSocketFrames: FuzzTarget = {
  name: 'rawsocket-frames',
  seeds: [
    Buffer.concat([rawFrame(FRAME.message, '[1,"com.acme",{}]'), rawFrame(FRAME.ping, 'x')]),
    Buffer.concat([rawFrame(FRAME.pong, ''), rawFrame(FRAME.message, 'é'.repeat(200))]),
    rawFrame(FRAME.message, 'x'.repeat(RAW_LIMIT)),
    Buffer.of(0x7f, 0xf1, 0, 0),
  ],
  mutate: (input, random, pool) =>
    mutateBytes(input, {
      random,
      pool,
      tokens: ['\0\0\0\x01', '\x01\0\0\0', '\x08', '\0\x03\xe9'],
    }),
  open: () => ({ check: checkRaw }),
}

const SOCKET_LIMIT = 500

interface Scan {
  readonly passed: number
  readonly fault: string
  readonly hasClosed: boolean
}

const scan = (chunks: readonly Buffer[], isMasked: boolean): Scan => {
  const scanner = new FrameScanner({ rules: { isMasked, maxMessageBytes: SOCKET_LIMIT } })
  let passed = 0
  let rest: Buffer = Buffer.alloc(0)
  for (const chunk of chunks) {
    if (scanner.error !== undefined || scanner.hasClosed) break
    const bytes = Buffer.concat([rest, chunk])
    const count = scanner.scan(bytes)
    if (count < 0 || count > bytes.length) throw new Error(`${count} of ${bytes.length} bytes pass`)
    passed += count
    rest = bytes.subarray(count)
  }
  return { passed, fault: scanner.error?.reason ?? '', hasClosed: scanner.hasClosed }
}

const checkSocket = (input: Buffer): string => {
  const outcomes = [true, false].map((isMasked) => {
    const whole = scan([input], isMasked)
    const split = scan(pieces(input), isMasked)
    if (JSON.stringify(split) !== JSON.stringify(whole))
      throw new Error(`in pieces ${JSON.stringify(split)}, at once ${JSON.stringify(whole)}`)
    return `${whole.fault} ${whole.hasClosed}`
  })
  checkWritten(input)
  const asked = { key: 'dGhlIHNhbXBsZSBub25jZQ==', protocols: ['wamp.2.json'] } as const
  const response = readHandshakeResponse(input, asked)
  if (response.kind === 'accepted' && response.headBytes > input.length)
    throw new Error('frames begin beyond the end')
  return `${outcomes.join()} ${response.kind}`
}

/** The bytes as messages of ours: a scanner lets pass all that we write of them. */
const checkWritten = (input: Buffer): void => {
  const batch = new ClientFrameBatch((bytes) => {
    bytes.fill(0x5a)
  })
  for (const piece of pieces(input.subarray(0, SOCKET_LIMIT)))
    batch.add(OPCODE.binary, piece, piece.length)
  batch.add(OPCODE.text, input.subarray(0, SOCKET_LIMIT), Math.min(SOCKET_LIMIT, input.length))
  const written = batch.take()
  const { passed, fault } = scan([written], true)
  if (passed !== written.length) throw new Error(`our own frames do not pass: ${fault}`)
}

const HANDSHAKE =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: wamp.2.json\r\n\r\n'

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

export const webSocketFrames: FuzzTarget = {
  name: 'websocket-frames',
  seeds: [
    latin1('\x81\x05hello\x82\x00\x89\x01x\x88\x02\x03\xe8'),
    latin1('\x81\x85\x01\x02\x03\x04hello\x88\x80\x01\x02\x03\x04'),
    latin1(`\x01\x02ab\x00\x02cd\x8a\x00\x80\x02ef\x82\x7e\x01\x2c${'x'.repeat(300)}`),
    latin1(`\x82\xfe\x01\x2cmask${'y'.repeat(300)}\x82\xff\0\0\0\0\0\0\0\x01maskz`),
    latin1(HANDSHAKE),
  ],
  mutate: (input, random, pool) =>
    mutateBytes(input, {
      random,
      pool,
      tokens: [
        '\x81',
        '\x82',
        '\x01',
        '\x00',
        '\x80',
        '\x88',
        '\x89',
        '\x83',
        '\xc1',
        '\x7e\0\x01',
        '\xfe\xff\xff',
        '\x7f\0\0\0\0\0\0\0\x01',
        '\xff\xff\xff\xff\xff\xff\xff\xff\xff',
        '\r\n',
        ': ',
        ',',
        '\x7d',
        '\xfd',
      ],
    }),
  open: () => ({ check: checkSocket }),
}
