// A check comes in and runs until it stops throwing; its value goes out, or its last error. It never
// waits longer than it was told.

import { setTimeout as sleep } from 'node:timers/promises'

export interface Patience {
  readonly withinMs?: number
  readonly everyMs?: number
}

/**
 * Polls `check` until it passes; after `withinMs` (5000) the last failure is thrown.
 *
 * @example
 * await eventually(async () => { expect((await get('/ready')).status).toBe(503) })
 */
export const eventually = async <T>(
  check: () => T | Promise<T>,
  { withinMs = 5000, everyMs = 25 }: Patience = {},
): Promise<T> => {
  const deadlineMs = performance.now() + withinMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() >= deadlineMs) throw error
      await sleep(everyMs)
    }
  }
}
