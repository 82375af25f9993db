// Frames that a server can read, whatever their length and kind, and no two with the same key.

import { randomFillSync } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import {
  FrameBatch,
  OPCODE,
  type Opcode,
} from '../../../../dataplane/wamp/transport/websocket-frames.ts'

interface Frame {
  readonly opcode: number
  readonly key: string
  readonly payload: Buffer
}

/** As a server reads them (RFC 6455 §5.2); throws for what no client may send. */
const readFrames = (bytes: Buffer): readonly Frame[] => {
  const frames: Frame[] = []
  let at = 0
  while (at < bytes.length) {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2)
    if ((first & 0xf0) !== 0x80) throw new Error('not final, or with reserved bits')
    if ((second & 0x80) === 0) throw new Error('not masked')
    const short = second & 0x7f
    const [length, lengthBytes] =
      short === 126
        ? [bytes.readUInt16BE(at + 2), 2]
        : short === 127
          ? [Number(bytes.readBigUInt64BE(at + 2)), 8]
          : [short, 0]
    const start = at + 2 + lengthBytes + 4
    const key = bytes.subarray(start - 4, start)
    const payload = bytes.subarray(start, start + length)
    frames.push({
      opcode: first & 0x0f,
      key: key.toString('hex'),
      payload: payload.map((byte, index) => byte ^ (key[index & 3] ?? 0)) as Buffer,
    })
    at = start + length
  }
  return frames
}

const add = (batch: FrameBatch, opcode: Opcode, payload: string | Uint8Array): void => {
  batch.add(opcode, payload, Buffer.byteLength(payload))
}

describe('one frame', () => {
  it.each([0, 1, 3, 4, 125, 126, 127, 65_535, 65_536, 5_000_000])('of %i bytes', (length) => {
    const batch = new FrameBatch(randomFillSync)
    const text = 'abcdefg'.repeat(Math.ceil(length / 7)).slice(0, length)
    add(batch, OPCODE.text, text)
    const frames = readFrames(batch.take())
    expect(frames).toHaveLength(1)
    expect(frames[0]?.payload.equals(Buffer.from(text))).toBe(true)
  })

  it('of text that is no ASCII', () => {
    const batch = new FrameBatch(randomFillSync)
    add(batch, OPCODE.text, 'Grüße, 世界 🌍 \u00ff')
    expect(readFrames(batch.take())[0]?.payload.toString()).toBe('Grüße, 世界 🌍 \u00ff')
  })

  it('of bytes, which stay as they are', () => {
    const batch = new FrameBatch(randomFillSync)
    const bytes = Uint8Array.of(0, 255, 128, 7, 1)
    add(batch, OPCODE.binary, bytes)
    const [frame] = readFrames(batch.take())
    expect([frame?.opcode, [...(frame?.payload ?? [])]]).toEqual([2, [0, 255, 128, 7, 1]])
    expect([...bytes]).toEqual([0, 255, 128, 7, 1])
  })
})

it('many frames in order, then none', () => {
  const batch = new FrameBatch(randomFillSync)
  const texts = Array.from({ length: 1000 }, (_, index) => `message ${index} ü`)
  for (const text of texts) add(batch, OPCODE.text, text)
  const mostBytes = batch.bytes
  const bytes = batch.take()
  expect(bytes.length).toBeLessThanOrEqual(mostBytes)
  expect(readFrames(bytes).map(({ payload }) => payload.toString())).toEqual(texts)
  expect([batch.bytes, batch.take().length]).toEqual([0, 0])
})

it('takes each key from what it is handed, once', () => {
  let drawn = 0
  const batch = new FrameBatch((bytes) => {
    for (let at = 0; at < bytes.length; at += 4) {
      new DataView(bytes.buffer, bytes.byteOffset).setUint32(at, drawn)
      drawn += 1
    }
  })
  for (let index = 0; index < 600; index++) add(batch, OPCODE.text, 'x')
  const keys = readFrames(batch.take()).map(({ key }) => parseInt(key, 16))
  expect(keys).toEqual(Array.from({ length: 600 }, (_, index) => index))
})
