// Caches the closures of operations that are in use, all of them while memory allows, and otherwise releases those that
// were not used for longest: a ring with a second chance for those used since the hand last passed. A hit costs one
// property read. The ring references no document, so that a replaced one is freed with everything built of it.

import type { OperationSlot } from '../served.ts'

export interface OperationCache<P> {
  get(slot: OperationSlot<P>): P
}

export interface OperationCacheOptions<P> {
  /** Creates what is cached of a slot. */
  readonly build: (slot: OperationSlot<P>) => P
  /** Whether memory allows to cache more. */
  readonly hasRoom: () => boolean
  /** So many are cached even where it does not. */
  readonly least: number
}

/** How many places are looked at for each operation that is built: the ring is at most twice as long as it need be. */
const PLACES_SWEPT = 2

export const createOperationCache = <P>({
  build,
  hasRoom,
  least,
}: OperationCacheOptions<P>): OperationCache<P> => {
  const ring: WeakRef<OperationSlot<P>>[] = []
  let hand = 0

  const release = (): void => {
    const last = ring.pop()
    if (hand < ring.length && last !== undefined) ring[hand] = last
    if (hand >= ring.length) hand = 0
  }
  /** Documents are replaced, and their places would be kept for ever. */
  const sweep = (): void => {
    for (let looked = 0; looked < PLACES_SWEPT && ring.length > 0; looked++)
      if (ring[hand]?.deref() === undefined) release()
      else hand = (hand + 1) % ring.length
  }
  const evict = (): void => {
    let candidate = ring[hand]?.deref()
    while (candidate?.isRecent === true) {
      candidate.isRecent = false
      hand = (hand + 1) % ring.length
      candidate = ring[hand]?.deref()
    }
    if (candidate !== undefined) candidate.prepared = undefined
    release()
  }
  /** Where there is no room any more, two go for each that comes. */
  const makeRoom = (): void => {
    if (ring.length < least) return
    if (hasRoom()) sweep()
    else {
      evict()
      if (ring.length >= least) evict()
    }
  }

  return {
    get: (slot) => {
      const known = slot.prepared
      if (known !== undefined) {
        slot.isRecent = true
        return known
      }
      const built = build(slot)
      makeRoom()
      ring.push(new WeakRef(slot))
      slot.prepared = built
      return built
    },
  }
}
