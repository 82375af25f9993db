// Keeps the open event streams of examples, and ends them once all events that an example gives have been sent.

import type { EventStreams, OpenEventStream } from '../http/sse/registry.ts'
import { createUnboundedMemory } from '../memory/memory-budget.ts'

export interface EndingStreams {
  readonly streams: EventStreams
  readonly endOpen: () => void
}

/** Streams that open later go on. */
export const createEndingStreams = (): EndingStreams => {
  const open = new Set<OpenEventStream>()
  const endOpen = (): void => {
    for (const stream of open) stream.shutDown()
  }
  return {
    streams: {
      memory: createUnboundedMemory().open(),
      isEnding: false,
      get size() {
        return open.size
      },
      endAll: endOpen,
      add: (stream) => open.add(stream),
      remove: (stream) => open.delete(stream),
      cutOff: () => undefined,
    },
    endOpen,
  }
}
