// Counts the calls of one version that are in progress (behaviour §4, `pool_size`), up to a bound. No call waits: one
// without a permit is rejected immediately.

export interface CallQuota {
  readonly limit: number
  readonly inFlight: number
  /** If it returns true, call `leave` once. */
  tryEnter(): boolean
  leave(): void
}

/**
 * @param poolSize the version's `pool_size`
 * @example
 * const calls = createCallQuota(200)
 * if (calls.tryEnter()) … calls.leave()
 */
export const createCallQuota = (poolSize: number): CallQuota => {
  let inFlight = 0
  return {
    limit: poolSize,
    get inFlight() {
      return inFlight
    },
    tryEnter() {
      if (inFlight >= poolSize) return false
      inFlight++
      return true
    },
    leave() {
      inFlight--
    },
  }
}
