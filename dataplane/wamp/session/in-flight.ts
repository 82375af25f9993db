// What a session has asked and waits for, by request id, oldest first. A Map of the entries themselves would do,
// were it not for V8: a Map that makes room leaves its old table behind, which points to the new one, and once
// one such table is old garbage it keeps all that follow alive, with whatever they hold, until the next major
// collection. Every finished call was copied twice so, and collections of young garbage took ten times as long.

export interface InFlight<T> {
  /** In place of what has the same id. */
  add(id: number, entry: T): void
  get(id: number): T | undefined
  /** undefined: there is none. */
  remove(id: number): T | undefined
  /** undefined: nothing is in flight. */
  oldestId(): number | undefined
  /** Leaves nothing behind. @returns all, oldest first */
  drain(): T[]
  readonly size: number
}

export const createInFlight = <T extends object>(): InFlight<T> => {
  /** Numbers only: tables that are kept alive by others then keep nothing alive. */
  const slots = new Map<number, number>()
  /** As long as there has been most in flight. */
  const entries: (T | undefined)[] = []
  const free: number[] = []

  const remove = (id: number): T | undefined => {
    const slot = slots.get(id)
    if (slot === undefined) return undefined
    const entry = entries[slot]
    slots.delete(id)
    entries[slot] = undefined
    free.push(slot)
    return entry
  }

  return {
    add: (id, entry) => {
      const slot = slots.get(id) ?? free.pop() ?? entries.length
      entries[slot] = entry
      slots.set(id, slot)
    },
    get: (id) => {
      const slot = slots.get(id)
      return slot === undefined ? undefined : entries[slot]
    },
    remove,
    oldestId: () => slots.keys().next().value,
    drain: () => [...slots.keys()].flatMap((id) => remove(id) ?? []),
    get size() {
      return slots.size
    },
  }
}
