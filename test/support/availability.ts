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

/**
 * For tests that take long with a program that no npm package brings, built or not, or as they measure: `make test` skips
 * them, and `make test-all` runs what was skipped.
 */
export const onlyInTestAll = (what: string, availability: Availability): Availability =>
  isRealRequired()
    ? availability
    : { available: false, why: `it takes ${what}: make test-all runs it, or REQUIRE_REAL=1` }
