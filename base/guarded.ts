// Calls listeners so that what one of them throws reaches neither the caller nor the next listener.

/**
 * @param onError gets what was thrown, and throws nothing itself
 * @example
 * const notify = guarded(options.onChange, (error) => { log.error('a listener failed', { error }) })
 * notify()
 */
export const guarded =
  <A extends readonly unknown[]>(
    listener: (...args: A) => void,
    onError: (error: unknown) => void,
  ): ((...args: A) => void) =>
  (...args) => {
    try {
      listener(...args)
    } catch (error) {
      onError(error)
    }
  }
