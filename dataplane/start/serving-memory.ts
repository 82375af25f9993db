// Creates the memory budget of one serving process, with its size from what the process may use, its metrics, and log
// lines when memory runs short.

import type { Log } from '../../telemetry/log.ts'
import { countProcesses } from '../process-count.ts'
import type { GatewaySettings } from '../config.ts'
import { heapUse, watchHeapUse } from '../../base/heap-use.ts'
import { MemoryBudget } from '../memory/memory-budget.ts'
import { memoryBudgetOf } from '../memory/process-memory.ts'
import type { GatewayMetrics } from '../metrics.ts'

export interface ServingMemory {
  readonly memory: MemoryBudget
  readonly stopWatching: () => void
}

export const createServingMemory = (
  settings: Pick<GatewaySettings, 'processes' | 'maxBodyValues'>,
  metrics: GatewayMetrics,
  log: Log,
): ServingMemory => {
  const memory = new MemoryBudget({
    size: memoryBudgetOf(countProcesses(settings.processes)),
    heapUse: heapUse(),
    maxBodyValues: settings.maxBodyValues,
    onRefused: metrics.counter('memoryRefusals', {}),
    onClosed: (owners, bytes) => {
      metrics.count('memoryClosed', {}, owners)
      log.warn('out of memory: closed the connections that held most of it', {
        connections: owners,
        bytes,
        budgetBytes: memory.size,
      })
    },
  })
  // It is rarely counted, and an alert needs the series.
  metrics.count('memoryClosed', {}, 0)
  metrics.gauge('memoryBudget', () => [[{}, memory.size]])
  metrics.gauge('memoryInUse', () => [
    [{ what: 'held' }, memory.held],
    [{ what: 'rest' }, memory.inUse - memory.held],
  ])
  memory.onTight((isTight) => {
    const facts = { inUseBytes: memory.inUse, heldBytes: memory.held, budgetBytes: memory.size }
    if (isTight)
      log.warn('memory is short: requests that need more of it are rejected (503)', facts)
    else log.info('memory is no longer short', facts)
  })
  const stopWatching = watchHeapUse((bytes) => {
    memory.collected(bytes)
  })
  return { memory, stopWatching }
}
