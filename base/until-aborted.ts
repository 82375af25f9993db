// Waits for a promise, but no longer than until a signal is aborted. What was begun goes on, and its result is ignored.

/** @example await untilAborted(signal, epochSource.challenge(epoch, dataPlane.name)) */
export const untilAborted = <T>(signal: AbortSignal, promise: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason as Error)
    }
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort)
    })
  })
