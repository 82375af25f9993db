// Compares what a scenario of load balancing measured with the limits that it must keep.

import type { BalanceRig } from './rig.ts'

export interface Check {
  readonly what: string
  readonly measured: number
  readonly least?: number
  readonly most?: number
}

export interface Scenario {
  readonly name: string
  readonly run: (rig: BalanceRig) => Promise<readonly Check[]>
}

export const isKept = ({ measured, least = -Infinity, most = Infinity }: Check): boolean =>
  measured >= least && measured <= most
