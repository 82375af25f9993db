// Logs when a link joins or fails: for a router that is unreachable, or comes and goes, one line a minute and not one
// for each attempt.

import type { Log } from '../../../telemetry/log.ts'
import type { LinkFailure } from './link-attempts.ts'

export interface LinkLog {
  joined(fields: Readonly<Record<string, unknown>>): void
  failed(failure: LinkFailure): void
}

const QUIET_MS = 60_000

/**
 * Logs each change of reason once per address, the same reason again after a minute, and a join if a failure was
 * logged.
 */
export const createLinkLog = (log: Log, now: () => number): LinkLog => {
  const lastOf = new Map<string, { readonly reason: string; readonly at: number }>()
  let isJoinLogged = false

  return {
    joined: (fields) => {
      if (isJoinLogged) return
      isJoinLogged = true
      log.info('joined a WAMP router', fields)
    },
    failed: ({ url, isRejection, reason }) => {
      const at = now()
      const last = lastOf.get(url)
      if (last?.reason === reason && at - last.at < QUIET_MS) return
      lastOf.set(url, { reason, at })
      isJoinLogged = false
      log.warn(isRejection ? 'a WAMP router refuses us' : 'no session with a WAMP router', {
        url,
        reason,
      })
    },
  }
}
