// Queues the tickets that wait for a slot. Clients take turns, whatever number of tickets each of them has waiting;
// within one client the tickets are first in, first out.

export interface Waiting {
  /**
   * The client that it is for. undefined: one of many behind a proxy, which nobody can tell apart: such a ticket
   * counts as a client of its own.
   */
  readonly from: string | undefined
}

export interface WaitingLine<T extends Waiting> {
  readonly size: number
  /** How many tickets of the same client wait. */
  countOf(ticket: T): number
  /** The tickets of whoever has most of them. */
  longest(): readonly T[]
  add(ticket: T, timer: NodeJS.Timeout): void
  /** False: it does not wait. */
  remove(ticket: T): boolean
  /** Takes out the ticket whose turn it is; one of those that `isPreferred` says true of, if there is any. */
  take(isPreferred: (ticket: T) => boolean): T | undefined
}

export const createWaitingLine = <T extends Waiting>(): WaitingLine<T> => {
  // Insertion order is the order of turns, and within a client that of arrival; deletion from the middle is cheap.
  const clients = new Map<string | T, Map<T, NodeJS.Timeout>>()
  let size = 0

  const remove = (ticket: T): boolean => {
    const key = ticket.from ?? ticket
    const tickets = clients.get(key)
    const timer = tickets?.get(ticket)
    if (tickets === undefined || timer === undefined) return false
    clearTimeout(timer)
    tickets.delete(ticket)
    if (tickets.size === 0) clients.delete(key)
    size--
    return true
  }

  const firstOf = (isPreferred: (ticket: T) => boolean): T | undefined => {
    let otherwise: T | undefined
    for (const tickets of clients.values()) {
      const [first] = tickets.keys()
      if (first !== undefined && isPreferred(first)) return first
      otherwise ??= first
    }
    return otherwise
  }

  return {
    get size() {
      return size
    },
    countOf: (ticket) => clients.get(ticket.from ?? ticket)?.size ?? 0,
    longest: () => {
      let longest: Map<T, NodeJS.Timeout> | undefined
      for (const tickets of clients.values())
        if (tickets.size > (longest?.size ?? 0)) longest = tickets
      return [...(longest?.keys() ?? [])]
    },
    add: (ticket, timer) => {
      const key = ticket.from ?? ticket
      const tickets = clients.get(key) ?? new Map<T, NodeJS.Timeout>()
      tickets.set(ticket, timer)
      clients.set(key, tickets)
      size++
    },
    remove,
    take: (isPreferred) => {
      const ticket = firstOf(isPreferred)
      if (ticket === undefined) return undefined
      remove(ticket)
      const key = ticket.from ?? ticket
      const others = clients.get(key)
      if (others !== undefined) {
        // Behind all others until its next turn.
        clients.delete(key)
        clients.set(key, others)
      }
      return ticket
    },
  }
}
