// A short run of each target, the same each time: earlier failures, real inputs, and some hundred mutations.

import { describe, expect, it } from '@jest/globals'
import { corpusOf, EARLIER_FAILURES } from './corpus.ts'
import { fuzz, repeatCommand } from './fuzz.ts'
import { TARGETS } from './targets.ts'

const SEED = 20_261_123
/** Mutations; over sockets each takes a millisecond or more. */
const CASES = 400
const CASES_BY_SOCKET = 60
const BY_SOCKET: ReadonlySet<string> = new Set([
  'request-heads',
  'response-heads',
  'response-heads-built-in',
  'upstream-sequences',
  'upstream-sequences-built-in',
])

describe('a short run', () => {
  it.each(TARGETS.map((target) => [target.name, target] as const))(
    'of %s finds nothing',
    async (name, target) => {
      const corpus = corpusOf(name)
      const least = corpus.length + target.seeds.length
      const cases = least + (BY_SOCKET.has(name) ? CASES_BY_SOCKET : CASES)
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
