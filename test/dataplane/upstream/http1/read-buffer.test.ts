// What is kept of a read is never overwritten before its reader has said that it is not held any more, buffers of which that is
// known are used again, and all of them are within the memory of the process.

import { expect, it } from '@jest/globals'
import { MemoryBudget } from '../../../../dataplane/memory/memory-budget.ts'
import {
  OwnBuffers,
  READ_BYTES,
  ReadBuffer,
} from '../../../../dataplane/upstream/http1/read-buffer.ts'

const LARGE_BYTES = 4 * READ_BYTES
const shared = (): Buffer => Buffer.alloc(READ_BYTES)
const buffersOf = (size = Infinity): OwnBuffers => new OwnBuffers(new MemoryBudget({ size }))
const readerOf = (buffers = buffersOf()): ReadBuffer => new ReadBuffer(shared(), buffers)

it.each([
  [100, false],
  [READ_BYTES, false],
  [100, true],
  [READ_BYTES, true],
  [READ_BYTES - 1, true],
])('%s bytes that were taken stay as they were (much expected: %s)', (length, isMuch) => {
  const buffers = buffersOf()
  const [reader, other] = [readerOf(buffers), readerOf(buffers)]
  const kept: Buffer[] = []
  for (let round = 0; round < 4; round++) {
    reader.next(isMuch).fill(round, 0, length)
    kept.push(reader.take(0, length))
    // The response ends: who has its bytes may hold them.
    if (round % 2 === 1) reader.forget()
    reader.next(false)
    reader.recycle()
    other.next(true).fill(99)
    other.next(false)
    if (round % 2 === 0) kept.pop()
  }
  reader.release()
  other.next(true).fill(99)
  expect(kept.map((each) => [...new Set(each)])).toEqual([[1], [3]])
})

it('a buffer of which little was taken is used again, and none is held by little', () => {
  const reader = readerOf()
  const first = reader.next(true)
  expect(reader.take(0, 1000).buffer.byteLength).toBeLessThan(first.length)
  expect(reader.next(true)).toBe(first)
  reader.take(0, first.length)
  expect(reader.next(true)).not.toBe(first)
})

it('a buffer that is not held any more is used again, by any connection that needs one', () => {
  const buffers = buffersOf()
  const reader = readerOf(buffers)
  const first = reader.next(true)
  reader.take(0, first.length)
  reader.recycle()
  expect(reader.next(true)).toBe(first)
  reader.take(0, first.length)
  const second = reader.next(true)
  reader.recycle()
  expect(readerOf(buffers).next(true)).toBe(first)
  reader.next(false)
  expect(readerOf(buffers).next(true)).toBe(second)
})

it('a large piece of the shared buffer is copied into memory that is used again, a small one is not', () => {
  const buffers = buffersOf()
  const reader = readerOf(buffers)
  reader.next(false).fill(1)
  const first = reader.take(0, READ_BYTES)
  const small = reader.take(0, 1000)
  reader.next(false).fill(2)
  expect([first[0], small[0]]).toEqual([1, 1])
  reader.recycle()
  const second = reader.take(0, READ_BYTES)
  expect(second.buffer).toBe(first.buffer)
  reader.forget()
  reader.recycle()
  expect(reader.take(0, READ_BYTES).buffer).not.toBe(first.buffer)
  expect([second[0], small[0]]).toEqual([2, 1])
  const before = buffers.bytes
  // TLS reads little at a time: it would hold four times as much.
  new ReadBuffer(Buffer.alloc(16 * 1024), buffers).take(0, 16 * 1024)
  expect(buffers.bytes).toBe(before)
})

it('who keeps all that is read accounts for it: two buffers of a connection are charged at most', () => {
  const buffers = buffersOf()
  const reader = readerOf(buffers)
  for (let round = 0; round < 200; round++) {
    const { length } = reader.next(true)
    expect(length).toBe(LARGE_BYTES)
    reader.take(0, length)
  }
  expect(buffers.bytes).toBe(2 * LARGE_BYTES)
  reader.release()
  expect(buffers.bytes).toBe(0)
})

it('what was taken before the end of a response is not given back by the next one', () => {
  const buffers = buffersOf()
  const reader = readerOf(buffers)
  const [first] = [reader.next(true)]
  reader.take(0, first.length)
  reader.forget()
  reader.recycle()
  const second = reader.next(true)
  expect(second).not.toBe(first)
  reader.take(0, second.length)
  const third = reader.next(true)
  reader.forget()
  reader.recycle()
  reader.next(false)
  const others = [1, 2, 3].map(() => readerOf(buffers).next(true))
  expect(others).toContain(third)
  expect(others).not.toContain(first)
  expect(others).not.toContain(second)
})

it('64 connections have large buffers, and give them back with the end of a body', () => {
  const buffers = buffersOf()
  const readers = Array.from({ length: 65 }, () => readerOf(buffers))
  const sizes = (): readonly number[] => readers.map((each) => each.next(true).length / READ_BYTES)
  expect(sizes()).toEqual([...Array<number>(64).fill(4), 1])
  readers[0]?.next(false)
  readers[1]?.release()
  readers[1]?.release()
  // The last one keeps what it has as long as nothing was taken of it.
  expect(sizes()).toEqual([...Array<number>(64).fill(4), 1])
  for (const each of readers) each.release()
  // Of each size so many are kept.
  expect(buffers.bytes).toBe(16 * LARGE_BYTES + READ_BYTES)
})

it('buffers are charged to memory, and without room for them the shared one is read into', () => {
  const budget = new MemoryBudget({ size: 4 * LARGE_BYTES })
  const buffers = new OwnBuffers(budget)
  const readers = Array.from({ length: 6 }, () => readerOf(buffers))
  const lengths = readers.map((each) => each.next(true).length)
  expect(lengths).toEqual([
    LARGE_BYTES,
    LARGE_BYTES,
    LARGE_BYTES,
    ...Array<number>(3).fill(READ_BYTES),
  ])
  expect(budget.held).toBe(3 * LARGE_BYTES)
  for (const each of readers) each.take(0, each.current.length)
  for (const each of readers) each.release()
  expect(budget.held).toBe(0)
})
