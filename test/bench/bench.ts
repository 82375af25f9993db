// What every table is given: the machine, how long to measure, and where to say how far it is.

import type { Machine } from './machine.ts'

export interface Bench {
  readonly machine: Machine
  readonly timing: Timing
  /** A checkout with another build of the gateway, to compare this one with. */
  readonly base: string | undefined
  /** A short line on what is being done. */
  readonly progress: (text: string) => void
}

export interface Timing {
  /** Of one measurement. */
  readonly seconds: number
  /** Under load before the first measurement, so that the code has been compiled. */
  readonly warmSeconds: number
  readonly repetitions: number
}

export const TIMING = { seconds: 3, warmSeconds: 2, repetitions: 3 } as const satisfies Timing
export const QUICK_TIMING = { seconds: 1, warmSeconds: 1, repetitions: 3 } as const satisfies Timing

export const CONNECTIONS = 64
