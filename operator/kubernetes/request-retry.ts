// Which failed requests are sent again, and when. Pure: a table of verbs, and the wait that the API server asks for.

import type { ApiError } from './api.ts'
import { isBroken, TOO_LARGE_VERSION } from './request-error.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'apply' | 'patch' | 'delete'

/** How a call is tried again: as its verb, or as something more impatient. */
export type RetriedAs = Verb | 'check'

interface Patience {
  /** 429: the API server has not looked at it. */
  readonly whenTooMany: boolean
  /** 5xx with a time to come back: it may have been done. */
  readonly whenTold: boolean
  /** The connection broke: it may have been done. */
  readonly whenBroken: boolean
}

const IDEMPOTENT: Patience = { whenTooMany: true, whenTold: true, whenBroken: true }
const PATIENCE = {
  get: IDEMPOTENT,
  list: IDEMPOTENT,
  apply: IDEMPOTENT,
  patch: IDEMPOTENT,
  delete: IDEMPOTENT,
  // Done and asked again, both would look like a conflict with somebody else.
  update: { whenTooMany: true, whenTold: false, whenBroken: false },
  create: { whenTooMany: true, whenTold: false, whenBroken: false },
  // Whoever watches has a back-off of their own.
  watch: { whenTooMany: false, whenTold: false, whenBroken: false },
  // Whoever checks a version has to know that the API server was away: it says 429 when it stops, and when it starts.
  check: { whenTooMany: false, whenTold: false, whenBroken: true },
} as const satisfies Readonly<Record<RetriedAs, Patience>>

const MAX_TRIES = 4
const LONGEST_WAIT_MS = 30_000
const AFTER_BREAK_MS = 50

/**
 * Milliseconds to wait before the next try; undefined: there is none. What the API server asks for, and up to half
 * as much again, so that those it sent away do not come back together.
 * @param tries how often it was sent
 */
export const waitBeforeRetry = (
  call: RetriedAs,
  error: ApiError,
  tries: number,
  random: () => number,
): number | undefined => {
  if (tries >= MAX_TRIES) return undefined
  const patience = PATIENCE[call]
  if (isBroken(error)) {
    return patience.whenBroken && tries === 1
      ? Math.ceil(AFTER_BREAK_MS * (1 + random()))
      : undefined
  }
  const { status, reason, retryAfterMs } = error
  // It asks to be asked again; whoever asked knows better.
  if (reason === TOO_LARGE_VERSION) return undefined
  if (retryAfterMs === undefined || retryAfterMs > LONGEST_WAIT_MS) return undefined
  const mayTry = status === 429 ? patience.whenTooMany : status >= 500 && patience.whenTold
  return mayTry ? Math.ceil(Math.max(retryAfterMs, 100) * (1 + random() / 2)) : undefined
}
