// Signals in, an orderly end out: not ready, still serving, draining, closed. Cuts off nobody before the
// time that was set, and never waits longer.

import type { Log } from '../../telemetry/log.ts'
import type { GatewaySettings } from '../config.ts'

/** What is shut down: the serving half of the program, here or in the workers of a cluster. */
export interface Drainable {
  /** From now on `/ready` says 503 and every answer `Connection: close`; requests are still served. */
  beginDraining(): void
  /**
   * The delay of a drain is over, and nobody has said that it ends: streams end and idle connections close, as what is
   * behind us may go now; requests that come all the same are served.
   */
  letGo(): void
  /** Takes no more connections; resolves when the last request has been answered. */
  close(): Promise<void>
  /** Breaks off what is left, so that `close` resolves. */
  abort(): void
}

export interface ShutdownOptions {
  readonly settings: Pick<GatewaySettings, 'drainDelaySeconds' | 'drainSeconds'>
  readonly serving: Drainable
  /** Everything after the last request: management, store, pools, logs. Its failure is logged. */
  readonly finish: () => Promise<void>
  readonly log: Log
}

export interface Shutdown {
  /** Whether `/ready` must say 503. */
  readonly isDraining: boolean
  /** Starts to drain without ending: the time of the delay runs from here, then clients are let go. May be called again. */
  drain(): void
  /** Drains, waits out the delay unless told not to, closes, finishes. One end however often it is called. */
  stop(options?: { readonly skipDelay?: boolean }): Promise<void>
}

/**
 * SIGTERM's way (behaviour §9): drain, serve on for the delay, close within the time for requests in flight,
 * then break off.
 * @example await createShutdown({ settings, serving: listeners, finish, log }).stop()
 */
export const createShutdown = ({ settings, serving, finish, log }: ShutdownOptions): Shutdown => {
  let drainingSince: number | undefined
  let ending: Promise<void> | undefined

  const beginDraining = (): void => {
    drainingSince = performance.now()
    log.info('draining: not ready any more, still serving')
    serving.beginDraining()
  }

  const drain = (): void => {
    if (drainingSince !== undefined) return
    beginDraining()
    setTimeout(() => {
      if (ending === undefined) serving.letGo()
    }, settings.drainDelaySeconds * 1000).unref()
  }

  const end = async (skipDelay: boolean): Promise<void> => {
    if (drainingSince === undefined) beginDraining()
    const drainedMs = performance.now() - (drainingSince ?? 0)
    if (!skipDelay) await sleep(settings.drainDelaySeconds * 1000 - drainedMs)
    await closeWithin(serving, settings.drainSeconds * 1000, log)
    try {
      await finish()
    } catch (error) {
      log.error('could not finish in order', { error })
    }
    log.info('stopped')
  }

  return {
    get isDraining() {
      return drainingSince !== undefined
    },
    drain,
    stop: ({ skipDelay = false } = {}) => (ending ??= end(skipDelay)),
  }
}

/** The parts of `process` that signals need. */
export interface SignalSource {
  on(signal: 'SIGTERM' | 'SIGINT' | 'SIGUSR2', listener: () => void): unknown
}

/**
 * SIGTERM stops, SIGINT stops without the delay, SIGUSR2 drains only (`svc-gateway drain`); a second SIGTERM
 * or SIGINT ends at once, with exit code 1.
 */
export const stopOnSignals = (
  signals: SignalSource,
  shutdown: Shutdown,
  exit: (code: number) => void,
): void => {
  let stopping = false
  const onStop = (skipDelay: boolean) => (): void => {
    if (stopping) {
      exit(1)
      return
    }
    stopping = true
    shutdown.stop({ skipDelay }).then(
      () => {
        exit(0)
      },
      () => {
        exit(1)
      },
    )
  }
  signals.on('SIGTERM', onStop(false))
  signals.on('SIGINT', onStop(true))
  signals.on('SIGUSR2', () => {
    shutdown.drain()
  })
}

const closeWithin = async (serving: Drainable, ms: number, log: Log): Promise<void> => {
  const timer = setTimeout(() => {
    log.warn('requests in flight did not finish in time: breaking them off')
    serving.abort()
  }, ms)
  try {
    await serving.close()
  } finally {
    clearTimeout(timer)
  }
}

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms))
  })
