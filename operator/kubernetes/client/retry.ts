// Decides which failed requests are sent again, and when. Pure: a table of verbs, and the wait that the API server asks
// for.

import type { ApiError } from './api.ts'
import { isBroken, isUnconnected, TOO_LARGE_VERSION } from './api-error.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'apply' | 'patch' | 'delete'

/** How a call is retried: as its verb, or as a check that fails sooner. */
export type RetriedAs = Verb | 'check'

interface Patience {
  /** 429: the API server has not processed it. */
  readonly whenTooMany: boolean
  /** 5xx with a time to come back: it may have been carried out. */
  readonly whenServerFails: boolean
  /** The connection broke: it may have been carried out. */
  readonly whenBroken: boolean
  /** There never was a connection: it was not sent. */
  readonly whenUnconnected: boolean
}

const IDEMPOTENT: Patience = {
  whenTooMany: true,
  whenServerFails: true,
  whenBroken: true,
  whenUnconnected: true,
}
// Carried out and sent again, both would look like a conflict with another client.
const ONCE: Patience = {
  whenTooMany: true,
  whenServerFails: false,
  whenBroken: false,
  whenUnconnected: true,
}
const NEVER: Patience = {
  whenTooMany: false,
  whenServerFails: false,
  whenBroken: false,
  whenUnconnected: false,
}
const PATIENCE = {
  get: IDEMPOTENT,
  list: IDEMPOTENT,
  apply: IDEMPOTENT,
  patch: IDEMPOTENT,
  delete: IDEMPOTENT,
  update: ONCE,
  create: ONCE,
  // Callers of a watch have their own back-off.
  watch: NEVER,
  // A check of a version must learn that the API server was unavailable: it responds with 429 when it stops and when it
  // starts, and accepts no connections. That an older connection broke says nothing.
  check: { ...NEVER, whenBroken: true },
} as const satisfies Readonly<Record<RetriedAs, Patience>>

const MAX_TRIES = 4
const LONGEST_WAIT_MS = 30_000
const AFTER_BREAK_MS = 50

/**
 * Milliseconds to wait before the next attempt; undefined: there is none. It is as long as the API server asks for, plus
 * up to half of that, so that the clients that it has rejected do not come back together.
 * @param tries how often the request was sent
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
  // The server suggests a retry, but the caller has to list again.
  if (reason === TOO_LARGE_VERSION) return undefined
  if (retryAfterMs === undefined || retryAfterMs > LONGEST_WAIT_MS) return undefined
  const mayTry = status === 429 ? patience.whenTooMany : status >= 500 && patience.whenServerFails
  return mayTry ? Math.ceil(Math.max(retryAfterMs, 100) * (1 + random() / 2)) : undefined
}

const waitAfterBreak = (
  mayTry: boolean,
  tries: number,
  random: () => number,
): number | undefined =>
  mayTry && tries === 1 ? Math.ceil(AFTER_BREAK_MS * (1 + random())) : undefined
