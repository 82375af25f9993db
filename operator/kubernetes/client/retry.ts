// Which failed requests are sent again, and when. Pure: a table of verbs, and the wait that the API server asks for.

import type { ApiError } from './api.ts'
import { isBroken, isUnconnected, TOO_LARGE_VERSION } from './api-error.ts'

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
  /** There never was a connection: it was not sent. */
  readonly whenUnconnected: boolean
}

const IDEMPOTENT: Patience = {
  ...{ whenTooMany: true, whenTold: true },
  ...{ whenBroken: true, whenUnconnected: true },
}
// Done and asked again, both would look like a conflict with somebody else.
const ONCE: Patience = {
  ...{ whenTooMany: true, whenTold: false },
  ...{ whenBroken: false, whenUnconnected: true },
}
const NEVER: Patience = {
  ...{ whenTooMany: false, whenTold: false },
  ...{ whenBroken: false, whenUnconnected: false },
}
const PATIENCE = {
  get: IDEMPOTENT,
  list: IDEMPOTENT,
  apply: IDEMPOTENT,
  patch: IDEMPOTENT,
  delete: IDEMPOTENT,
  update: ONCE,
  create: ONCE,
  // Whoever watches has a back-off of their own.
  watch: NEVER,
  // Whoever checks a version has to know that the API server was away: it says 429 when it stops, and when it starts,
  // and takes no connections. A connection from before that broke tells nothing.
  check: { ...NEVER, whenBroken: true },
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
  if (isBroken(error)) return waitAfterBreak(patience.whenBroken, tries, random)
  if (isUnconnected(error)) return waitAfterBreak(patience.whenUnconnected, tries, random)
  const { status, reason, retryAfterMs } = error
  // It asks to be asked again; whoever asked knows better.
  if (reason === TOO_LARGE_VERSION) return undefined
  if (retryAfterMs === undefined || retryAfterMs > LONGEST_WAIT_MS) return undefined
  const mayTry = status === 429 ? patience.whenTooMany : status >= 500 && patience.whenTold
  return mayTry ? Math.ceil(Math.max(retryAfterMs, 100) * (1 + random() / 2)) : undefined
}

const waitAfterBreak = (
  mayTry: boolean,
  tries: number,
  random: () => number,
): number | undefined =>
  mayTry && tries === 1 ? Math.ceil(AFTER_BREAK_MS * (1 + random())) : undefined
