// What the log says before the heap is full.

import { expect, it } from '@jest/globals'
import { warnOfFullHeap } from '../../operator/warn-of-full-heap.ts'
import { createManualClock } from '../support/manual-clock.ts'

const MIB = 1024 * 1024

it('warns once in ten minutes, with the figures and what to do', () => {
  const clock = createManualClock()
  const warnings: unknown[] = []
  const onCollected = warnOfFullHeap({
    clock,
    log: { warn: (...said) => warnings.push(said) },
    limitBytes: 256 * MIB,
  })
  onCollected(200 * MIB)
  expect(warnings).toEqual([])
  onCollected(210 * MIB)
  onCollected(250 * MIB)
  expect(warnings).toEqual([
    [
      expect.stringMatching(/^the heap is nearly full.*operator\.resources\.limits\.memory/),
      { usedMb: 210, limitMb: 256 },
    ],
  ])
  clock.advance(600_000)
  onCollected(250 * MIB)
  expect(warnings).toHaveLength(2)
})
