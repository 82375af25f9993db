// Exports that failed in, at most one line a minute out: a collector that is away must not fill the log.

import type { Log } from './log.ts'
import type { TracerCounts } from './tracer.ts'

const QUIET_MS = 60_000

/**
 * @param now monotonic, milliseconds
 * @returns to be called at each failure, and for each span that had no place
 */
export const createExportFailures = (
  log: Log,
  now: () => number,
): ((reason: string, counts: TracerCounts) => void) => {
  let quietUntil = -Infinity
  return (reason, { exported, failed, dropped }) => {
    if (now() < quietUntil) return
    quietUntil = now() + QUIET_MS
    log.warn('traces are lost; told at most once a minute', { reason, exported, failed, dropped })
  }
}
