import { describe, expect, it } from '@jest/globals'
import { readArguments, TABLE_NAMES } from './arguments.ts'

describe('readArguments', () => {
  it.each([
    [[], TABLE_NAMES, false, 'docs/benchmarks.md'],
    [['--quick'], TABLE_NAMES, true, undefined],
    [['--only', 'static'], ['static'], false, undefined],
    // In the order of the report, whatever that of the arguments.
    [
      ['--only', 'forward,static', '--only', 'load'],
      ['static', 'forward', 'load'],
      false,
      undefined,
    ],
    [['--quick', '--out', 'x.md'], TABLE_NAMES, true, 'x.md'],
  ])('%j', (argv, tables, isQuick, file) => {
    expect(readArguments(argv)).toEqual({ tables, isQuick, file, base: undefined })
  })

  it('takes the build to compare with', () => {
    expect(readArguments(['--only', 'builds', '--base', '../old']).base).toBe('../old')
  })

  it.each([
    [['--only', 'constructor'], "there is no 'constructor'"],
    [['--only', ''], "there is no ''"],
    [['--fast'], '--fast'],
    [['static'], 'static'],
  ])('refuses %j', (argv, message) => {
    expect(() => readArguments(argv)).toThrow(message)
  })
})
