// Equal texts are one; texts without end take no memory without end.

import { expect, it } from '@jest/globals'
import { createTextShare } from '../../../language/expression/share-text.ts'

it.each(['', 'a', '__proto__', 'constructor', '","x":', 'é'.repeat(64), 'x'.repeat(65)])(
  '%p is what it was',
  (text) => {
    const share = createTextShare()
    expect([share(text), share(text)]).toEqual([text, text])
  },
)

it('more texts than are kept are what they were', () => {
  const share = createTextShare()
  const texts = Array.from({ length: 10_000 }, (_, index) => `text ${index}`)
  expect([...texts, ...texts].map(share)).toEqual([...texts, ...texts])
})
