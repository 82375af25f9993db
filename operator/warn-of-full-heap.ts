// Warns when little room is left in the heap after a collection: V8 ends the process when the heap is full, and before that
// the operator spends most of its time on collections.

import type { Clock } from '../base/clock.ts'
import type { Log } from '../telemetry/log.ts'

export interface FullHeapOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly log: Pick<Log, 'warn'>
  /** The limit of the heap, in bytes. */
  readonly limitBytes: number
}

const FULL_SHARE = 0.8
const AGAIN_MS = 600_000
const MB = 1024 * 1024

/** @returns a function to be called after each major collection with the bytes that are in use then */
export const warnOfFullHeap = ({
  clock,
  log,
  limitBytes,
}: FullHeapOptions): ((usedBytes: number) => void) => {
  let lastMs = -Infinity
  return (usedBytes) => {
    if (usedBytes < limitBytes * FULL_SHARE || clock.now() - lastMs < AGAIN_MS) return
    lastMs = clock.now()
    log.warn(
      'the heap is nearly full, and this process ends when it is: give its container more memory (operator.resources.limits.memory of the chart), of which the heap is half, or a larger --max-old-space-size in NODE_OPTIONS',
      { usedMb: Math.round(usedBytes / MB), limitMb: Math.round(limitBytes / MB) },
    )
  }
}
