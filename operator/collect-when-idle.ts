// Collects the garbage of the operator while it has nothing to do: V8 by itself would keep it until it needs the room,
// which a process at rest never does.

import type { Clock } from '../base/clock.ts'

export interface IdleCollectionOptions {
  readonly clock: Pick<Clock, 'after'>
  /** Begins to measure; the result gives the share of the time since then in which this process was busy. */
  readonly measureBusy: () => () => number
  /** Bytes of the heap that are in use, garbage included. */
  readonly heapUse: () => number
  readonly collect: () => void
}

const LOOK_MS = 10_000
const IDLE_SHARE = 0.05
/** Less than this is not worth the time: it is some 100 ms for each 100 MB that stay. */
const MIN_GARBAGE_BYTES = 24 * 1024 * 1024
const GARBAGE_SHARE = 0.25

/** @returns a function that ends it */
export const collectWhenIdle = ({
  clock,
  measureBusy,
  heapUse,
  collect,
}: IdleCollectionOptions): (() => void) => {
  let cancel = (): void => undefined
  /** After the last collection, or less where V8 has collected since. */
  let leastBytes = 0
  const look = (): void => {
    const busy = measureBusy()
    cancel = clock.after(LOOK_MS, () => {
      const bytes = heapUse()
      leastBytes = Math.min(leastBytes, bytes)
      const worthBytes = Math.max(MIN_GARBAGE_BYTES, leastBytes * GARBAGE_SHARE)
      if (busy() <= IDLE_SHARE && bytes - leastBytes > worthBytes) {
        collect()
        leastBytes = heapUse()
      }
      look()
    })
  }
  look()
  return () => {
    cancel()
  }
}
