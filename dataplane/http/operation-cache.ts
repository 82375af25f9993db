// Caches the closures of operations that are in use and releases the others: a bounded ring with a second chance for
// those used since the hand last passed. A hit costs one property read. The ring references no document, so that a
// replaced one is freed with everything built of it.

import type { OperationSlot } from '../served.ts'

export interface OperationCache<P> {
  get(slot: OperationSlot<P>): P
}

/** @param build creates what is cached of a slot; @param limit most slots that are cached */
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
