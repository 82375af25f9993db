// Failures of authentication in, lines of the audit log out: each kind from each address at once, repetitions
// now and then with how many they are by now. A flood of wrong passwords is no flood of lines.

import type { Audit, AuditEvent } from '../../audit.ts'
import { WINDOW_SECONDS } from '../passwords/damping.ts'

export type ReportFailure = (event: AuditEvent) => void

/** Kinds at once; beyond, only each hundredth failure of them all is told of. */
const MAX_KINDS = 1000

/**
 * Tells of the first, the tenth, the hundredth, … of the same within a minute.
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
    const { scheme, realm, reason, address } = event
    const count = countOf(JSON.stringify([scheme, realm, reason, address]))
    if (count === 0) {
      others++
      if (others % 100 === 1) audit({ ...event, count: String(others) })
    } else if (isTold(count)) audit(count === 1 ? event : { ...event, count: String(count) })
  }
}

/** 1, 10, 100, … */
const isTold = (count: number): boolean => /^10*$/.test(String(count))
