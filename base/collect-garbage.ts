// Collects all garbage of this process, once, at a moment when nothing waits.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { heapUse } from './heap-use.ts'

type Collect = (options: {
  readonly type: 'major'
  readonly execution: 'sync'
  readonly flavor: 'last-resort'
}) => void

/** Of a larger heap it would take longer than a request may be delayed: of this one, it is some 50 ms. */
const MAX_HEAP_BYTES = 128 * 1024 * 1024

/**
 * Does nothing where it would take long. It takes some 20 ms after a start, and gives 20 MB back: V8 by itself waits
 * until it needs them.
 * @param maxHeapBytes Infinity where nobody waits for this process
 */
export const collectGarbage = (maxHeapBytes = MAX_HEAP_BYTES): void => {
  if (heapUse() > maxHeapBytes) return
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
