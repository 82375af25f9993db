// Waits until promises that wait only for each other are settled. No time passes.

/** One turn of the event loop: everything that is already resolved has gone on as far as it can. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
