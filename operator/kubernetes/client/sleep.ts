// Waits for a time, or until a signal ends the wait.

import type { Clock } from '../../../base/clock.ts'

/** @throws the reason of `signal` */
export const sleep = async (clock: Clock, ms: number, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted()
  await new Promise<void>((resolve) => {
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal.addEventListener('abort', end)
  })
  signal.throwIfAborted()
}
