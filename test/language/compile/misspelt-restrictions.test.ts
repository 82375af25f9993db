import { describe, expect, it } from '@jest/globals'
import { reportMisspelt } from '../../../language/compile/misspelt-restrictions.ts'
import { constant } from '../../../language/expression/template.ts'

interface Told {
  /** Taken from the allowance, in order. */
  readonly spent: number[]
  readonly problems: string[]
}

const report = (told: Told, paths: readonly string[], left = Infinity): readonly boolean[] => {
  const given = constant({ acepts: 1, other: [1, 2], timeout: 3 })
  return paths.map((path) =>
    reportMisspelt('defaults', given, path, {
      budget: {
        spend: (values) => {
          told.spent.push(values)
          return values <= left
        },
        take: (template) => template,
      },
      diagnostics: { problem: (_code, pointer) => told.problems.push(pointer) },
    }),
  )
}

describe('names close to those of keys that restrict, in what an expression gives', () => {
  it('are reported at each place that it is given to, but searched for and paid once', () => {
    const told: Told = { spent: [], problems: [] }
    expect(report(told, ['/a', '/b', '/c'])).toEqual([true, true, true])
    expect(told).toEqual({ spent: [6], problems: ['/a/acepts', '/b/acepts', '/c/acepts'] })
  })

  it('are not searched for once the allowance of the document is used up', () => {
    const told: Told = { spent: [], problems: [] }
    expect(report(told, ['/a', '/b'], 5)).toEqual([false, false])
    expect(told).toEqual({ spent: [6, 6], problems: [] })
  })
})
