// Addresses of upstreams that are ejected and readmitted in, a counter and lines of the log out: a bounded number of lines,
// for documents may name any number of origins that fail.

import type { Log } from '../telemetry/log.ts'
import type { GatewayMetrics } from './metrics.ts'
import type { HealthEvent } from './upstream/origin-health.ts'

const LINES_A_MINUTE = 30
const MINUTE_MS = 60_000

const WHY = {
  'in a row': 'five requests in a row failed',
  rate: 'it fails three times as often as the others',
  probe: 'it failed again when it was tried',
} as const

/**
 * @param now monotonic, milliseconds
 * @returns to be told of each event
 */
export const createEjectionReport = (
  { metrics, log }: { readonly metrics: GatewayMetrics; readonly log: Log },
  now: () => number,
): ((event: HealthEvent) => void) => {
  let sinceMs = -Infinity
  let lines = 0

  const mayWrite = (): boolean => {
    if (now() - sinceMs >= MINUTE_MS) {
      if (lines > LINES_A_MINUTE)
        log.warn('more addresses of upstreams were ejected and readmitted than are told', {
          untold: lines - LINES_A_MINUTE,
        })
      sinceMs = now()
      lines = 0
    }
    lines++
    return lines <= LINES_A_MINUTE
  }

  return ({ origin, address, realm, verdict, fault }) => {
    if (verdict.kind === 'ejected') metrics.count('upstreamEjections', { fault: fault ?? '' })
    if (!mayWrite()) return
    const where = { origin, address, ...(realm !== undefined && { realm }) }
    if (verdict.kind === 'readmitted') {
      log.info('an address of an upstream gets requests again', where)
      return
    }
    log.warn('an address of an upstream fails and gets no requests for a while', {
      ...where,
      fault,
      why: WHY[verdict.why],
      seconds: verdict.forMs / 1000,
    })
  }
}
