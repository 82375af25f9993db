// A line in front of a callback: tasks come in, so many run at once, the others wait in order. It is
// bounded: what finds no place is told so.

export interface Line {
  /** undefined: there is no place left, and the task will not run. */
  run<T>(task: () => Promise<T>): Promise<T> | undefined
}

/** @example createLine(1, 256) // one after the other, in order */
export const createLine = (places: number, maxWaiting: number): Line => {
  const waiting: (() => void)[] = []
  let running = 0

  const enter = (): Promise<void> => {
    if (running === places) return new Promise((resolve) => waiting.push(resolve))
    running++
    return Promise.resolve()
  }
  const leave = (): void => {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }

  return {
    run(task) {
      if (running === places && waiting.length >= maxWaiting) return undefined
      return enter().then(task).finally(leave)
    },
  }
}
