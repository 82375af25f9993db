// Counts what a client has not taken of its response once the request is over.

import type { ServerResponse } from 'node:http'
import type { Holding, MemoryBudget } from '../../memory/memory-budget.ts'

/** Less is not counted, as the kernel may just not have accepted it yet. */
const BACKLOG_BYTES = 64 * 1024

/**
 * Releases what was held for the request, and rejects what would still be held for it, such as a body that was
 * being inflated when the client disconnected. What the client has not read of its response stays counted.
 */
export const holdBacklog = (
  response: ServerResponse,
  memory: MemoryBudget,
  holding: Holding | undefined,
): void => {
  const backlog = response.destroyed ? 0 : response.writableLength
  holding?.close()
  if (backlog <= BACKLOG_BYTES) return
  const rest = memory.open(response.req.socket)
  rest.add(backlog)
  response.once('close', () => {
    rest.release()
  })
}
