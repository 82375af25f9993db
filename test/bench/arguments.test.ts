import { describe, expect, it } from '@jest/globals'
import { readArguments, TABLE_NAMES } from './arguments.ts'

const PRINTED = { file: undefined, isWhole: false }

describe('readArguments', () => {
  it.each([
    [[], TABLE_NAMES, false, { file: undefined, isWhole: true }],
    [['--out', 'x.md'], TABLE_NAMES, false, { file: 'x.md', isWhole: true }],
    [['--quick'], TABLE_NAMES, true, PRINTED],
    [['--only', 'static'], ['static'], false, PRINTED],
    // In the order of the report, whatever that of the arguments.
    [['--only', 'forward,static', '--only', 'load'], ['static', 'forward', 'load'], false, PRINTED],
    [['--quick', '--out', 'x.md'], TABLE_NAMES, true, { file: 'x.md', isWhole: false }],
  ])('%j', (argv, tables, isQuick, destination) => {
    expect(readArguments(argv)).toEqual({ tables, isQuick, destination, base: undefined })
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
