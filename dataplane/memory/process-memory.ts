// Computes how much memory one process of the gateway may use: the size of its memory budget.

import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** All in bytes. */
export interface MemoryFacts {
  /** The size to which V8 lets the heap grow: `--max-old-space-size`, or what it derives from the memory it sees. */
  readonly heapLimit: number
  /** The limit of the cgroup; undefined if there is none. */
  readonly cgroupLimit: number | undefined
  readonly hostMemory: number
}

/** The rest is for code, stacks and garbage outside the heap that V8 has not collected yet: measured up to 190 MB. */
const PART_OF_CONTAINER = 0.75

/**
 * @internal
 * The smaller of the heap's limit and three quarters of this process's share of the container, or of the machine if
 * there is no container.
 *
 * @param processes that share the container (`--processes`)
 * @example memoryOfProcess({ heapLimit: 268e6, cgroupLimit: 512e6, hostMemory: 64e9 }, 1) // 268e6
 */
export const memoryOfProcess = (
  { heapLimit, cgroupLimit, hostMemory }: MemoryFacts,
  processes: number,
): number => {
  const container = Math.min(cgroupLimit ?? hostMemory, hostMemory)
  return Math.floor(Math.min(heapLimit, (PART_OF_CONTAINER * container) / processes))
}

/** `memoryOfProcess` of this process, in bytes. */
export const memoryBudgetOf = (processes: number): number =>
  memoryOfProcess(readMemoryFacts(), processes)

const readMemoryFacts = (): MemoryFacts => ({
  heapLimit: getHeapStatistics().heap_size_limit,
  // 0 without a limit; with version 1 of cgroups a number near 2^64.
  cgroupLimit: process.constrainedMemory() || undefined,
  hostMemory: totalmem(),
})
