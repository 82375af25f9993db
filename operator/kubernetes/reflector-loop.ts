// The loop of a reflector: list, watch, watch again, for ever; list where a version means nothing any more, wait
// where something fails. Nothing but `stop` ends it.

import type { Log } from '../../telemetry/log.ts'
import { ApiError } from './api.ts'
import { waitAfter, type BackOffOptions } from './reflector-backoff.ts'
import type { Changes } from './reflector-changes.ts'
import { checkVersion, listAll, watchOnce, type StepOptions } from './reflector-steps.ts'
import type { Trouble } from './reflector-trouble.ts'
import { TOO_LARGE_VERSION } from './request-error.ts'
import { pause } from './request.ts'

export interface ReflectorTuning {
  readonly backOff: BackOffOptions
  /** How long a watch is asked to last; by chance, so that they do not all begin anew together. */
  readonly watchSeconds: { readonly least: number; readonly most: number }
}

export interface LoopOptions extends StepOptions, ReflectorTuning {
  readonly changes: Changes
  readonly trouble: Trouble
  readonly log: Log
}

export interface Loop {
  readonly start: () => void
  readonly relist: () => Promise<boolean>
  readonly stop: () => Promise<void>
  readonly hasSynced: () => boolean
}

/** What the next step goes by. */
interface Progress {
  /** To watch from; undefined: list first. */
  version: string | undefined
  /** The version has just been told or checked. */
  isVerified: boolean
  /** The API server has lost versions that we know of. */
  isAnotherPast: boolean
  /** In a row. */
  failures: number
  hasSynced: boolean
}

const START: Progress = {
  version: undefined,
  isVerified: false,
  isAnotherPast: false,
  failures: 0,
  hasSynced: false,
}

type Answer = (isTold: boolean) => void

/** Nothing is done before `start`. */
export const createLoop = (options: LoopOptions): Loop => {
  const { changes } = options
  const progress = { ...START }
  const stopping = new AbortController()
  let asked: Answer[] = []
  let isListing = false
  let step = new AbortController()
  let running: Promise<void> | undefined

  const list = async (signal: AbortSignal): Promise<void> => {
    const answers = asked
    asked = []
    isListing = true
    let isTold = false
    try {
      await listStep(options, progress, signal)
      isTold = true
    } finally {
      isListing = false
      for (const answer of answers) answer(isTold)
    }
  }

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      step = new AbortController()
      const { signal } = step
      try {
        if (progress.version === undefined || asked.length > 0) await list(signal)
        else await followStep(options, progress, progress.version, signal)
      } catch (error) {
        if (!signal.aborted) await recover(options, progress, error, signal)
      }
    }
  }

  return {
    start: () => {
      running ??= run()
    },
    relist: () => {
      if (running === undefined || stopping.signal.aborted) return Promise.resolve(false)
      return new Promise((answer) => {
        asked.push(answer)
        // A list under way began before: the next one answers. Its end is not to be delayed for ever.
        if (!isListing) step.abort(new Error('lists again'))
      })
    },
    stop: async () => {
      changes.stop()
      stopping.abort()
      step.abort(new Error('stopped'))
      await running
      for (const answer of asked) answer(false)
      asked = []
    },
    hasSynced: () => progress.hasSynced,
  }
}

const listStep = async (
  options: LoopOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> => {
  progress.version = await listAll(options, progress.isAnotherPast, signal)
  progress.isVerified = true
  progress.isAnotherPast = false
  progress.hasSynced = true
  options.trouble.heard()
  options.changes.tell()
}

const followStep = async (
  options: LoopOptions,
  progress: Progress,
  version: string,
  signal: AbortSignal,
): Promise<void> => {
  const { trouble, changes, clock, watchSeconds } = options
  if (!progress.isVerified) await checkVersion(options, version, signal)
  progress.isVerified = false
  const { least, most } = watchSeconds
  const isFollowing = (): void => {
    trouble.heard()
    trouble.end()
  }
  const watch = {
    resourceVersion: version,
    timeoutSeconds: Math.round(least + clock.random() * (most - least)),
    onOpen: isFollowing,
    onEvent: (next: string, isChange: boolean): void => {
      isFollowing()
      progress.failures = 0
      if (next !== '') progress.version = next
      if (isChange) changes.note()
    },
  }
  await watchOnce(options, watch, signal)
  progress.failures = 0
}

const recover = async (
  { clock, trouble, log, backOff }: LoopOptions,
  progress: Progress,
  error: unknown,
  signal: AbortSignal,
): Promise<void> => {
  const failure = asApiError(error, log)
  progress.failures += 1
  progress.isVerified = false
  const isTooLarge = failure.reason === TOO_LARGE_VERSION
  const isExpired = isTooLarge || failure.status === 410
  if (isTooLarge) progress.isAnotherPast = true
  // A kind that is gone has another history when it is back.
  if (isExpired || failure.status === 404) progress.version = undefined
  if (isExpired && progress.failures === 1) return
  trouble.fail(failure)
  const { retryAfterMs: askedMs } = failure
  const waitMs = waitAfter(progress.failures, { ...backOff, askedMs, random: () => clock.random() })
  // Whoever asks for a list, or stops, ends the wait.
  await pause(clock, waitMs, signal).catch(() => undefined)
}

const asApiError = (error: unknown, log: Log): ApiError => {
  if (error instanceof ApiError) return error
  log.error('a watch failed in a way that it should not', { error })
  return new ApiError('the watch failed', { status: 0, cause: error })
}
