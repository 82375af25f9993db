// Keeps many deadlines on one timer and expires the entries that are due. It never keeps the process alive, and costs
// a request two array writes instead of a timer of its own.

/** Something that may expire. `due` and `slot` belong to the deadline list; a `due` of 0 is no deadline. */
export interface Timed {
  due: number
  slot: number
  expire(): void
}

export interface Deadlines {
  add(entry: Timed): void
  remove(entry: Timed): void
  /** A value for `Timed.due`: never early, at most two ticks late. */
  dueIn(durationMs: number): number
  /** Time elapsed by this clock, which runs while there are entries. */
  readonly elapsedMs: number
  readonly size: number
}

/**
 * The clock counts ticks, not wall time: an event loop that was blocked delays deadlines, so that responses which
 * have arrived meanwhile do not expire unread.
 *
 * @example
 * const deadlines = createDeadlines(20)
 * entry.due = deadlines.dueIn(30_000)
 * deadlines.add(entry)
 */
export const createDeadlines = (tickMs = 20): Deadlines => {
  const entries: Timed[] = []
  let now = 1
  let timer: NodeJS.Timeout | undefined

  const tick = (): void => {
    now++
    if (entries.length === 0) {
      clearInterval(timer)
      timer = undefined
      return
    }
    // Backwards: `remove` moves the last entry, which was checked already, into the freed slot.
    for (let at = entries.length - 1; at >= 0; at--) {
      const entry = entries[at]
      if (entry !== undefined && entry.due !== 0 && entry.due <= now) {
        entry.due = 0
        entry.expire()
      }
    }
  }

  return {
    add(entry) {
      entry.slot = entries.length
      entries.push(entry)
      timer ??= setInterval(tick, tickMs).unref()
    },
    remove(entry) {
      const last = entries.at(-1)
      if (entry.slot < 0 || last === undefined) return
      entries[entry.slot] = last
      last.slot = entry.slot
      entries.pop()
      entry.slot = -1
    },
    dueIn: (durationMs) => now + Math.ceil(durationMs / tickMs) + 1,
    get elapsedMs() {
      return now * tickMs
    },
    get size() {
      return entries.length
    },
  }
}
