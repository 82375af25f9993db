// An answer that takes its time in; the answer, or nothing where it is not there in time, out.

import type { Clock } from '../clock.ts'

/** Rejects as `answer` does; what comes late, also a rejection, is dropped. */
export const within = async <T>(
  ms: number,
  clock: Pick<Clock, 'after'>,
  answer: Promise<T>,
): Promise<T | undefined> => {
  const late = Promise.withResolvers<undefined>()
  const cancel = clock.after(ms, () => {
    late.resolve(undefined)
  })
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    cancel()
  }
}
