// Queues items in groups that are served in turn (round robin), so that a group with a thousand items delays any other
// by at most one item. Within a group the order is first in, first out.

/**
 * It has no bound of its own: the code that fills it drops something once `size` is too large, such as the newest item of the
 * longest group.
 * @example
 * const queue = new FairQueue<Job>()
 * queue.push(namespace, job)
 * for (let job = queue.shift(); job !== undefined; job = queue.shift()) await job.start()
 */
export class FairQueue<T, G = string> {
  /** Never an empty set. The group whose turn it is comes first. */
  readonly #groups = new Map<G, Set<T>>()
  #size = 0

  /** Items, of all groups. */
  get size(): number {
    return this.#size
  }

  sizeOf(group: G): number {
    return this.#groups.get(group)?.size ?? 0
  }

  /** The last of its group. One that waits already stays where it is. */
  push(group: G, item: T): void {
    const items = this.#groups.get(group)
    if (items?.has(item) === true) return
    if (items === undefined) this.#groups.set(group, new Set([item]))
    else items.add(item)
    this.#size += 1
  }

  /** False: it is not here (any more). */
  remove(group: G, item: T): boolean {
    const items = this.#groups.get(group)
    if (items?.delete(item) !== true) return false
    if (items.size === 0) this.#groups.delete(group)
    this.#size -= 1
    return true
  }

  /**
   * Takes out the oldest item of the group whose turn it is.
   * @param prefers first of all a group of which it says true, if there is any
   */
  shift(prefers?: (group: G) => boolean): T | undefined {
    const group = this.takeTurn(prefers)
    if (group === undefined) return undefined
    const item = this.oldest(group)
    if (item !== undefined) this.remove(group, item)
    return item
  }

  /** The group whose turn it is: from now on all others come before it. */
  takeTurn(prefers?: (group: G) => boolean): G | undefined {
    const group = this.#nextGroup(prefers)
    const items = group === undefined ? undefined : this.#groups.get(group)
    if (group === undefined || items === undefined) return undefined
    this.#groups.delete(group)
    this.#groups.set(group, items)
    return group
  }

  oldest(group: G): T | undefined {
    const [first] = this.#groups.get(group) ?? []
    return first
  }

  /** Goes through all of the group. */
  newest(group: G): T | undefined {
    let last: T | undefined
    for (const item of this.#groups.get(group) ?? []) last = item
    return last
  }

  /**
   * The group with the most items. Of several with as many it is that of the highest rank, then the one whose turn is the
   * furthest away.
   */
  longest(rankOf: (group: G) => number = unranked): G | undefined {
    let longest: G | undefined
    let most = 0
    let rank = -Infinity
    for (const [group, { size }] of this.#groups) {
      if (size < most) continue
      const ownRank = rankOf(group)
      if (size === most && ownRank < rank) continue
      longest = group
      most = size
      rank = ownRank
    }
    return longest
  }

  #nextGroup(prefers?: (group: G) => boolean): G | undefined {
    if (prefers !== undefined)
      for (const group of this.#groups.keys()) if (prefers(group)) return group
    const [first] = this.#groups.keys()
    return first
  }
}

const unranked = (): number => 0
