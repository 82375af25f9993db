// Lets the first occurrence of a kind through and drops the others for a minute, so that what happens often does not
// fill the log.

import { BoundedMap } from '../base/bounded-map.ts'

const QUIET_MS = 60_000
/** With more kinds at once the oldest is forgotten, and may be let through again too soon. */
const MAX_KINDS = 1000

/**
 * @param now milliseconds
 * @returns once a minute for each key how many there were since the last one that was let through; undefined: this one
 * is not let through
 * @example const leftOut = createCountedPerMinute(() => performance.now())
 */
export const createCountedPerMinute = (
  now: () => number,
): ((key: string) => number | undefined) => {
  const kinds = new BoundedMap<string, { readonly sinceMs: number; more: number }>(MAX_KINDS)
  return (key) => {
    const known = kinds.get(key)
    // A clock that was set back lets it through.
    if (known !== undefined && Math.abs(now() - known.sinceMs) < QUIET_MS) {
      known.more++
      return undefined
    }
    kinds.set(key, { sinceMs: now(), more: 0 })
    return known?.more ?? 0
  }
}

/**
 * @param now monotonic, milliseconds
 * @returns true once a minute for each key
 * @example const isNew = createOncePerMinute(() => performance.now())
 */
export const createOncePerMinute = (now: () => number): ((key: string) => boolean) => {
  const lastMs = new BoundedMap<string, number>(MAX_KINDS)
  return (key) => {
    const isNew = now() - (lastMs.get(key) ?? -Infinity) >= QUIET_MS
    if (isNew) lastMs.set(key, now())
    return isNew
  }
}
