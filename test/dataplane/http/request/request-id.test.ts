import { describe, expect, it } from '@jest/globals'
import { randomFillSync } from 'node:crypto'
import { createRequestIds, isRequestId } from '../../../../dataplane/http/request/request-id.ts'

describe('createRequestIds', () => {
  it('makes UUIDs of version 7: time, version, variant, random', () => {
    const next = createRequestIds(
      () => 0x0198_1234_5678,
      (bytes) => bytes.fill(0xff),
    )
    expect(next()).toBe('01981234-5678-7fff-8fff-ffffffffffff')
    const zeros = createRequestIds(
      () => 1,
      (bytes) => bytes.fill(0),
    )
    expect(zeros()).toBe('00000000-0001-7000-8000-000000000000')
  })

  it('never repeats one, draws random bytes in blocks, and follows the clock', () => {
    let ms = 1000
    let draws = 0
    const next = createRequestIds(
      () => ms,
      (bytes) => {
        draws++
        randomFillSync(bytes)
      },
    )
    const ids = Array.from({ length: 2000 }, (_, index) => {
      ms = 1000 + Math.floor(index / 100)
      return next()
    })
    expect(new Set(ids).size).toBe(2000)
    expect(draws).toBe(5)
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(ids.map((id) => id.slice(0, 13))).toEqual(ids.map((id) => id.slice(0, 13)).sort())
  })
})

describe('isRequestId', () => {
  it.each([
    ['a', true],
    ['x'.repeat(128), true],
    ['x'.repeat(129), false],
    ['', false],
    ['a b', false],
    ['a\n', false],
    ['é', false],
  ])('%p: %p', (text, expected) => {
    expect(isRequestId(text)).toBe(expected)
  })
})
