// Says whether a test has what it needs of what not every machine has.

import { env } from 'node:process'

export type Availability =
  { readonly available: true } | { readonly available: false; readonly why: string }

/** `make test-all`: what can be built is built, and what cannot be had is a failure instead of a skipped test. */
export const isRealRequired = (): boolean => env['REQUIRE_REAL'] === '1'

/**
 * For what takes minutes to build: `make test` builds nothing, and uses what was built before.
 *
 * @param canBeBuilt asked only where it is not built, and must be
 */
export const availableWhenBuilt = (
  what: string,
  isBuilt: boolean,
  canBeBuilt: () => Availability,
): Availability => {
  if (isBuilt) return { available: true }
  if (isRealRequired()) return canBeBuilt()
  return { available: false, why: `${what} is not built: make test-all builds it` }
}
