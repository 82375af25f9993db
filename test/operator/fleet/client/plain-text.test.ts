import { expect, it } from '@jest/globals'
import { plainText } from '../../../../operator/fleet/client/plain-text.ts'

it.each([
  ['words', 'as they are', 'as they are'],
  ['lines', 'two\r\nlines\u2028three', 'two lines three'],
  ['colours of a terminal', '\u001b[31mred', ' [31mred'],
  ['marks of direction and of no width', 'a\u202eb\u200bc\ufeffd', 'a b c d'],
  ['NUL', 'a\0b', 'a b'],
  ['what is too long', 'x'.repeat(50), 'x'.repeat(20)],
  ['half a character', `${'x'.repeat(19)}🐎`, 'x'.repeat(19)],
])('%s', (_name, text, shown) => {
  expect(plainText(text, 20)).toBe(shown)
})
