// Keeps the closures of operations that are in use, and lets go of those that are not: a bounded ring
// with a second chance for what was used since the hand last passed. A hit costs one property read. The
// ring holds no document: what has been replaced goes with all that was built of it.

import type { OperationSlot } from '../served.ts'

export interface OperationCache<P> {
  get(slot: OperationSlot<P>): P
}

/** @param build makes what is kept of a slot; @param limit slots that are kept built at once */
export const createOperationCache = <P>(
  build: (slot: OperationSlot<P>) => P,
  limit: number,
): OperationCache<P> => {
  const ring: WeakRef<OperationSlot<P>>[] = []
  let hand = 0

  const makeRoom = (slot: OperationSlot<P>): void => {
    const place = new WeakRef(slot)
    if (ring.length < limit) {
      ring.push(place)
      return
    }
    let candidate = ring[hand]?.deref()
    while (candidate?.isRecent === true) {
      candidate.isRecent = false
      hand = (hand + 1) % limit
      candidate = ring[hand]?.deref()
    }
    if (candidate !== undefined) candidate.prepared = undefined
    ring[hand] = place
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
