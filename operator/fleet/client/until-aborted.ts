// Something that may take for ever, and a signal, in; its outcome, or the signal's reason if that comes
// first, out. What was begun is not ended by it: nobody waits for it any more.

/** @example await untilAborted(signal, epochSource.challenge(epoch)) */
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
