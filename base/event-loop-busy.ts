// Measures which share of the time the event loop of this process is busy.

/** Begins to measure; the result gives the share since then, 0 to 1. */
export const measureBusy = (): (() => number) => {
  const before = performance.eventLoopUtilization()
  return () => performance.eventLoopUtilization(before).utilization
}
