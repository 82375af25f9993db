// Failures and signs of life in; why what we know may be out of date out, told when that begins, changes and ends.

import type { Log } from '../../../telemetry/log.ts'
import type { Clock } from '../../../base/clock.ts'
import type { ApiError } from '../client/api.ts'
import type { WatchFailure, WatchLog } from './watch-log.ts'
import type { WatchTrouble } from './watched.ts'

export interface TroubleOptions {
  readonly clock: Clock
  readonly log: Log
  readonly tell: () => void
  readonly watchLog: WatchLog
  /** What is watched. */
  readonly of: Pick<WatchFailure, 'resource' | 'namespace'>
}

export interface Trouble {
  readonly current: WatchTrouble | undefined
  /** The API server has told us something, or agreed to. */
  heard(): void
  /** What we know follows every change again. */
  end(): void
  fail(error: ApiError): void
  /** Nothing is told any more. */
  stop(): void
}

export const createTrouble = ({ clock, log, tell, watchLog, of }: TroubleOptions): Trouble => {
  const watch = {}
  let heardAtMs = clock.now()
  let current: WatchTrouble | undefined

  return {
    get current() {
      return current
    },
    heard: () => {
      heardAtMs = clock.now()
    },
    end: () => {
      if (current === undefined) return
      log.debug('followed again', { sinceMs: current.sinceMs })
      watchLog.followed(watch)
      current = undefined
      tell()
    },
    fail: ({ status, message }) => {
      if (current?.status === status && current.message === message) return
      log.debug('not followed for now', { status, reason: message })
      watchLog.failed(watch, { ...of, status, message })
      current = { sinceMs: current?.sinceMs ?? heardAtMs, status, message }
      tell()
    },
    stop: () => {
      watchLog.forget(watch)
    },
  }
}
