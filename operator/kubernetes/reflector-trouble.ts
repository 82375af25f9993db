// Failures and signs of life in; why what we know may be out of date out, with a line in the log when that begins,
// changes and ends.

import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../clock.ts'
import type { ApiError } from './api.ts'
import type { WatchTrouble } from './watched.ts'

export interface TroubleOptions {
  readonly clock: Clock
  readonly log: Log
  readonly tell: () => void
}

export interface Trouble {
  readonly current: WatchTrouble | undefined
  /** The API server has told us something, or agreed to. */
  heard(): void
  /** What we know follows every change again. */
  end(): void
  fail(error: ApiError): void
}

export const createTrouble = ({ clock, log, tell }: TroubleOptions): Trouble => {
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
      log.info('followed again', { sinceMs: current.sinceMs })
      current = undefined
      tell()
    },
    fail: ({ status, message }) => {
      if (current?.status === status && current.message === message) return
      log.warn('not followed for now', { status, reason: message })
      current = { sinceMs: current?.sinceMs ?? heardAtMs, status, message }
      tell()
    },
  }
}
