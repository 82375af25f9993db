// Collects the diagnostics of one document, so that all are reported at once and none twice.

import type { Problem, ProblemCode, Warning, WarningCode } from '../problem.ts'

export interface Findings {
  problem(code: ProblemCode, path: string, message: string): void
  warning(code: WarningCode, path: string, message: string): void
  readonly report: (problem: Problem) => void
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

/** More than this helps nobody. Pointers are as long as the keys of a document, so together they are bounded too. */
const MAX_FINDINGS = 1000
const MAX_CHARACTERS = 4 * 1024 * 1024

/** A diagnostic is identified by place and code: the first message stands. At most 1000 of either kind. */
export const createFindings = (): Findings => {
  const problems: Problem[] = []
  const warnings: Warning[] = []
  const seen = new Set<string>()
  let room = MAX_CHARACTERS
  const add = <F extends Problem | Warning>(list: F[], finding: F): void => {
    if (list.length >= MAX_FINDINGS || room <= 0) return
    const key = `${finding.code} ${finding.path}`
    if (seen.has(key)) return
    seen.add(key)
    list.push(finding)
    room -= key.length + finding.message.length
  }
  const report = (problem: Problem): void => {
    add(problems, problem)
  }
  return {
    problem: (code, path, message) => {
      report({ code, path, message })
    },
    warning: (code, path, message) => {
      add(warnings, { code, path, message })
    },
    report,
    problems,
    warnings,
  }
}
