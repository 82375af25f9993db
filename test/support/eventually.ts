// A check comes in and runs until it stops throwing; its value goes out, or its last error. It never
// waits longer than it was told.

import { setTimeout as sleep } from 'node:timers/promises'

export interface Patience {
  readonly withinMs?: number
  readonly everyMs?: number
  /** In place of a time: how often it is looked. Where the time is the subject, a machine at a halt spends none. */
  readonly looks?: number
}

/**
 * Polls `check` until it passes; after `withinMs` (5000), or so many `looks`, the last failure is thrown.
 *
 * @example
 * await eventually(async () => { expect((await get('/ready')).status).toBe(503) })
 */
export const eventually = async <T>(
  check: () => T | Promise<T>,
  { looks, withinMs = looks === undefined ? 5000 : Infinity, everyMs = 25 }: Patience = {},
): Promise<T> => {
  const deadlineMs = performance.now() + withinMs
  for (let look = 1; ; look += 1) {
    try {
      return await check()
    } catch (error) {
      if (look === looks || performance.now() >= deadlineMs) throw error
      await sleep(everyMs)
    }
  }
}
