// Tests that what comes again is known, also among many that do not, and that nothing grows.

import { expect, it } from '@jest/globals'
import { createSeenBefore } from '../../base/seen-before.ts'

it('knows a text from the second time on', () => {
  const wasSeen = createSeenBefore()
  expect(['a', 'b', '', 'a', '', 'c'].map(wasSeen)).toEqual([
    false,
    false,
    false,
    true,
    true,
    false,
  ])
})

it('knows what comes in turns, however much comes once', () => {
  const wasSeen = createSeenBefore()
  const turns = Array.from({ length: 600 }, (_, index) => `/path-${index}`)
  for (let index = 0; index < 100_000; index++) wasSeen(`once-${index}`)
  for (let turn = 0; turn < 20; turn++) turns.forEach(wasSeen)
  expect(turns.filter(wasSeen).length).toBeGreaterThan(590)
})
