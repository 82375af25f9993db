// Reads jest's JSON reports of the parts of a suite, and adds them up.

/** What is read of the file that jest writes with `--json --outputFile`. */
export interface PartReport {
  readonly testResults: readonly FileReport[]
}

interface FileReport {
  /** Absolute path. */
  readonly name: string
  /** `failed` also where no test ran: the file could not be loaded. */
  readonly status: string
  readonly assertionResults: readonly { readonly status: string }[]
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

/**
 * Each test once: where a later part ran a file again, its passed tests count there, and failures count in both. A part
 * that failed without a failed test counts as one failure: too little is covered, or jest could not start.
 */
export const addUp = (parts: readonly FinishedPart[]): Totals => {
  const passed = new Map<string, number>()
  let failed = 0
  for (const { report, exitCode } of parts) {
    let failedHere = 0
    for (const file of report?.testResults ?? []) {
      const count = (status: string): number =>
        file.assertionResults.filter((result) => result.status === status).length
      const failedTests = count('failed')
      failedHere += failedTests === 0 && file.status === 'failed' ? 1 : failedTests
      passed.set(file.name, count('passed'))
    }
    failed += exitCode !== 0 && failedHere === 0 ? 1 : failedHere
  }
  return { passed: [...passed.values()].reduce((sum, each) => sum + each, 0), failed }
}
