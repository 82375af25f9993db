// Runs a check until it stops throwing, and returns its value, or throws its last error. It never waits longer than its
// time.

import { setTimeout as sleep } from 'node:timers/promises'

export interface Patience {
  readonly withinMs?: number
  readonly everyMs?: number
  /** In place of a time: how often it is looked. Where the time is the subject, a machine at a halt spends none. */
  readonly looks?: number
}

/** Only what fails waits for so long: less than a test may take, more than processes may halt on a busy machine. */
const WITHIN_MS = 15_000

/**
 * Polls `check` until it passes; after `withinMs` (15 s), or so many `looks`, the last failure is thrown.
 *
 * @example
 * await eventually(async () => { expect((await get('/ready')).status).toBe(503) })
 */
export const eventually = async <T>(
  check: () => T | Promise<T>,
  { looks, withinMs = looks === undefined ? WITHIN_MS : Infinity, everyMs = 25 }: Patience = {},
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
