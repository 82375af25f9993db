// Reads jest's JSON reports of the parts of a suite, adds them up, and tells flaky tests from broken ones.

import { relative } from 'node:path'

/** What is read of the file that jest writes with `--json --outputFile`. */
export interface PartReport {
  readonly testResults: readonly FileReport[]
}

export interface FileReport {
  /** Absolute path. */
  readonly name: string
  /** `failed` also where no test ran: the file could not be loaded. */
  readonly status: string
  readonly assertionResults: readonly TestReport[]
}

interface TestReport {
  readonly status: string
  readonly ancestorTitles: readonly string[]
  readonly title: string
}

export interface FinishedPart {
  /** Undefined where jest wrote none: it was killed, or could not start. */
  readonly report: PartReport | undefined
  readonly exitCode: number
}

export interface Totals {
  readonly passed: number
  readonly failed: number
}

/** Files with a test that was skipped, because this machine lacked what it needs. */
export const filesWithSkippedTests = ({ testResults }: PartReport): readonly string[] =>
  testResults
    .filter(({ assertionResults }) => assertionResults.some(({ status }) => status === 'pending'))
    .map(({ name }) => name)

/** Their tests use processes, sockets and clusters: a failure may be of the machine. */
const REAL_PARTS = ['test/cluster/', 'test/component/', 'test/contract/', 'test/hostile/'] as const

/** Paths of the failed files that are run once more, each alone: those with real parts. */
export const filesToRepeat = (parts: readonly FinishedPart[], root: string): readonly string[] => [
  ...new Set(
    filesOf(parts)
      .filter(({ status }) => status === 'failed')
      .map(({ name }) => name)
      .filter((name) => REAL_PARTS.some((folder) => relative(root, name).startsWith(folder))),
  ),
]

/** `FILE › TEST` of each test that has failed and then passed when its file was repeated. */
export const flakyTests = (
  parts: readonly FinishedPart[],
  repeated: readonly FileReport[],
  root: string,
): readonly string[] => [
  ...new Set(
    filesOf(parts).flatMap((file) => {
      if (findPassing(file, repeated) === undefined) return []
      const failed = file.assertionResults.filter(({ status }) => status === 'failed')
      const names = failed.map((test) => nameOf(test))
      return (names.length === 0 ? ['(the file)'] : names).map(
        (name) => `${relative(root, file.name)} › ${name}`,
      )
    }),
  ),
]

/**
 * Each test once: where a later part ran a file again, its passed tests count there, and failures count in both. A part
 * that failed without a failed test counts as one failure: too little is covered, or jest could not start. A failed file
 * that passed when it was repeated counts as it was then.
 */
export const addUp = (
  parts: readonly FinishedPart[],
  repeated: readonly FileReport[] = [],
): Totals => {
  const passed = new Map<string, number>()
  let failed = 0
  for (const { report, exitCode } of parts) {
    let failedHere = 0
    for (const file of report?.testResults ?? []) {
      const failures = countFailures(file)
      const again = findPassing(file, repeated)
      failedHere += failures
      failed += again === undefined ? failures : 0
      passed.set(file.name, count(again ?? file, 'passed'))
    }
    if (exitCode !== 0 && failedHere === 0) failed += 1
  }
  return { passed: [...passed.values()].reduce((sum, each) => sum + each, 0), failed }
}

const filesOf = (parts: readonly FinishedPart[]): readonly FileReport[] =>
  parts.flatMap(({ report }) => report?.testResults ?? [])

const count = ({ assertionResults }: FileReport, status: string): number =>
  assertionResults.filter((result) => result.status === status).length

const countFailures = (file: FileReport): number => {
  const failedTests = count(file, 'failed')
  return failedTests === 0 && file.status === 'failed' ? 1 : failedTests
}

/** The repetition of a failed file in which all of it passed, each test that had run before among them. */
const findPassing = (file: FileReport, repeated: readonly FileReport[]): FileReport | undefined => {
  if (file.status !== 'failed') return undefined
  return repeated.find(({ name, status, assertionResults }) => {
    const passed = new Set(
      assertionResults.flatMap((test) => (test.status === 'passed' ? [nameOf(test)] : [])),
    )
    const hasPassed = (test: TestReport): boolean =>
      (test.status !== 'failed' && test.status !== 'passed') || passed.has(nameOf(test))
    return (
      name === file.name &&
      status === 'passed' &&
      passed.size > 0 &&
      file.assertionResults.every(hasPassed)
    )
  })
}

const nameOf = ({ ancestorTitles, title }: TestReport): string =>
  [...ancestorTitles, title].join(' › ')
