// Collects the garbage of a large load once the process has little to do: V8 by itself would keep it until it needs
// the room, which an idle process never does. 1,000 documents leave 60 MB.

import { checkIdle, type IdleCheckTools } from '../../base/check-idle.ts'
import type { Serving } from '../store/serving.ts'

export interface IdleCollection extends IdleCheckTools {
  readonly collect: () => void
}

/** Fewer leave little. */
const MANY_DOCUMENTS = 64
const INTERVAL_MS = 1000
const MAX_CHECKS = 60

/** @returns `serving`, with a collection after each large change */
export const collectAfterLoads = (
  serving: Serving,
  { collect, ...tools }: IdleCollection,
): Serving => {
  let isWaiting = false
  const collectOnceIdle = (): void => {
    isWaiting = true
    let checks = 0
    checkIdle(tools, INTERVAL_MS, (isIdle) => {
      checks += 1
      if (!isIdle && checks < MAX_CHECKS) return 'again'
      isWaiting = false
      if (isIdle) collect()
      return 'done'
    })
  }
  return {
    apply: async (change) => {
      await serving.apply(change)
      if (change.put.length >= MANY_DOCUMENTS && !isWaiting) collectOnceIdle()
    },
  }
}
