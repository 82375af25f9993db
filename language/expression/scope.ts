// Defines what folding needs: the values known at load, a budget for what is produced from them, and a place to report
// problems to.

import type { Ast } from './syntax/ast.ts'
import type { Remark } from './syntax/cursor.ts'
import { constant, type ConstantTemplate, type Template } from './template.ts'

/** Roots that are known at load. */
export type LoadRoot = 'variables' | 'defaults' | 'status_codes'

/** What a whole document may spend, as `Host` has it for one request. */
export interface LoadBudget {
  left: number
  work?: number | undefined
  /** Names for which nearest ones may still be looked for; absent until one was. */
  hints?: number | undefined
}

/** Values may be templates themselves: a variable may wait for the request. */
export interface FoldScope {
  /**
   * Undefined: there is no such name. `INVALID`: it is faulty, and that has been reported. `read('defaults',
   * 'status_codes')` is the merged map.
   */
  read(root: LoadRoot, name: string): Template | undefined
  /** The whole map: `{{variables}}`. */
  whole(root: LoadRoot): Template
  /** Names that `read` finds, for "did you mean". */
  names?(root: LoadRoot): Iterable<string>
  /** Takes notice of what is read otherwise than it looks. */
  readonly remark?: (path: string, message: string, offset: number) => void
  /** Bytes that templates and functions may still produce at load; shared by a whole document. */
  readonly budget: LoadBudget
  /**
   * Expressions seen before, by source; shared by a whole document, which writes the same ones on path after path.
   * Measured: saves half of the time that folding takes. Absent: nothing is cached.
   */
  readonly met?: Map<string, Met>
}

/** An expression of valid syntax. Its template is kept where that is the same in any scope. */
export interface Met {
  readonly ast: Ast
  readonly template: Template | undefined
  readonly remark?: Remark | undefined
}

/** Fits wherever a `Problem` of the language is expected; `path` is an RFC 6901 pointer. */
interface ExpressionProblem {
  readonly code: 'invalid_expression'
  readonly path: string
  readonly message: string
  readonly offset?: number
}

export type Report = (problem: ExpressionProblem) => void

/** What a faulty leaf becomes; to be compared by identity. */
export const INVALID: ConstantTemplate = Object.freeze(constant(null))

/** Known at load, and without problems. */
export const isKnown = (template: Template): template is ConstantTemplate =>
  template.kind === 'constant' && template !== INVALID
