// Counts and logs addresses of upstreams, and hosts of forwards, that are ejected and readmitted. The number of log
// lines is bounded, as documents may name any number of origins that fail.

import type { Log } from '../telemetry/log.ts'
import type { GatewayMetrics } from './metrics.ts'
import type { HostHealthEvent } from './actions/forward/hosts.ts'
import type { HealthEvent } from './upstream/endpoints/origin-health.ts'
import type { EjectionChange } from './upstream/endpoints/outlier-detector.ts'

const LINES_A_MINUTE = 30
const MINUTE_MS = 60_000

const WHY = {
  'in a row': 'five requests failed in a row',
  rate: 'it fails three times as often as the other addresses',
  probe: 'it failed again when it was tried',
  reported: 'nothing is behind it, as the operator reports',
} as const

export interface EjectionReport {
  readonly onAddress: (event: HealthEvent) => void
  /** One of several `hosts`, as the operations of a realm see it. */
  readonly onHost: (event: HostHealthEvent, realm: string) => void
}

/** @param now monotonic, milliseconds */
export const createEjectionReport = (
  { metrics, log }: { readonly metrics: GatewayMetrics; readonly log: Log },
  now: () => number,
): EjectionReport => {
  let sinceMs = -Infinity
  let lines = 0

  const mayWrite = (): boolean => {
    if (now() - sinceMs >= MINUTE_MS) {
      if (lines > LINES_A_MINUTE)
        log.warn('more upstream addresses were ejected and readmitted than are logged', {
          untold: lines - LINES_A_MINUTE,
        })
      sinceMs = now()
      lines = 0
    }
    lines++
    return lines <= LINES_A_MINUTE
  }

  return {
    onAddress: ({ origin, address, realm, change, fault }) => {
      if (change.kind === 'ejected') metrics.count('upstreamEjections', { fault: fault ?? '' })
      if (!mayWrite()) return
      const where = { origin, address, ...(realm !== undefined && { realm }) }
      if (change.kind === 'readmitted') {
        log.info('an upstream address gets requests again', where)
        return
      }
      const details = { ...where, fault, ...detailsOf(change) }
      log.warn('an upstream address failed and gets no requests for a while', details)
    },
    onHost: ({ origin, change }, realm) => {
      if (!mayWrite()) return
      if (change.kind === 'readmitted') {
        log.info('a host of a forward gets requests again', { origin, realm })
        return
      }
      const details = { origin, realm, ...detailsOf(change) }
      log.warn('a host of a forward cannot be reached: its requests go to the other hosts', details)
    },
  }
}

const detailsOf = ({
  why,
  forMs,
}: Extract<EjectionChange, { readonly kind: 'ejected' }>): object => ({
  why: WHY[why],
  seconds: forMs / 1000,
})
