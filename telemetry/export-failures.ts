// Logs failed exports of traces, at most one line a minute, so that a collector that is away does not fill the log.

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
    log.warn('traces are lost (logged at most once a minute)', {
      reason,
      exported,
      failed,
      dropped,
    })
  }
}
