// Why a status could not be written in; what to do about it out. Pure.

import { backOffMs, DEFAULT_BACK_OFF } from '../../base/back-off.ts'
import type { ApiError } from '../kubernetes/client/api.ts'

export type AfterFailure =
  /** It will pass by itself. */
  | { readonly next: 'retry'; readonly delayMs: number }
  /** Somebody must act; told once, and tried now and then. */
  | { readonly next: 'retry slowly'; readonly delayMs: number }
  /** The resource is not there any more. */
  | { readonly next: 'drop' }

const SLOW_MS = 60_000

/** @param failures before this one */
export const afterFailure = (
  { status, retryAfterMs = 0 }: ApiError,
  failures: number,
  random: () => number,
): AfterFailure => {
  if (status === 404) return { next: 'drop' }
  if (status === 0 || status === 408 || status === 409 || status === 429 || status >= 500) {
    const delayMs = backOffMs(failures + 1, DEFAULT_BACK_OFF, random())
    return { next: 'retry', delayMs: Math.max(delayMs, retryAfterMs) }
  }
  return { next: 'retry slowly', delayMs: Math.round(SLOW_MS * (0.5 + random() / 2)) }
}
