// The table of what keeping decisions costs a request: a success that is not sampled, a sampled one, and failures.

import type { Bench } from '../bench.ts'
import { runProgram } from '../program-output.ts'
import { atMost, type Section, whole } from '../section.ts'

const PASSES = 5
const LONGEST_NS = 100

interface Costs {
  readonly success: number
  readonly successBytes: number
  readonly sampled: number
  readonly failure: number
  readonly unmatched: number
}

export const measureDecisions = async (bench: Bench): Promise<Section> => {
  bench.progress('decisions: in one process')
  const costs = (await runProgram(bench.machine, 'decisions-program.ts', PASSES)) as Costs
  return {
    title: 'Decisions',
    method:
      'What is done at the end of a request for `GET /why/ID`, by itself and with rings that are full: a success with one in a hundred recorded, so that the share of it is included; one that is recorded; a failed request of a known caller; one that no document serves.',
    tables: [
      {
        head: ['request', 'ns'],
        rows: [
          ['success', costs.success.toFixed(1)],
          ['recorded success', whole(costs.sampled)],
          ['failure', whole(costs.failure)],
          ['unmatched', whole(costs.unmatched)],
        ],
      },
    ],
    targets: [
      atMost('a success', { bound: LONGEST_NS, measured: costs.success, unit: ' ns' }),
      atMost('heap of a success that is not recorded', {
        bound: 1,
        measured: costs.successBytes,
        unit: ' bytes',
      }),
    ],
    remarks: [],
  }
}
