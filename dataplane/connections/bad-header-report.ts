// Logs connections without a valid PROXY header, at most once a minute, so that a balancer that sends none does not
// fill the log.

import type { Log } from '../../telemetry/log.ts'
import { createOncePerMinute } from '../once-a-minute.ts'

/**
 * @param now monotonic, milliseconds
 * @returns a function to call for each such connection, with the address of the balancer and what was wrong
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
    log.warn('connections from a balancer are closed: they have no valid PROXY header', {
      balancer,
      reason,
      connections,
    })
    connections = 0
  }
}
