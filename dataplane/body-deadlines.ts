// A time and what to do when it is over in, a deadline on the one wheel of all bodies that are awaited out: what
// arrived while the process stood still is not refused.

import { createDeadlines, type Timed } from './deadlines.ts'

export const bodyDeadlines = createDeadlines()

/** Ends by `bodyDeadlines.remove`. */
export const startBodyDeadline = (ms: number, expire: () => void): Timed => {
  const deadline = { due: bodyDeadlines.dueIn(ms), slot: -1, expire }
  bodyDeadlines.add(deadline)
  return deadline
}
