// Collects the diagnostics of one document, so that all are reported at once and none twice.

import type { Problem, Warning, WarningCode } from '../problem.ts'
import type { Culprit, WrittenPlace } from './written-place.ts'

export interface Diagnostics {
  /** About a value, wherever it is written: the variable that it comes from is named instead. */
  problem(code: Problem['code'], path: string, message: string): void
  /** As `problem`. */
  warning(code: WarningCode, path: string, message: string, culprit?: Culprit): void
  /** About the text at this place itself. */
  readonly report: (problem: Problem) => void
  readonly remark: (warning: Warning) => void
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

/** More are of no use. Pointers are as long as the keys of a document, so their total length is bounded too. */
const MAX_DIAGNOSTICS = 1000
const MAX_CHARACTERS = 4 * 1024 * 1024

export type FindPlace = (pointer: string, culprit?: Culprit) => WrittenPlace

/**
 * Only the first of diagnostics with the same place and code is kept. At most 1000 problems and 1000 warnings.
 * @param findPlace called once for each diagnostic about a value
 */
export const createDiagnostics = (
  findPlace: FindPlace = (path) => ({ path, beyond: '' }),
): Diagnostics => {
  const problems: Problem[] = []
  const warnings: Warning[] = []
  const seen = new Set<string>()
  let room = MAX_CHARACTERS
  const add = <F extends Problem | Warning>(list: F[], diagnostic: F): void => {
    if (list.length >= MAX_DIAGNOSTICS || room <= 0) return
    const key = `${diagnostic.code} ${diagnostic.path}`
    if (seen.has(key)) return
    seen.add(key)
    list.push(diagnostic)
    room -= key.length + diagnostic.message.length
  }
  /** Places of errors: one is enough for a place. */
  const reported = new Set<string>()
  const report = (problem: Problem): void => {
    reported.add(problem.path)
    add(problems, problem)
  }
  const remark = (warning: Warning): void => {
    add(warnings, warning)
  }
  const isFull = (list: readonly unknown[]): boolean => list.length >= MAX_DIAGNOSTICS || room <= 0
  return {
    problem: (code, path, words) => {
      if (isFull(problems) || reported.has(path)) return
      const { path: nearest, beyond } = findPlace(path)
      const place = `${nearest}${beyond}`
      const message = place === path ? words : `${words.replace(/\.$/, '')} (for ${path})`
      add(problems, { code, path: place, message })
    },
    warning: (code, path, message, culprit) => {
      if (isFull(warnings)) return
      const { path: nearest, beyond, offset } = findPlace(path, culprit)
      // A value that an expression computes has no pointer of its own.
      const place = culprit === undefined ? `${nearest}${beyond}` : nearest
      remark({ code, path: place, message, ...(offset !== undefined && { offset }) })
    },
    report,
    remark,
    problems,
    warnings,
  }
}
