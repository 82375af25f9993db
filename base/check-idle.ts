// Checks at regular intervals whether this process is nearly idle.

import type { Clock } from './clock.ts'

export interface IdleCheckTools {
  readonly clock: Pick<Clock, 'after'>
  /** Begins to measure; the result gives the share of the time since then in which this process was busy. */
  readonly measureBusy: () => () => number
}

/** A process that was busy for at most this share of an interval counts as idle. */
const IDLE_SHARE = 0.05

/**
 * @param onChecked called after each interval with whether the process was idle in it; `done` ends the checks
 * @returns a function that ends the checks
 * @example const stop = checkIdle({ clock, measureBusy }, 10_000, (isIdle) => (isIdle ? 'done' : 'again'))
 */
export const checkIdle = (
  { clock, measureBusy }: IdleCheckTools,
  intervalMs: number,
  onChecked: (isIdle: boolean) => 'again' | 'done',
): (() => void) => {
  let cancel = (): void => undefined
  const wait = (): void => {
    const busy = measureBusy()
    cancel = clock.after(intervalMs, () => {
      if (onChecked(busy() <= IDLE_SHARE) === 'again') wait()
    })
  }
  wait()
  return () => {
    cancel()
  }
}
