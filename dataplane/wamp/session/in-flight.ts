// Keeps the requests of a session that wait for a response, oldest first, as a list whose links are in the entries;
// autobahn finds them by id. A Map or Set of them would do, were it not for V8: one that is resized leaves its old table
// behind, which points to the new one, and once one such table is old garbage it keeps all later ones alive, with
// everything they reference, until the next major collection; collections of young garbage took ten times as long. An
// entry that is removed points to no other.

/** An entry of a list, one list at a time; the members are the list's. */
export interface Linked<T> {
  isInFlight: boolean
  older: T | undefined
  younger: T | undefined
}

export interface InFlight<T> {
  add(entry: T): void
  /** False: it is not in the list. */
  remove(entry: T): boolean
  /** undefined: nothing is in flight. */
  oldest(): T | undefined
  /** Removes all. @returns them, oldest first */
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
