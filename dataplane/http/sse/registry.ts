// Keeps the registry of all event streams that one process has open: it sends heartbeats with one timer, and ends the
// streams when the gateway shuts down. It knows nothing of what they carry.

import {
  createUnboundedMemory,
  type Holding,
  type MemoryBudget,
} from '../../memory/memory-budget.ts'

/** One open stream. */
export interface OpenEventStream {
  /** Called `BEATS` times per heartbeat interval. */
  beat(): void
  /** Ends the stream in order, if it has no end of its own: the client reconnects, to another gateway. */
  shutDown(): void
}

export interface EventStreams {
  /** Open now. */
  readonly size: number
  /** Charged for the events that wait for slow clients. */
  readonly memory: Holding
  /** `endAll` has been called: streams that open now end immediately. */
  readonly isEnding: boolean
  /**
   * Call it when the gateway stops serving: ends every stream that has no end of its own, and each that opens later.
   */
  endAll(): void
  add(stream: OpenEventStream): void
  remove(stream: OpenEventStream): void
  /** Called when a client was too slow for its events. */
  cutOff(): void
}

export interface EventStreamsOptions {
  readonly onCutOff?: () => void
  /** If left out, unbounded. */
  readonly memory?: MemoryBudget
}

/**
 * Behaviour §4: a comment is sent after this much silence. It is less than the default time-out of proxies (nginx 60
 * s).
 */
const HEARTBEAT_MS = 15_000

/** The number of parts of an interval: a silence lasts between 14 and 15 of them. */
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
