// Reads the command line of the operator's benchmark: how much of everything is measured, and where the report is
// written.

import { parseArgs } from 'node:util'
import { chartOperator } from '../../support/chart-operator.ts'
import { COMMON_OPTIONS, selectParts } from '../common-options.ts'
import type { Destination } from '../results-page.ts'

export const STAGE_NAMES = ['edits', 'pods', 'cold', 'burst', 'rest', 'leaders'] as const

export type StageName = (typeof STAGE_NAMES)[number]

export interface Size {
  readonly documents: number
  readonly dataPlanes: number
  /** One at a time. */
  readonly edits: number
  /** New ones, one at a time. */
  readonly pods: number
  readonly restSeconds: number
  /** MB that the operator's container may take, as docs/operations/sizing.md says. */
  readonly memoryLimit: number
}

export interface Arguments {
  readonly size: Size
  readonly stages: readonly StageName[]
  readonly isQuick: boolean
  /** After the usual size the large one is measured, on an API server of its own. */
  readonly isLarge: boolean
  /** The API server is our own one, in memory, instead of a real one. */
  readonly isLight: boolean
  readonly destination: Destination
  /** The program that is measured. */
  readonly operator: string
  /** Where a CPU profile of each operator is written; undefined: none is taken. */
  readonly profiles: string | undefined
  /** Of Node, for the operators. */
  readonly nodeFlags: readonly string[]
}

const DEFAULT_OPERATOR = 'dist/operator/main.js'

const SIZE: Size = {
  documents: 1000,
  dataPlanes: 100,
  edits: 100,
  pods: 20,
  restSeconds: 30,
  memoryLimit: chartOperator().memoryLimit,
}
/** Measured after the usual size if `--large` is given, in the stages whose cost grows with it. */
export const LARGE_SIZE: Size = { ...SIZE, documents: 10_000, memoryLimit: 1024 }
export const LARGE_STAGES: readonly StageName[] = ['edits', 'cold', 'rest']
const QUICK_SIZE: Size = {
  ...SIZE,
  documents: 100,
  dataPlanes: 10,
  edits: 10,
  pods: 3,
  restSeconds: 5,
}

/** Each needs an address of its own on loopback. */
const MAX_DATA_PLANES = 2000

export const USAGE = `Usage: npm run bench-operator -- [--quick] [--light] [--large] [--documents N] [--data-planes N] [--memory MB]
                                 [--only NAME,…] [--out FILE] [--operator FILE] [--profiles DIR] [--node-flag=FLAG …]

  --light        uses an API server of our own, which needs no build and little time
  --quick        100 documents × 10 data planes, and little of everything
  --large        then also ${LARGE_SIZE.documents} documents × ${LARGE_SIZE.dataPlanes} data planes
  --documents    how many; default ${SIZE.documents}
  --data-planes  how many, ${MAX_DATA_PLANES} at most; default ${SIZE.dataPlanes}
  --memory       MB of the operator's container, of which V8 takes half for its heap; default ${SIZE.memoryLimit}
  --only         some of: ${STAGE_NAMES.join(', ')}
  --out          a file for all tables; docs/benchmarks.md gets the figures where nothing but --out and --large is given
  --operator     the program that is measured; default ${DEFAULT_OPERATOR}
  --profiles     directory for CPU profiles of the operators, which make the numbers worse
  --node-flag    of Node, for the operators: --node-flag=--max-semi-space-size=4`

/** @throws Error saying what is wrong with the arguments */
export const readArguments = (argv: readonly string[]): Arguments => {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      ...COMMON_OPTIONS,
      light: { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
      documents: { type: 'string' },
      'data-planes': { type: 'string' },
      memory: { type: 'string' },
      operator: { type: 'string', default: DEFAULT_OPERATOR },
      profiles: { type: 'string' },
      'node-flag': { type: 'string', multiple: true, default: [] },
    },
  })
  const usual = values.quick ? QUICK_SIZE : SIZE
  const {
    quick,
    light,
    only,
    documents,
    'data-planes': dataPlanes,
    profiles,
    'node-flag': nodeFlags,
  } = values
  const memoryLimit = readCount('memory', values.memory, usual.memoryLimit, 65_536)
  const isUsual =
    !quick && !light && [documents, dataPlanes, profiles].every(isAbsent) && only.length === 0
  return {
    size: {
      ...usual,
      documents: readCount('documents', documents, usual.documents, 100_000),
      dataPlanes: readCount('data-planes', dataPlanes, usual.dataPlanes, MAX_DATA_PLANES),
      memoryLimit,
    },
    stages: selectParts(STAGE_NAMES, only),
    isQuick: quick,
    isLight: light,
    isLarge: values.large,
    destination: { file: values.out, isWhole: isUsual },
    operator: values.operator,
    profiles,
    nodeFlags,
  }
}

const isAbsent = (value: unknown): boolean => value === undefined

const readCount = (
  name: string,
  value: string | undefined,
  usual: number,
  most: number,
): number => {
  if (value === undefined) return usual
  const count = Number(value)
  if (Number.isInteger(count) && count >= 1 && count <= most) return count
  throw new Error(`--${name}: a whole number from 1 to ${most}, not '${value}'`)
}
