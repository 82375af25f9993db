import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { compilePattern } from '../../../language/json-schema/linear-pattern.ts'

/** How much was spent beside it. */
const match = (source: string, text: string): { isMatch: boolean; cost: number } => {
  const pattern = compilePattern(source)
  if (typeof pattern === 'string') throw new Error(pattern)
  let cost = 0
  const isMatch = pattern.matches(text, (each) => {
    cost += each
    return true
  })
  return { isMatch, cost }
}

describe('a linear pattern', () => {
  it.each([
    '^$',
    '^a*$',
    'a|b|',
    '^(?:ab|cd)+$',
    '[^a-c]',
    '\\d{2,3}',
    '\\p{Lu}',
    '^.$',
    'a??b',
    '(a*)*b',
    '(?:){9}',
    '^\\x41\\u0042\\u{1F600}$',
    '[\\]a]',
    '(^a|b$)',
    '\\.',
    '\\/',
    '\\cA',
    '[\\b]',
    '(?<n>a)b',
    'x{0}y',
    '\\ud83d\\ude00',
    '\\W\\S\\D',
    'a$b',
    '',
    'a{2,}',
  ])('takes the same texts as V8: %s', (source) => {
    const reference = new RegExp(source, 'u')
    const texts = fc.oneof(
      fc.stringMatching(/^[abcABxy0-9😀./\]\n -]{0,8}$/u),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    )
    fc.assert(
      fc.property(texts, (text) => {
        expect(match(source, text).isMatch).toBe(reference.test(text))
      }),
    )
  })

  it.each(['(a*)*b', '(a|a)*b', '^(a+)+$', '(x+x+)+y', '(.*)(.*)(.*)z'])(
    'costs twice as much for twice the text: %s',
    (source) => {
      const [short, long] = [2000, 4000].map(
        (length) => match(source, 'a'.repeat(length) + '!').cost,
      )
      expect((long ?? 0) / (short ?? 1)).toBeLessThan(2.1)
    },
  )

  it('ends when nothing is left to spend', () => {
    const pattern = compilePattern('a')
    expect(typeof pattern === 'object' && pattern.matches('a', () => false)).toBe(false)
  })
})
