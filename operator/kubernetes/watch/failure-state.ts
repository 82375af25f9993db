// Records why the data of a watch may be out of date, and notifies when that begins, changes and ends.

import type { Log } from '../../../telemetry/log.ts'
import type { Clock } from '../../../base/clock.ts'
import type { ApiError } from '../client/api.ts'
import type { FailedWatch, WatchLog } from './watch-log.ts'
import type { WatchFailure } from './watched.ts'

export interface FailureStateOptions {
  readonly clock: Clock
  readonly log: Log
  readonly notify: () => void
  readonly watchLog: WatchLog
  /** What is watched. */
  readonly of: Pick<FailedWatch, 'resource' | 'namespace'>
}

export interface FailureState {
  readonly current: WatchFailure | undefined
  /** The API server has sent something, or accepted the watch. */
  noteContact(): void
  /** The data is up to date again. */
  end(): void
  fail(error: ApiError): void
  /** No more notifications. */
  stop(): void
}

export const createFailureState = ({
  clock,
  log,
  notify,
  watchLog,
  of,
}: FailureStateOptions): FailureState => {
  const watch = {}
  let contactAtMs = clock.now()
  let current: WatchFailure | undefined

  return {
    get current() {
      return current
    },
    noteContact: () => {
      contactAtMs = clock.now()
    },
    end: () => {
      if (current === undefined) return
      log.debug('the watch works again', { sinceMs: current.sinceMs })
      watchLog.followed(watch)
      current = undefined
      notify()
    },
    fail: ({ status, message }) => {
      if (current?.status === status && current.message === message) return
      log.debug('the watch fails, so its data may be out of date', { status, reason: message })
      watchLog.failed(watch, { ...of, status, message })
      current = { sinceMs: current?.sinceMs ?? contactAtMs, status, message }
      notify()
    },
    stop: () => {
      watchLog.forget(watch)
    },
  }
}
