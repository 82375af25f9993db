// Tells what is news: the first of its kind within a minute, so that what happens often does not fill the log.

const QUIET_MS = 60_000

/**
 * @param now monotonic, milliseconds
 * @returns true once a minute for each key; of these there must be few, as they are remembered
 * @example const isNews = createOncePerMinute(() => performance.now())
 */
export const createOncePerMinute = (now: () => number): ((key: string) => boolean) => {
  const toldMs = new Map<string, number>()
  return (key) => {
    const isNews = now() - (toldMs.get(key) ?? -Infinity) >= QUIET_MS
    if (isNews) toldMs.set(key, now())
    return isNews
  }
}
