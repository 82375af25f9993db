// Runs work that many ask for at the same time only once.

/**
 * Who asks while the work is under way gets what it comes to, also a rejection; who asks later has it done again.
 *
 * @param work gets the arguments of the call that it begins with
 * @example const refresh = singleFlight(() => fetch(keySetUrl))
 */
export const singleFlight = <A extends readonly unknown[], T>(
  work: (...args: A) => Promise<T>,
): ((...args: A) => Promise<T>) => {
  let running: Promise<T> | undefined
  return (...args) => {
    running ??= work(...args).finally(() => {
      running = undefined
    })
    return running
  }
}

/**
 * Loads once for all who ask, ever. A failure reaches those who have asked by then, and the next one to ask loads again.
 *
 * @example const loadRouter = loadOnce(() => import('express'))
 */
export const loadOnce = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let loaded: Promise<T> | undefined
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return loaded
  }
}
