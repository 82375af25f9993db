import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  FRAME,
  FrameBatch,
  FrameReader,
  type FrameType,
} from '../../../../dataplane/wamp/transport/rawsocket-frames.ts'

type Frame = readonly [FrameType, string]

const batchOf = (frames: readonly Frame[]): FrameBatch => {
  const batch = new FrameBatch()
  for (const [type, payload] of frames) batch.add(type, payload, Buffer.byteLength(payload))
  return batch
}

/** What a reader makes of bytes that come in pieces of these sizes, over and over. */
const readInPieces = (bytes: Buffer, sizes: readonly number[], limit = 2 ** 24): Frame[] => {
  const frames: Frame[] = []
  const reader = new FrameReader(limit, (type, payload) => {
    frames.push([type, payload.toString()])
  })
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const size = sizes[piece % sizes.length] ?? 1
    // A piece of its own, overwritten after it was read: nothing of it may be kept.
    const chunk = Buffer.from(bytes.subarray(at, at + size))
    reader.push(chunk)
    chunk.fill(0xee)
    at += size
  }
  return frames
}

const FRAMES: readonly Frame[] = [
  [FRAME.message, '[1]'],
  [FRAME.ping, ''],
  [FRAME.message, 'é€😀'],
  [FRAME.pong, 'abc'],
  [FRAME.message, 'x'.repeat(100_000)],
  [FRAME.message, ''],
  [FRAME.message, '[2]'],
]

describe('RawSocket frames', () => {
  it.each([
    ['at once', [Infinity]],
    ['byte by byte', [1]],
    ['by twos', [2]],
    ['by fours', [4]],
    ['by fives', [5]],
    ['unevenly', [3, 65_536, 1, 7]],
  ])('are the same when they come %s', (_, sizes) => {
    expect(readInPieces(batchOf(FRAMES).take(), sizes)).toEqual(FRAMES)
  })

  it('are the same however they come', () => {
    const frame = fc.tuple(
      fc.constantFrom(FRAME.message, FRAME.ping, FRAME.pong),
      fc.string({ unit: 'grapheme', maxLength: 600 }),
    )
    const sizes = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1 })
    fc.assert(
      fc.property(fc.array(frame), sizes, (frames, pieces) => {
        expect(readInPieces(batchOf(frames).take(), pieces)).toEqual(frames)
      }),
    )
  })

  it('have a head of type and length', () => {
    const batch = new FrameBatch()
    batch.add(FRAME.pong, Uint8Array.of(1, 2), 2)
    batch.add(FRAME.message, 'é', 2)
    expect(batch.bytes).toBe(12)
    expect(batch.take().toString('hex')).toBe('02000002010200000002c3a9')
    expect(batch.bytes).toBe(0)
    expect(batch.take()).toHaveLength(0)
  })

  it.each([
    ['over the limit', '0000020b', '523 bytes, the limit is 522'],
    ['of 16 MiB', '00ffffff', '16777215 bytes'],
    ['of an unknown type', '03000000', 'unknown type'],
    ['with a reserved bit', '08000000', 'unknown type'],
    ['of another protocol', '48545450', 'unknown type'],
  ])('%s are refused, at once and byte by byte', (_, hex, message) => {
    const bytes = Buffer.concat([batchOf([[FRAME.message, 'x']]).take(), Buffer.from(hex, 'hex')])
    for (const sizes of [[Infinity], [1]]) {
      const read = () => readInPieces(bytes, sizes, 522)
      expect(read).toThrow(expect.objectContaining({ code: 'malformed_frame' }))
      expect(read).toThrow(message)
    }
  })

  it('of 16 MiB in small pieces take no quadratic time', () => {
    const payload = 'x'.repeat(2 ** 24 - 1)
    const frames = readInPieces(batchOf([[FRAME.message, payload]]).take(), [1000])
    expect(frames.map(([, text]) => text.length)).toEqual([payload.length])
  })
})
