// The table of what loading one document costs, stage by stage.

import type { Bench } from '../bench.ts'
import { runProgram } from '../program-output.ts'
import { fixed, type Section } from '../section.ts'
import { median } from '../statistics.ts'

/** µs per document. */
export interface StageTimes {
  readonly parse: number
  readonly digest: number
  readonly measure: number
  readonly validate: number
  readonly compile: number
  readonly pack: number
}

/** Of a process that has just begun, and of its later passes over as many documents. */
export interface CompileTimes {
  readonly first: StageTimes
  readonly later: readonly StageTimes[]
}

const STAGES = {
  parse: 'parse: JSON text to a value',
  digest: 'digest: canonical JSON and its SHA-256',
  measure: 'measure: size, depth, nothing but JSON',
  validate: 'validate: the schema',
  compile: 'compile: scopes, expressions, routes, conflicts',
  pack: 'pack: bytes and routes that are kept',
} as const satisfies Record<keyof StageTimes, string>

const LATER_PASSES = 5

export const measureCompile = async ({ machine, progress }: Bench): Promise<Section> => {
  progress('compile: in one process')
  const times = (await runProgram(machine, 'compile-program.ts', LATER_PASSES)) as CompileTimes
  const stages = Object.keys(STAGES) as (keyof StageTimes)[]
  const rows = stages.map((stage) => ({
    name: STAGES[stage],
    first: times.first[stage],
    later: median(times.later.map((pass) => pass[stage])),
  }))
  const total = {
    name: 'all',
    first: rows.reduce((sum, { first }) => sum + first, 0),
    later: rows.reduce((sum, { later }) => sum + later, 0),
  }
  return {
    title: 'Compile',
    method:
      'µs for a document of 20 paths, each a body of ten expressions (9 KB of JSON), in one process: mean of the first 1,000 documents of a new process, and median of five passes over as many after that.',
    tables: [
      {
        head: ['stage', 'first 1,000', 'later'],
        rows: [...rows, total].map(({ name, first, later }) => [
          name,
          fixed(first, 0),
          fixed(later, 0),
        ]),
      },
    ],
    targets: [],
    remarks: [],
  }
}
