// Keeps what a session has asked and waits for, oldest first, as a list whose links are in the entries. By id,
// autobahn finds them. A Map or Set of them would do, were it not for V8: one that makes room leaves its old table
// behind, which points to the new one, and once one such table is old garbage it keeps all that follow alive, with
// whatever they hold, until the next major collection; collections of young garbage took ten times as long so. An
// entry that is removed points to no other.

/** An entry of a list, one list at a time; the members are the list's. */
export interface Linked<T> {
  isInFlight: boolean
  older: T | undefined
  younger: T | undefined
}

export interface InFlight<T> {
  add(entry: T): void
  /** False: it is not there. */
  remove(entry: T): boolean
  /** undefined: nothing is in flight. */
  oldest(): T | undefined
  /** Leaves nothing behind. @returns all, oldest first */
  drain(): T[]
  readonly size: number
}

export const createInFlight = <T extends Linked<T>>(): InFlight<T> => {
  let oldest: T | undefined
  let youngest: T | undefined
  let size = 0

  const remove = (entry: T): boolean => {
    if (!entry.isInFlight) return false
    const { older, younger } = entry
    if (older === undefined) oldest = younger
    else older.younger = younger
    if (younger === undefined) youngest = older
    else younger.older = older
    entry.isInFlight = false
    entry.older = undefined
    entry.younger = undefined
    size -= 1
    return true
  }

  return {
    add: (entry) => {
      entry.isInFlight = true
      entry.older = youngest
      if (youngest === undefined) oldest = entry
      else youngest.younger = entry
      youngest = entry
      size += 1
    },
    remove,
    oldest: () => oldest,
    drain: () => {
      const all: T[] = []
      while (oldest !== undefined) {
        all.push(oldest)
        remove(oldest)
      }
      return all
    },
    get size() {
      return size
    },
  }
}
