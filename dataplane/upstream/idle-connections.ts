// Bounds how many idle connections to upstreams a process keeps, over all origins: the longest idle one is closed for
// another. Data may choose origins, and an upstream how long its connections are kept.

/** The pool that an idle connection is in. */
interface IdleOwner<C> {
  drop(connection: C): void
}

/** More than a process needs that has few requests at once; of their file descriptors the listeners need some, too. */
const MOST_IDLE = 2000

/**
 * @example
 * const idle = new IdleConnections<Connection>()
 * idle.add(connection, pool)
 */
export class IdleConnections<C> {
  readonly #most: number
  /** The longest idle first. */
  readonly #owners = new Map<C, IdleOwner<C>>()

  constructor(most = MOST_IDLE) {
    this.#most = most
  }

  add(connection: C, owner: IdleOwner<C>): void {
    this.#owners.set(connection, owner)
    if (this.#owners.size <= this.#most) return
    for (const [longest, itsOwner] of this.#owners) {
      this.#owners.delete(longest)
      itsOwner.drop(longest)
      return
    }
  }

  /** Call it when it is busy or closed. */
  delete(connection: C): void {
    this.#owners.delete(connection)
  }
}
