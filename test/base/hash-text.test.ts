// Tests that a part of a text has the hash of the same text by itself, and that hashes tell texts apart.

import { expect, it } from '@jest/globals'
import { hashText } from '../../base/hash-text.ts'

it.each(['', 'users', 'žluť', '\ud83d\ude00', 'x'.repeat(1000)])(
  'hashes %j as it hashes it within another text',
  (text) => {
    const hash = hashText(text, 0, text.length)
    expect(hashText(`/${text}/42`, 1, text.length + 1)).toBe(hash)
    expect(hash).toBe(hash & 0x3fffffff)
  },
)

it('spreads similar texts over the low bits', () => {
  const slots = new Set(
    Array.from({ length: 1024 }, (_, index) => {
      const text = `host-${index}.bench.test`
      return hashText(text, 0, text.length) & 1023
    }),
  )
  // At random 647 of them are taken.
  expect(slots.size).toBeGreaterThan(500)
})
