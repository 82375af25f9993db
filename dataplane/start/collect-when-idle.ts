// Collects the garbage of a large load once the process has little to do: V8 by itself would keep it until it needs
// the room, which an idle process never does. 1,000 documents leave 60 MB.

import type { Clock } from '../../base/clock.ts'
import type { Serving } from '../store/serving.ts'

export interface IdleCollection {
  readonly clock: Pick<Clock, 'after'>
  /** Begins to measure; the result gives the share of the time since then in which this process was busy. */
  readonly measureBusy: () => () => number
  readonly collect: () => void
}

/** Fewer leave little. */
const MANY_DOCUMENTS = 64
const LOOK_MS = 1000
const LOOKS = 60
const IDLE_SHARE = 0.05

/** @returns `serving`, whose large changes are collected after */
export const collectAfterLoads = (serving: Serving, options: IdleCollection): Serving => {
  const { clock, measureBusy, collect } = options
  let isWaiting = false
  const look = (left: number): void => {
    const busy = measureBusy()
    isWaiting = left > 0
    if (!isWaiting) return
    clock.after(LOOK_MS, () => {
      if (busy() > IDLE_SHARE) {
        look(left - 1)
        return
      }
      isWaiting = false
      collect()
    })
  }
  return {
    apply: async (change) => {
      await serving.apply(change)
      if (change.put.length >= MANY_DOCUMENTS && !isWaiting) look(LOOKS)
    },
  }
}
