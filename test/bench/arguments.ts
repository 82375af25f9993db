// Reads the command line of the benchmark: which tables are measured, for how long, and where the report is written.

import { parseArgs } from 'node:util'
import { COMMON_OPTIONS, selectParts } from './common-options.ts'
import type { Destination } from './results-page.ts'

export const TABLE_NAMES = [
  'files',
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
  readonly destination: Destination
}

export const USAGE = `Usage: npm run bench -- [--quick] [--only NAME,…] [--base DIR] [--out FILE]

  --quick  one second per measurement
  --only   some of: ${TABLE_NAMES.join(', ')}
  --base   a checkout whose build this one is compared with, in the table 'builds'; npm run build there first
  --out    a file for all tables; without --quick and --only docs/benchmarks.md gets the figures, too`

/** @throws Error saying what is wrong with the arguments */
export const readArguments = (argv: readonly string[]): Arguments => {
  const { values } = parseArgs({
    args: [...argv],
    options: { ...COMMON_OPTIONS, base: { type: 'string' } },
  })
  const isWhole = values.only.length === 0 && !values.quick
  return {
    tables: selectParts(TABLE_NAMES, values.only),
    isQuick: values.quick,
    base: values.base,
    destination: { file: values.out, isWhole },
  }
}
