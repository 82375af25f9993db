// Decides what the reflector does after a failed step, and when. It waits; it never gives up.

import type { Log } from '../../../telemetry/log.ts'
import type { Clock } from '../../../base/clock.ts'
import { ApiError, type KubernetesApi } from '../client/api.ts'
import { backOffMs, type BackOff } from '../../../base/back-off.ts'
import type { FailureState } from './failure-state.ts'
import { isBroken, isSilent, TOO_LARGE_RESPONSE, TOO_LARGE_VERSION } from '../client/api-error.ts'
import { sleep } from '../client/sleep.ts'

/** What the next step depends on. */
export interface Progress {
  /** To watch from; undefined: list first. */
  version: string | undefined
  /** The version was just received or checked: it can be watched from. */
  isVerified: boolean
  /** A watch has begun to respond, and has not ended. */
  isWatching: boolean
  /** The API server has lost versions that we know of. */
  isAnotherPast: boolean
  /** In a row. */
  failures: number
  /** When the last whole list came; undefined: there was none. */
  listedAtMs: number | undefined
  pageSize: number
}

export const startProgress = (pageSize: number): Progress => ({
  version: undefined,
  isVerified: false,
  isWatching: false,
  isAnotherPast: false,
  failures: 0,
  listedAtMs: undefined,
  pageSize,
})

export interface RecoveryOptions {
  readonly api: Pick<KubernetesApi, 'onReturn'>
  readonly clock: Clock
  readonly failureState: FailureState
  readonly log: Log
  readonly backOff: BackOff
}

export const recover = async (
  options: RecoveryOptions,
  progress: Progress,
  error: unknown,
  signal: AbortSignal,
): Promise<void> => {
  const { clock, failureState, log, backOff } = options
  const failure = asApiError(error, log)
  const { reason, retryAfterMs: requestedMs } = failure
  const wasWatching = progress.isWatching
  progress.isWatching = false
  progress.isVerified = false
  progress.failures += 1
  if (reason === TOO_LARGE_VERSION) progress.isAnotherPast = true
  if (reason === TOO_LARGE_RESPONSE) progress.pageSize = Math.ceil(progress.pageSize / 2)
  if (mustListAfter(failure, wasWatching)) progress.version = undefined
  const listedForMs = clock.now() - (progress.listedAtMs ?? 0)
  if (progress.failures === 1 && isUsual(failure, { wasWatching, listedForMs })) return
  failureState.fail(failure)
  // As long as the API server asks for, within reason.
  const waitMs = backOffMs(progress.failures, backOff, clock.random())
  await waitFor(
    Math.max(waitMs, Math.min(requestedMs ?? 0, backOff.capMs)),
    options,
    progress,
    signal,
  )
}

/** Watches that are woken together do not all ask at the same moment. */
const WAKE_SPREAD_MS = 500

/**
 * A request for a list, or a stop, ends the wait; so does the return of an API server that was unavailable. After that
 * a kind may not be served at once, so back-off begins at its start.
 */
const waitFor = async (
  waitMs: number,
  { api, clock }: RecoveryOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> => {
  const woken = new AbortController()
  let cancelWake = (): void => undefined
  const end = api.onReturn(() => {
    cancelWake()
    cancelWake = clock.after(Math.round(clock.random() * WAKE_SPREAD_MS), () => {
      progress.failures = 0
      woken.abort(new Error('the API server is back'))
    })
  })
  await sleep(clock, waitMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined)
  end()
  cancelWake()
}

/** An older list than this may be of versions that are forgotten. */
const OLD_LIST_MS = 30_000

/**
 * Failures that are no reason to wait: that a version gets old, unless it was new, and that nothing was received for a
 * while. An API server sends no bookmarks for a kind that has not changed since it started (seen with 1.36: none in 200
 * s).
 */
const isUsual = (
  failure: ApiError,
  { wasWatching, listedForMs }: { readonly wasWatching: boolean; readonly listedForMs: number },
): boolean =>
  (isExpired(failure) && listedForMs > OLD_LIST_MS) || (wasWatching && isSilent(failure))

const isExpired = ({ code, reason }: ApiError): boolean =>
  code === 'expired' || reason === TOO_LARGE_VERSION

/**
 * A kind that was removed has another history when it is back. So may an API server that was unavailable: it can be
 * restored to an older state and write until it is past the version that we know, which then looks valid, but is of
 * another past. It sends 429 as it stops, and until it can serve a kind: such a response is a sign, too. A watch that only
 * broke or fell silent is not: some balancers end each after a while.
 */
const mustListAfter = (failure: ApiError, wasWatching: boolean): boolean => {
  if (isExpired(failure) || failure.code === 'not_found') return true
  const { code, reason } = failure
  const isAway =
    code === 'no_response' ||
    code === 'too_many_requests' ||
    (code === 'server_error' && reason === '')
  return isAway && !(wasWatching && (isBroken(failure) || isSilent(failure)))
}

const asApiError = (error: unknown, log: Log): ApiError => {
  if (error instanceof ApiError) return error
  log.error('a watch failed unexpectedly', { error })
  return new ApiError('the watch failed', { status: 0, cause: error })
}
