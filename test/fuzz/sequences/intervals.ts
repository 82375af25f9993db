// Counts the intervals of a process that were set and not cleared: a list of deadlines has one while anything is in it.

/** Once they are watched they stay watched: the code that has set one clears it by the same function. */
export const watchIntervals = (): (() => number) => {
  const open = new Set<unknown>()
  const { setInterval: set, clearInterval: clear } = globalThis
  globalThis.setInterval = (...given: Parameters<typeof set>) => {
    const timer = set(...given)
    open.add(timer)
    return timer
  }
  globalThis.clearInterval = (timer) => {
    open.delete(timer)
    clear(timer)
  }
  return () => open.size
}
