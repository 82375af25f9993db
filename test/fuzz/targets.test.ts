// A short run of each target, the same each time: earlier failures, real inputs, and some hundred mutations.

import { describe, expect, it } from '@jest/globals'
import { corpusOf, EARLIER_FAILURES } from './corpus.ts'
import { fuzz, repeatCommand } from './fuzz.ts'
import { TARGETS } from './targets.ts'

const SEED = 20_261_123
/** Mutations; fewer where each takes milliseconds, over sockets or through a whole operator. */
const CASES = 400
const FEW_CASES = 60
const SLOW: ReadonlySet<string> = new Set([
  'request-heads',
  'response-heads',
  'upstream-sequences',
  'resources',
])

describe('a short run', () => {
  it.each(TARGETS.map((target) => [target.name, target] as const))(
    'of %s finds nothing',
    async (name, target) => {
      const corpus = corpusOf(name)
      const least = corpus.length + target.seeds.length
      const cases = least + (SLOW.has(name) ? FEW_CASES : CASES)
      const report = await fuzz(target, { seed: SEED, corpus, isOver: (done) => done >= cases })
      const { failure } = report
      if (failure !== undefined) {
        const again = repeatCommand(name, failure.input)
        throw new Error(`${failure.error.message}\n${again}`, { cause: failure.error })
      }
      expect(report.cases).toBe(cases)
      // Else its inputs all end at the same place.
      expect(report.outcomes).toBeGreaterThan(1)
    },
    60_000,
  )
})

it('targets have names of their own, and earlier failures a target', () => {
  const names = new Set(TARGETS.map(({ name }) => name))
  expect(names.size).toBe(TARGETS.length)
  expect(EARLIER_FAILURES.filter(({ target }) => !names.has(target))).toEqual([])
})
