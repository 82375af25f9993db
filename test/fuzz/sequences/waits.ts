// Waits for turns of the event loop or for a time, so that a sequence of requests takes different courses.

/** Turns of the event loop, or a time. Neither: at once. */
export interface Wait {
  readonly turns: number
  readonly ms: number
}

export const AT_ONCE: Wait = { turns: 0, ms: 0 }

export const WAITS: readonly Wait[] = [
  AT_ONCE,
  { turns: 1, ms: 0 },
  { turns: 2, ms: 0 },
  { turns: 3, ms: 0 },
  { turns: 8, ms: 0 },
  { turns: 0, ms: 1 },
  { turns: 0, ms: 6 },
]

/** @example after({ turns: 2, ms: 0 }, () => socket.end()) */
export const after = ({ turns, ms }: Wait, act: () => void): void => {
  if (ms > 0) setTimeout(act, ms)
  else if (turns === 0) act()
  else
    setImmediate(() => {
      after({ turns: turns - 1, ms }, act)
    })
}
