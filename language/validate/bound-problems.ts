// Bounds how many problems of one value are reported, fairly between its members, so that a thousand problems of one member
// never hide those of another.

import { selectFairly } from '../../base/select-fairly.ts'

const MAX_PROBLEMS = 1000

/**
 * At most 1000, in their order.
 * @param pathOf a JSON pointer from the value
 * @example boundProblems(problems, ({ path }) => path)
 */
export const boundProblems = <P>(
  problems: readonly P[],
  pathOf: (problem: P) => string,
): readonly P[] => selectFairly(problems, MAX_PROBLEMS, (problem) => memberIn(pathOf(problem)))

/** The first step of a pointer. */
const memberIn = (path: string): string => path.split('/', 2)[1] ?? ''
