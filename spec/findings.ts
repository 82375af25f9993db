// Collects what judging a document finds, so that every fault is reported at once and none twice.

import type { Problem, ProblemCode, Warning, WarningCode } from './problem.ts'

export interface Findings {
  problem(code: ProblemCode, path: string, message: string): void
  warning(code: WarningCode, path: string, message: string): void
  readonly report: (problem: Problem) => void
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

/** A fault is known by place and code: the first message stands. */
export const createFindings = (): Findings => {
  const problems: Problem[] = []
  const warnings: Warning[] = []
  const seen = new Set<string>()
  const report = (problem: Problem): void => {
    const key = `${problem.code} ${problem.path}`
    if (seen.has(key)) return
    seen.add(key)
    problems.push(problem)
  }
  return {
    problem: (code, path, message) => {
      report({ code, path, message })
    },
    warning: (code, path, message) => {
      const key = `${code} ${path}`
      if (seen.has(key)) return
      seen.add(key)
      warnings.push({ code, path, message })
    },
    report,
    problems,
    warnings,
  }
}
