// Collects the garbage of the operator while it has nothing to do: V8 by itself would keep it until it needs the room,
// which a process at rest never does.

import { checkIdle, type IdleCheckTools } from '../base/check-idle.ts'

export interface IdleCollectionOptions extends IdleCheckTools {
  /** Bytes of the heap that are in use, garbage included. */
  readonly heapUse: () => number
  readonly collect: () => void
}

const INTERVAL_MS = 10_000
/** Less than this is not worth the time: it is some 100 ms for each 100 MB that stay. */
const MIN_GARBAGE_BYTES = 24 * 1024 * 1024
const GARBAGE_SHARE = 0.25

/** @returns a function that ends it */
export const collectWhenIdle = ({
  heapUse,
  collect,
  ...tools
}: IdleCollectionOptions): (() => void) => {
  /** After the last collection, or less where V8 has collected since. */
  let leastBytes = 0
  return checkIdle(tools, INTERVAL_MS, (isIdle) => {
    const bytes = heapUse()
    leastBytes = Math.min(leastBytes, bytes)
    const worthBytes = Math.max(MIN_GARBAGE_BYTES, leastBytes * GARBAGE_SHARE)
    if (isIdle && bytes - leastBytes > worthBytes) {
      collect()
      leastBytes = heapUse()
    }
    return 'again'
  })
}
