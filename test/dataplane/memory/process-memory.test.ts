import { expect, it } from '@jest/globals'
import { memoryOfProcess } from '../../../dataplane/memory/process-memory.ts'

const MIB = 1024 * 1024

const NONE = undefined

it.each<[string, [number, number | undefined, number, number], number]>([
  ['the heap is the least', [256, 512, 64_000, 1], 256],
  ['the container is', [4096, 384, 64_000, 1], 288],
  ['several processes share the container', [4096, 1024, 64_000, 4], 192],
  ['no container: the machine', [4096, NONE, 2048, 1], 1536],
  ['several processes share the machine', [4096, NONE, 8192, 4], 1536],
  ['a limit that is none', [4096, 2 ** 43, 2048, 1], 1536],
])('%s', (_, [heapLimit, cgroupLimit, hostMemory, processes], expected) => {
  const facts = {
    heapLimit: heapLimit * MIB,
    cgroupLimit: cgroupLimit && cgroupLimit * MIB,
    hostMemory: hostMemory * MIB,
  }
  expect(memoryOfProcess(facts, processes)).toBe(expected * MIB)
})
