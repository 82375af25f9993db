// Shuts the gateway down in order when a signal arrives: not ready, still serving, draining, closed. It disconnects
// no client before the time that was set, and never waits longer.

import type { Log } from '../../telemetry/log.ts'
import type { GatewaySettings } from '../config.ts'

/** What is shut down: the serving half of the program, here or in the workers of a cluster. */
export interface Drainable {
  /** From now on `/ready` answers 503 and every response has `Connection: close`; requests are still served. */
  beginDraining(): void
  /**
   * Called when the delay of a drain is over and the gateway was not told to end: streams end and idle connections
   * close, as what is behind the gateway may end now; requests that still arrive are served.
   */
  releaseClients(): void
  /** Accepts no more connections; resolves when the last request has been answered. */
  close(): Promise<void>
  /** Destroys the connections that are left, so that `close` resolves. */
  abort(): void
}

export interface ShutdownOptions {
  readonly settings: Pick<GatewaySettings, 'drainDelaySeconds' | 'drainSeconds'>
  readonly serving: Drainable
  /** Closes everything after the last request: management, store, pools, logs. Its failure is logged. */
  readonly finish: () => Promise<void>
  readonly log: Log
}

export interface Shutdown {
  /** Whether `/ready` must answer 503. */
  readonly isDraining: boolean
  /** Starts to drain without ending: after the delay streams and idle connections are closed. May be called again. */
  drain(): void
  /** Drains, waits out the delay unless told not to, closes, finishes. Further calls return the same promise. */
  stop(options?: { readonly skipDelay?: boolean }): Promise<void>
}

/**
 * Does what SIGTERM asks for (behaviour §9): drain, serve on for the delay, close within the time for requests in
 * flight, then abort.
 * @example await createShutdown({ settings, serving: listeners, finish, log }).stop()
 */
export const createShutdown = ({ settings, serving, finish, log }: ShutdownOptions): Shutdown => {
  let drainingSince: number | undefined
  let ending: Promise<void> | undefined

  const beginDraining = (): void => {
    drainingSince = performance.now()
    log.info('draining: no longer ready, still serving')
    serving.beginDraining()
  }

  const drain = (): void => {
    if (drainingSince !== undefined) return
    beginDraining()
    setTimeout(() => {
      if (ending === undefined) serving.releaseClients()
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
      log.error('could not shut down cleanly', { error })
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
    log.warn('aborting requests that did not finish within --drain-seconds')
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
