// Runs the loop of a reflector: list, watch, watch again, for ever; list again where a version is no longer valid, wait
// where something fails. Only `stop` ends it.

import type { Log } from '../../../telemetry/log.ts'
import type { BackOff } from '../../../base/back-off.ts'
import type { Changes } from './changes.ts'
import { recover, startProgress, type Progress } from './recovery.ts'
import { checkVersion, listAll, watchOnce, type StepOptions } from './steps.ts'
import type { FailureState } from './failure-state.ts'

export interface ReflectorTuning {
  readonly backOff: BackOff
  /** How long a watch is asked to last; random, so that they do not all begin again together. */
  readonly watchSeconds: { readonly least: number; readonly most: number }
}

export interface LoopOptions extends StepOptions, ReflectorTuning {
  readonly changes: Changes
  readonly failureState: FailureState
  readonly log: Log
}

export interface Loop {
  readonly start: () => void
  readonly relist: () => Promise<boolean>
  readonly stop: () => Promise<void>
  readonly hasSynced: () => boolean
}

type OnListed = (isListed: boolean) => void

/** Nothing is done before `start`. */
export const createLoop = (options: LoopOptions): Loop => {
  const { changes } = options
  const progress = startProgress(options.pageSize)
  const stopping = new AbortController()
  let waiting: OnListed[] = []
  let isListing = false
  let step = new AbortController()
  let running: Promise<void> | undefined

  const list = async (signal: AbortSignal): Promise<void> => {
    const listeners = waiting
    waiting = []
    isListing = true
    progress.isVerified = false
    let isListed = false
    try {
      await listStep(options, progress, signal)
      isListed = true
    } finally {
      isListing = false
      for (const onListed of listeners) onListed(isListed)
    }
  }

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      step = new AbortController()
      const { signal } = step
      try {
        if (progress.version === undefined || waiting.length > 0) await list(signal)
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
      return new Promise((onListed) => {
        waiting.push(onListed)
        // A list under way is older than this request: the next one counts. Its end must not be delayed for ever.
        if (!isListing) step.abort(new Error('lists again'))
      })
    },
    stop: async () => {
      changes.stop()
      stopping.abort()
      step.abort(new Error('stopped'))
      await running
      for (const onListed of waiting) onListed(false)
      waiting = []
    },
    hasSynced: () => progress.listedAtMs !== undefined,
  }
}

const listStep = async (
  options: LoopOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> => {
  progress.version = await listAll(
    { ...options, pageSize: progress.pageSize },
    progress.isAnotherPast,
    signal,
  )
  progress.isVerified = true
  progress.isAnotherPast = false
  progress.listedAtMs = options.clock.now()
  options.failureState.noteContact()
  options.changes.notify()
}

/** A failure after this time comes after a watch that worked. */
const LONG_WATCH_MS = 10_000

const followStep = async (
  options: LoopOptions,
  progress: Progress,
  version: string,
  signal: AbortSignal,
): Promise<void> => {
  const { failureState, changes, clock, watchSeconds } = options
  if (!progress.isVerified) {
    await checkVersion(options, version, signal)
    failureState.noteContact()
  }
  progress.isVerified = true
  const { least, most } = watchSeconds
  const isFollowing = (): void => {
    progress.isWatching = true
    failureState.noteContact()
    failureState.end()
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
  const startedAtMs = clock.now()
  try {
    await watchOnce(options, watch, signal)
    progress.isWatching = false
    progress.isVerified = false
    progress.failures = 0
  } finally {
    if (clock.now() - startedAtMs > LONG_WATCH_MS) progress.failures = 0
  }
}
