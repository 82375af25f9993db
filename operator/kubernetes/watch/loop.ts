// The loop of a reflector: list, watch, watch again, for ever; list where a version means nothing any more, wait
// where something fails. Nothing but `stop` ends it.

import type { Log } from '../../../telemetry/log.ts'
import type { BackOff } from '../../../base/back-off.ts'
import type { Changes } from './changes.ts'
import { recover, startProgress, type Progress } from './recovery.ts'
import { checkVersion, listAll, watchOnce, type StepOptions } from './steps.ts'
import type { Trouble } from './trouble.ts'

export interface ReflectorTuning {
  readonly backOff: BackOff
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

type Answer = (isTold: boolean) => void

/** Nothing is done before `start`. */
export const createLoop = (options: LoopOptions): Loop => {
  const { changes } = options
  const progress = startProgress(options.pageSize)
  const stopping = new AbortController()
  let asked: Answer[] = []
  let isListing = false
  let step = new AbortController()
  let running: Promise<void> | undefined

  const list = async (signal: AbortSignal): Promise<void> => {
    const answers = asked
    asked = []
    isListing = true
    progress.isVerified = false
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
  options.trouble.heard()
  options.changes.tell()
}

/** What fails after it was well before. */
const LONG_WATCH_MS = 10_000

const followStep = async (
  options: LoopOptions,
  progress: Progress,
  version: string,
  signal: AbortSignal,
): Promise<void> => {
  const { trouble, changes, clock, watchSeconds } = options
  if (!progress.isVerified) {
    await checkVersion(options, version, signal)
    trouble.heard()
  }
  progress.isVerified = true
  const { least, most } = watchSeconds
  const isFollowing = (): void => {
    progress.isWatching = true
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
