// Keeps the closures of operations that are in use, and lets go of those that are not: a bounded ring
// with a second chance for what was used since the hand last passed. A hit costs one property read.

import type { OperationSlot } from '../served.ts'

export interface OperationCache<P> {
  get(slot: OperationSlot<P>): P
}

/** @param build makes what is kept of a slot; @param limit slots that are kept built at once */
export const createOperationCache = <P>(
  build: (slot: OperationSlot<P>) => P,
  limit: number,
): OperationCache<P> => {
  const ring: OperationSlot<P>[] = []
  let hand = 0

  const makeRoom = (slot: OperationSlot<P>): void => {
    if (ring.length < limit) {
      ring.push(slot)
      return
    }
    for (;;) {
      const candidate = ring[hand]
      if (!candidate?.isRecent) break
      candidate.isRecent = false
      hand = (hand + 1) % limit
    }
    const evicted = ring[hand]
    if (evicted !== undefined) evicted.prepared = undefined
    ring[hand] = slot
    hand = (hand + 1) % limit
  }

  return {
    get: (slot) => {
      const known = slot.prepared
      if (known !== undefined) {
        slot.isRecent = true
        return known
      }
      const built = build(slot)
      makeRoom(slot)
      slot.prepared = built
      return built
    },
  }
}
