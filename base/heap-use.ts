// Watches the heap in use after each major collection: what the process really holds, without garbage.

import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'

/**
 * @param onCollected called soon after each major collection with the number of bytes in use
 * @returns a function that stops watching
 */
export const watchHeapUse = (onCollected: (usedBytes: number) => void): (() => void) => {
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isMajor)) onCollected(heapUse())
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => {
    observer.disconnect()
  }
}

/** Bytes in use now, garbage that was not collected yet included. */
export const heapUse = (): number => getHeapStatistics().used_heap_size

/** Node gives entries of this type a `detail`, which its type definitions lack. */
const isMajor = (entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }) =>
  entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR
