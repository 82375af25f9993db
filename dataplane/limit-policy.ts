// Decides what happens to a request that exceeds a limit which is new in this version: it is rejected, or let through
// and reported, so that operators can see what an upgrade would reject.

import { createOncePerMinute } from './once-a-minute.ts'

/** As the metric and the log name them. */
export type NewLimit = 'header_lines' | 'body_values' | 'wamp_uri_values'

export interface LimitPolicy {
  /** False: nothing is rejected, limits only report. */
  readonly isEnforced: boolean
  /** Call it where `limit` is exceeded, which is counted. True: reject. */
  refuses(limit: NewLimit): boolean
}

export interface LimitPolicyOptions {
  readonly isEnforced: boolean
  readonly onExceeded: (limit: NewLimit) => void
  /** Called when a limit was exceeded and not enforced, once a minute for each limit. */
  readonly onLetThrough: (limit: NewLimit) => void
  /** Monotonic, milliseconds. */
  readonly now: () => number
}

export const createLimitPolicy = (options: LimitPolicyOptions): LimitPolicy => {
  const { isEnforced, onExceeded, onLetThrough, now } = options
  const isNews = createOncePerMinute(now)
  return {
    isEnforced,
    refuses(limit) {
      onExceeded(limit)
      if (isEnforced) return true
      if (isNews(limit)) onLetThrough(limit)
      return false
    },
  }
}

/** For requests that do not come from public clients, and for tests. */
export const ENFORCED: LimitPolicy = { isEnforced: true, refuses: () => true }
