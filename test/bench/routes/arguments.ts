// Reads the command line of the route benchmarks: which parts are measured, how much of each, and where the report is
// written.

import { parseArgs } from 'node:util'
import { COMMON_OPTIONS, selectParts } from '../common-options.ts'
import type { Destination } from '../results-page.ts'
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
  readonly destination: Destination
}

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
  --out    a file for all tables; without --quick and --only docs/benchmarks.md gets the figures, too`

/** @throws Error saying what is wrong with the arguments */
export const readArguments = (argv: readonly string[]): Arguments => {
  const { values } = parseArgs({ args: [...argv], options: COMMON_OPTIONS })
  const isWhole = values.only.length === 0 && !values.quick
  return {
    parts: selectParts(PART_NAMES, values.only),
    size: values.quick ? QUICK_SIZE : SIZE,
    isQuick: values.quick,
    destination: { file: values.out, isWhole },
  }
}
