// Defines the use of a template: which template of an action stands where, and whether every request evaluates it.

import type { Template } from '../expression/template.ts'

export interface TemplateUse {
  /** Absent: the author wrote none. */
  readonly template: Template | undefined
  /** Below `action`. */
  readonly keys: readonly (string | number)[]
  /** Whether every request evaluates it. */
  readonly isCertain: boolean
}
