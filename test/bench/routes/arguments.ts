// Reads the command line of the route benchmarks: which parts are measured, how much of each, and where the report goes.

import { parseArgs } from 'node:util'
import type { ChurnSize } from './churn.ts'

export const PART_NAMES = ['probe', 'changes', 'churn'] as const

export type PartName = (typeof PART_NAMES)[number]

export interface Size {
  /** Documents of the probe. */
  readonly documents: number
  /** Changes of the live document. */
  readonly changes: number
  readonly requestsPerSecond: number
  readonly churn: ChurnSize
}

export interface Arguments {
  readonly parts: readonly PartName[]
  readonly size: Size
  readonly isQuick: boolean
  /** undefined: the report is printed only. */
  readonly file: string | undefined
}

const DEFAULT_FILE = 'docs/benchmarks-routes.md'
const REQUESTS_PER_SECOND = 500

const SIZE: Size = {
  documents: 3000,
  changes: 200,
  requestsPerSecond: REQUESTS_PER_SECOND,
  churn: {
    documents: 5000,
    changesPerSecond: 20,
    seconds: 600,
    quietSeconds: 60,
    requestsPerSecond: REQUESTS_PER_SECOND,
  },
}

const QUICK_SIZE: Size = {
  documents: 50,
  changes: 20,
  requestsPerSecond: 100,
  churn: {
    documents: 100,
    changesPerSecond: 20,
    seconds: 15,
    quietSeconds: 5,
    requestsPerSecond: 100,
  },
}

export const USAGE = `Usage: npm run bench-routes -- [--quick] [--only NAME,…] [--out FILE]

  --quick  little of everything: shows that it works, the numbers are noise
  --only   some of: ${PART_NAMES.join(', ')}
  --out    where the report is written; default ${DEFAULT_FILE}, nowhere with --quick or --only`

/** @throws Error saying what is wrong with the arguments */
export const readArguments = (argv: readonly string[]): Arguments => {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      out: { type: 'string' },
    },
  })
  const only = values.only.flatMap((names) => names.split(','))
  const unknown = only.find((name) => !isPartName(name))
  if (unknown !== undefined)
    throw new Error(`There is no part '${unknown}': choose of ${PART_NAMES.join(', ')}`)
  const isWhole = only.length === 0 && !values.quick
  return {
    parts: PART_NAMES.filter((name) => only.length === 0 || only.includes(name)),
    size: values.quick ? QUICK_SIZE : SIZE,
    isQuick: values.quick,
    file: values.out ?? (isWhole ? DEFAULT_FILE : undefined),
  }
}

const isPartName = (name: string): name is PartName =>
  (PART_NAMES as readonly string[]).includes(name)
