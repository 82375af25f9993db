import { describe, expect, it } from '@jest/globals'
import { addUp, filesWithSkippedTests, type FinishedPart, type PartReport } from './part-report.ts'

const aReport = (files: Readonly<Record<string, string>>): PartReport => ({
  testResults: Object.entries(files).map(([name, letters]) => ({
    name,
    status: /[fx]/.test(letters) ? 'failed' : 'passed',
    assertionResults: (letters.replace('x', '').match(/./g) ?? []).map((letter) => ({
      status: { p: 'passed', f: 'failed', s: 'pending' }[letter] ?? 'todo',
    })),
  })),
})

const aPart = (files: Readonly<Record<string, string>>, exitCode = 0): FinishedPart => ({
  report: aReport(files),
  exitCode,
})

describe('adding up the parts of a suite', () => {
  it.each([
    ['one part', [aPart({ a: 'pp', b: 'p' })], { passed: 3, failed: 0 }],
    ['skipped tests do not count', [aPart({ a: 'ps' })], { passed: 1, failed: 0 }],
    ['a failed test', [aPart({ a: 'pf' }, 1)], { passed: 1, failed: 1 }],
    ['a file that cannot be loaded', [aPart({ a: 'x', b: 'p' }, 1)], { passed: 1, failed: 1 }],
    ['a failed test and no coverage either', [aPart({ a: 'f' }, 1)], { passed: 0, failed: 1 }],
    ['too little is covered', [aPart({ a: 'p' }, 1)], { passed: 1, failed: 1 }],
    ['jest was killed', [{ report: undefined, exitCode: 137 }], { passed: 0, failed: 1 }],
    [
      'what ran again counts once',
      [aPart({ a: 'ps', b: 'p' }), aPart({ a: 'ppp', c: 'p' })],
      { passed: 5, failed: 0 },
    ],
    [
      'a failure is not forgotten when it ran again',
      [aPart({ a: 'fs' }, 1), aPart({ a: 'pp' })],
      { passed: 2, failed: 1 },
    ],
    ['no part', [], { passed: 0, failed: 0 }],
  ])('%s', (_title, parts, expected) => {
    expect(addUp(parts)).toEqual(expected)
  })
})

describe('files with skipped tests', () => {
  it('are those to run again where nothing is missing', () => {
    expect(filesWithSkippedTests(aReport({ a: 'pp', b: 'ps', c: 's', d: 'f' }))).toEqual(['b', 'c'])
  })
})
