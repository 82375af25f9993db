// All streams of events that one process has open: keeps them alive through silence with one timer, and
// ends them when the gateway goes. It knows nothing of what they carry.

import {
  createUnboundedMemory,
  type Holding,
  type MemoryBudget,
} from '../../memory/memory-budget.ts'

/** One open stream, as seen from here. */
export interface OpenEventStream {
  /** Called `BEATS` times per heartbeat interval. */
  beat(): void
  /** Ends in order, if it would not by itself: the client comes back, to another gateway. */
  shutDown(): void
}

export interface EventStreams {
  /** Open now. */
  readonly size: number
  /** Pays for the events that wait for slow clients. */
  readonly memory: Holding
  /** `endAll` has been called: what opens now ends at once. */
  readonly isEnding: boolean
  /** When the gateway stops serving: ends every stream that has no end of its own, and each that opens later. */
  endAll(): void
  add(stream: OpenEventStream): void
  remove(stream: OpenEventStream): void
  /** A client was too slow for its events. */
  cutOff(): void
}

export interface EventStreamsOptions {
  readonly onCutOff?: () => void
  /** Unbounded if left out. */
  readonly memory?: MemoryBudget
}

/** Behaviour §4: the longest silence, then a comment is sent. Less than what proxies wait by default (nginx 60 s). */
const HEARTBEAT_MS = 15_000

/** Into so many parts an interval is divided: silence lasts between 14 and 15 of them. */
export const BEATS = 15

/**
 * @example
 * const eventStreams = createEventStreams({ onCutOff: () => metrics.count('eventStreamsCutOff', {}) })
 * metrics.gauge('eventStreams', () => [[{}, eventStreams.size]])
 * eventStreams.endAll() // once draining turns to closing
 */
export const createEventStreams = ({
  onCutOff = () => undefined,
  memory = createUnboundedMemory(),
}: EventStreamsOptions = {}): EventStreams => {
  const streams = new Set<OpenEventStream>()
  let timer: NodeJS.Timeout | undefined
  let isEnding = false

  const beat = (): void => {
    for (const stream of streams) stream.beat()
  }

  return {
    memory: memory.open(),
    get size() {
      return streams.size
    },
    get isEnding() {
      return isEnding
    },
    endAll() {
      if (isEnding) return
      isEnding = true
      for (const stream of streams) stream.shutDown()
    },
    add(stream) {
      streams.add(stream)
      timer ??= setInterval(beat, HEARTBEAT_MS / BEATS).unref()
    },
    remove(stream) {
      streams.delete(stream)
      if (streams.size > 0) return
      clearInterval(timer)
      timer = undefined
    },
    cutOff: onCutOff,
  }
}
