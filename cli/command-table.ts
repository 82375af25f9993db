// Defines the table by which a command of `svc` is parsed and explained. Types only.

import type { ReasonedTable } from '../telemetry/settings-table.ts'

export interface CommandTable extends ReasonedTable {
  readonly commands?: never
  /** Whole command lines, each with what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[]
}
