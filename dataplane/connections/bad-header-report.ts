// Connections without a valid PROXY header in, at most one line a minute out: a balancer that sends none must not fill
// the log.

import type { Log } from '../../telemetry/log.ts'
import { createOncePerMinute } from '../once-a-minute.ts'

/**
 * @param now monotonic, milliseconds
 * @returns to be called for each such connection, with the address of the balancer and what was wrong
 */
export const createBadHeaderReport = (
  log: Pick<Log, 'warn'>,
  now: () => number,
): ((balancer: string, reason: string) => void) => {
  const isNews = createOncePerMinute(now)
  let connections = 0
  return (balancer, reason) => {
    connections++
    if (!isNews('bad header')) return
    log.warn('connections of a balancer have no valid PROXY header and are closed', {
      balancer,
      reason,
      connections,
    })
    connections = 0
  }
}
