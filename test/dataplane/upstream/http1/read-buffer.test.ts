// What a caller keeps of a read is never overwritten by a later one, and large buffers are given to a few at a time.

import { expect, it } from '@jest/globals'
import {
  createLargeReads,
  READ_BYTES,
  ReadBuffer,
} from '../../../../dataplane/upstream/http1/read-buffer.ts'

const shared = (): Buffer => Buffer.alloc(READ_BYTES)

it.each([
  [100, false],
  [READ_BYTES, false],
  [100, true],
  [READ_BYTES, true],
])('%s bytes that were taken stay as they were (much expected: %s)', (length, isMuch) => {
  const reader = new ReadBuffer(shared(), createLargeReads())
  const kept: Buffer[] = []
  for (let round = 0; round < 4; round++) {
    reader.next(isMuch).fill(round, 0, length)
    kept.push(reader.take(0, length))
  }
  expect(kept.map((each) => [...new Set(each)])).toEqual([[0], [1], [2], [3]])
})

it('a buffer of which little was taken is used again, and none is held by little', () => {
  const reader = new ReadBuffer(shared(), createLargeReads())
  const first = reader.next(true)
  expect(reader.take(0, 1000).buffer.byteLength).toBeLessThan(first.length)
  expect(reader.next(true)).toBe(first)
  reader.take(0, first.length)
  expect(reader.next(true)).not.toBe(first)
})

it('64 connections have large buffers, and give them back with the end of a body', () => {
  const largeReads = createLargeReads()
  const readers = Array.from({ length: 65 }, () => new ReadBuffer(shared(), largeReads))
  const sizes = (): readonly number[] => readers.map((each) => each.next(true).length / READ_BYTES)
  expect(sizes()).toEqual([...Array<number>(64).fill(4), 1])
  readers[0]?.next(false)
  readers[1]?.release()
  readers[1]?.release()
  expect(largeReads.left).toBe(2)
  for (const each of readers) each.release()
  expect(largeReads.left).toBe(64)
})
