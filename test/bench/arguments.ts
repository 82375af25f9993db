// The command line of the benchmark in; which tables are to be made, for how long, and where the report
// goes out.

import { parseArgs } from 'node:util'

export const TABLE_NAMES = [
  'static',
  'security',
  'forward',
  'match',
  'decisions',
  'start',
  'load',
  'compile',
  'memory',
  'processes',
  'latency',
  'forward-latency',
  'wamp',
  'crossbar',
  'events',
  'wamp-latency',
  'builds',
] as const

export type TableName = (typeof TABLE_NAMES)[number]

export interface Arguments {
  readonly tables: readonly TableName[]
  /** A second for each measurement: shows that it works, the numbers are noise. */
  readonly isQuick: boolean
  /** A checkout with a build of the gateway to compare this one with. */
  readonly base: string | undefined
  /** undefined: the report is printed only. */
  readonly file: string | undefined
}

export const USAGE = `Usage: npm run bench -- [--quick] [--only NAME,…] [--base DIR] [--out FILE]

  --quick  one second per measurement
  --only   some of: ${TABLE_NAMES.join(', ')}
  --base   a checkout whose build this one is compared with, in the table 'builds'; npm run build there first
  --out    where the report is written; default docs/benchmarks.md, nowhere with --quick or --only`

const DEFAULT_FILE = 'docs/benchmarks.md'

/** @throws Error saying what is wrong with the arguments */
export const readArguments = (argv: readonly string[]): Arguments => {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      base: { type: 'string' },
      out: { type: 'string' },
    },
  })
  const only = values.only.flatMap((names) => names.split(','))
  const unknown = only.find((name) => !isTableName(name))
  if (unknown !== undefined)
    throw new Error(`There is no table '${unknown}': choose of ${TABLE_NAMES.join(', ')}`)
  const isWhole = only.length === 0 && !values.quick
  return {
    tables: TABLE_NAMES.filter((name) => only.length === 0 || only.includes(name)),
    isQuick: values.quick,
    base: values.base,
    file: values.out ?? (isWhole ? DEFAULT_FILE : undefined),
  }
}

const isTableName = (name: string): name is TableName =>
  (TABLE_NAMES as readonly string[]).includes(name)
