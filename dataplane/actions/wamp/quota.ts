// Calls in flight of one version (behaviour §4, `pool_size`): a count that has an end. Nobody waits in
// line: who finds no place is told at once.

export interface CallQuota {
  readonly limit: number
  readonly inFlight: number
  /** True is paid back with one `leave`. */
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
