import { describe, expect, it } from '@jest/globals'
import {
  addUp,
  filesToRepeat,
  filesWithSkippedTests,
  type FinishedPart,
  flakyTests,
  type PartReport,
} from './part-report.ts'

const aReport = (files: Readonly<Record<string, string>>): PartReport => ({
  testResults: Object.entries(files).map(([name, letters]) => ({
    name,
    status: /[fx]/.test(letters) ? 'failed' : 'passed',
    assertionResults: (letters.replace('x', '').match(/./g) ?? []).map((letter, index) => ({
      status: { p: 'passed', f: 'failed', s: 'pending' }[letter] ?? 'todo',
      ancestorTitles: ['part'],
      title: String(index),
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

const REAL = '/home/test/component/a.test.ts'

interface Case {
  readonly parts: readonly FinishedPart[]
  readonly again: Readonly<Record<string, string>>
  readonly flaky: readonly string[]
  readonly totals: { readonly passed: number; readonly failed: number }
}

const FAILED = [aPart({ [REAL]: 'pf' }, 1)]
const ONCE = 'test/component/a.test.ts › part › 1'
const BROKEN = { flaky: [], totals: { passed: 1, failed: 1 } } as const

describe('a failed file that is repeated', () => {
  it.each<[string, Case]>([
    [
      'passes',
      { parts: FAILED, again: { [REAL]: 'pp' }, flaky: [ONCE], totals: { passed: 2, failed: 0 } },
    ],
    ['fails again', { parts: FAILED, again: { [REAL]: 'pf' }, ...BROKEN }],
    ['fails elsewhere', { parts: FAILED, again: { [REAL]: 'fp' }, ...BROKEN }],
    ['is not loaded', { parts: FAILED, again: { [REAL]: 'x' }, ...BROKEN }],
    ['was not run at all', { parts: FAILED, again: {}, ...BROKEN }],
    ['skips what had failed', { parts: FAILED, again: { [REAL]: 'ps' }, ...BROKEN }],
    ['skips what had passed', { parts: FAILED, again: { [REAL]: 'sp' }, ...BROKEN }],
    [
      'passes, and was not loaded at first',
      {
        parts: [aPart({ [REAL]: 'x' }, 1)],
        again: { [REAL]: 'pp' },
        flaky: ['test/component/a.test.ts › (the file)'],
        totals: { passed: 2, failed: 0 },
      },
    ],
    [
      'passes, beside a broken one',
      {
        parts: [aPart({ [REAL]: 'pf', '/home/test/b.test.ts': 'f' }, 1)],
        again: { [REAL]: 'pp' },
        flaky: [ONCE],
        totals: { passed: 2, failed: 1 },
      },
    ],
    [
      'passes, and was in two parts',
      {
        parts: [aPart({ [REAL]: 'sf' }, 1), ...FAILED],
        again: { [REAL]: 'pp' },
        flaky: [ONCE],
        totals: { passed: 2, failed: 0 },
      },
    ],
    [
      'passes, where another part was killed',
      {
        parts: [...FAILED, { report: undefined, exitCode: 137 }],
        again: { [REAL]: 'pp' },
        flaky: [ONCE],
        totals: { passed: 2, failed: 1 },
      },
    ],
  ])('%s', (_title, { parts, again, flaky, totals }) => {
    const repeated = aReport(again).testResults
    expect(flakyTests(parts, repeated, '/home')).toEqual(flaky)
    expect(addUp(parts, repeated)).toEqual(totals)
  })

  it.each([
    ['/home/test/component/kubernetes/a.test.ts', true],
    ['/home/test/cluster/a.test.ts', true],
    ['/home/test/hostile/a.test.ts', true],
    ['/home/test/contract/bridge/a.test.ts', true],
    ['/home/test/dataplane/component/a.test.ts', false],
    ['/home/test/language/a.test.ts', false],
    ['/other/test/component/a.test.ts', false],
  ])('has real parts: %s, %s', (name, isRepeated) => {
    const parts = [aPart({ [name]: 'pf', [`${name}.b`]: 'p' }, 1), aPart({ [name]: 'f' }, 1)]
    expect(filesToRepeat(parts, '/home')).toEqual(isRepeated ? [name] : [])
  })
})
