// Decides which diagnostics of a document are true whatever its Secrets contain, where empty texts stand in for them.

import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import { followPointer } from './json-pointer.ts'

const STRUCTURAL: ReadonlySet<string> = new Set([
  'conflict',
  'invalid_path',
  'reserved_path',
  'too_expensive',
])

/** The result of an expression depends on values that are not known yet: a problem there may be none. */
export const dependsOnNoVariable =
  (document: ValueMap) =>
  ({ code, path }: Pick<Problem | Warning, 'code' | 'path'>): boolean => {
    if (STRUCTURAL.has(code)) return true
    const { node, isReached } = followPointer(document, path)
    // A member is missing where there could be one, or a map lacks what each must have.
    if (isMap(node) && (!isReached || code === 'missing_required_value')) return true
    return !readsVariables(node)
  }

/** As deep as a document may be: `compile` has seen to that. */
const readsVariables = (value: Value): boolean => {
  if (typeof value === 'string') return VARIABLES.test(value)
  if (isList(value)) return value.some(readsVariables)
  return isMap(value) && Object.values(value).some(readsVariables)
}

const VARIABLES = /\{\{\s*(?:variables|defaults|status_codes)/
