// Decides what to do about a status that could not be written. Pure.

import { backOffMs, DEFAULT_BACK_OFF } from '../../base/back-off.ts'
import type { ApiError, ApiErrorCode } from '../kubernetes/client/api.ts'

export type AfterFailure =
  /** It will pass by itself. */
  | { readonly next: 'retry'; readonly delayMs: number }
  /** Someone must act: it is logged once and retried now and then. */
  | { readonly next: 'retry slowly'; readonly delayMs: number }
  /** The resource is not there any more. */
  | { readonly next: 'drop' }

const SLOW_MS = 60_000

/** @param failures before this one */
export const afterFailure = (
  { code, retryAfterMs = 0 }: ApiError,
  failures: number,
  random: () => number,
): AfterFailure => {
  const next = NEXT[code]
  if (next === 'drop') return { next }
  if (next === 'retry slowly') return { next, delayMs: Math.round(SLOW_MS * (0.5 + random() / 2)) }
  const delayMs = backOffMs(failures + 1, DEFAULT_BACK_OFF, random())
  return { next, delayMs: Math.max(delayMs, retryAfterMs) }
}

const NEXT = {
  no_response: 'retry',
  unauthorized: 'retry slowly',
  forbidden: 'retry slowly',
  not_found: 'drop',
  request_timeout: 'retry',
  conflict: 'retry',
  expired: 'retry slowly',
  too_many_requests: 'retry',
  rejected: 'retry slowly',
  server_error: 'retry',
} as const satisfies Record<ApiErrorCode, AfterFailure['next']>
