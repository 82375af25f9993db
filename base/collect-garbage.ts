// Collects all garbage of this process, once, at a moment when nothing waits.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { heapUse } from './heap-use.ts'

type Collect = (options: {
  readonly type: 'major'
  readonly execution: 'sync'
  readonly flavor: 'last-resort'
}) => void

/** A collection of this heap takes some 50 ms; that of a larger one would delay requests for too long. */
const MAX_HEAP_BYTES = 128 * 1024 * 1024

/**
 * Does nothing if the heap is so large that it would take long. After a start it takes some 20 ms and gives 20 MB back,
 * which V8 by itself would collect only when it needs the room.
 * @param maxHeapBytes Infinity where no request waits for this process
 */
export const collectGarbage = (maxHeapBytes = MAX_HEAP_BYTES): void => {
  if (heapUse() > maxHeapBytes) return
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('globalThis.gc') as Collect | undefined
  setFlagsFromString('--no-expose-gc')
  collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
