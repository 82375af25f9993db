// Writes failures of authentication to the audit log: each kind from each address immediately, and repetitions at
// intervals with their number, so that a flood of wrong passwords does not become a flood of lines.

import { type Audit, type AuditEvent, MAX_TEXT } from '../../audit.ts'
import { WINDOW_SECONDS } from '../passwords/login-throttle.ts'

export type ReportFailure = (event: AuditEvent) => void

/** Most kinds that are tracked at once; beyond that only every hundredth failure of all of them is reported. */
const MAX_KINDS = 1000

/**
 * Reports the first, the tenth, the hundredth, … failure of a kind within a minute.
 * @param now Unix time in milliseconds
 */
export const createFailureReport = (audit: Audit, now: () => number): ReportFailure => {
  const counts = new Map<string, { count: number; readonly until: number }>()
  let others = 0

  const forgetOld = (): void => {
    const time = now()
    for (const [key, { until }] of counts) {
      if (until > time) break
      counts.delete(key)
    }
  }

  const countOf = (key: string): number => {
    const known = counts.get(key)
    if (known !== undefined && known.until > now()) return ++known.count
    forgetOld()
    if (counts.size >= MAX_KINDS) return 0
    counts.delete(key)
    counts.set(key, { count: 1, until: now() + WINDOW_SECONDS * 1000 })
    return 1
  }

  return (event) => {
    const { scheme, realm, reason, address, missing = '' } = event
    const kind = [scheme, realm, reason, address, missing.slice(0, MAX_TEXT)]
    const count = countOf(JSON.stringify(kind))
    if (count === 0) {
      others++
      if (others % 100 === 1) audit({ ...event, count: String(others) })
    } else if (isReported(count)) audit(count === 1 ? event : { ...event, count: String(count) })
  }
}

/** 1, 10, 100, … */
const isReported = (count: number): boolean => /^10*$/.test(String(count))
