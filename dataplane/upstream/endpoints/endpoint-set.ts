// Keeps the addresses of one origin and chooses one for each request: power of two choices by the outstanding
// requests of each, with smaller shares for addresses that are new or were readmitted. It depends only on the random
// source and the clock that are passed in.

import { shareAfter } from './outlier-detector.ts'

export interface Address {
  readonly address: string
  readonly family: number
  /** Set if it is not the origin's. */
  readonly port?: number | undefined
}

/** The key of an endpoint within its origin. @example '10.1.0.4', '10.1.0.4:8080', '[fd00::4]:8080' */
const keyOf = ({ address, port }: Address): string =>
  port === undefined ? address : `${address.includes(':') ? `[${address}]` : address}:${port}`

/** One address of one origin, as long as it is known. */
export class Endpoint {
  /** Its address, with its port if that is not the origin's. */
  readonly key: string
  readonly address: string
  readonly family: number
  readonly port: number | undefined
  /** Requests that use it, also those that are still connecting to it. */
  outstanding = 0
  /** When a lookup returned it last. */
  seenMs: number
  /** Whether it may still be used; a connection to one that may not is closed after its request. */
  isKnown = true
  readonly #sinceMs: number

  constructor(address: Address, nowMs: number, sinceMs: number) {
    this.key = keyOf(address)
    this.address = address.address
    this.family = address.family
    this.port = address.port
    this.seenMs = nowMs
    this.#sinceMs = sinceMs
  }

  /** A new endpoint starts with a small share. */
  shareAt(nowMs: number): number {
    return shareAfter(nowMs - this.#sinceMs)
  }
}

/** A fraction of a full share; 0: none. */
export type ShareOf = (endpoint: Endpoint) => number

export interface Choice {
  readonly random: () => number
  /** Left out if all are healthy. The second is used if the first leaves none, and so on. */
  readonly shares?: readonly ShareOf[] | undefined
  /** Avoided if there is another. */
  readonly avoid?: Endpoint | undefined
  readonly nowMs: number
}

/** How long addresses of earlier lookups are kept, as some servers return other addresses each time. */
const KEPT_MS = 60_000
const ROTATES_MS = 300_000
const WARM_MS = 10_000

export class EndpointSet {
  /** The endpoints that requests go to. */
  members: readonly Endpoint[] = []
  readonly #known = new Map<string, Endpoint>()
  #warmUntilMs = -Infinity
  #rotatesUntilMs = -Infinity

  get size(): number {
    return this.members.length
  }

  has(key: string): boolean {
    return this.find(key) !== undefined
  }

  find(key: string): Endpoint | undefined {
    return this.members.find((each) => each.key === key)
  }

  /**
   * Adopts the result of a lookup, at most `most` addresses of it. Endpoints stay the same objects as long as their
   * address is known. An address that returns in the place of others shows that the servers return a part of their
   * addresses each time: then all that were returned within a minute are members.
   */
  update(found: readonly Address[], nowMs: number, most: number): void {
    const wasEmpty = this.#known.size === 0
    const before = new Set(this.members)
    const named = new Set<Endpoint>()
    let hasReturned = false
    for (const each of this.#firstOf(found, most)) {
      const known = this.#known.get(keyOf(each))
      if (known !== undefined && !before.has(known)) hasReturned = true
      named.add(known ?? this.#add(each, nowMs, wasEmpty))
    }
    for (const each of named) each.seenMs = nowMs
    if (hasReturned && this.members.some((each) => !named.has(each)))
      this.#rotatesUntilMs = nowMs + ROTATES_MS
    this.#forgetOld(nowMs, most)
    const isRotating = nowMs < this.#rotatesUntilMs
    this.members = [...this.#known.values()].filter((each) => isRotating || named.has(each))
  }

  /**
   * Adopts a complete list, at most `most` of it: endpoints that are not in it are dropped immediately. If none of it
   * was known before, all start with a full share.
   */
  replace(list: readonly Address[], nowMs: number, most: number): void {
    const taken = this.#firstOf(list, most)
    const keys = new Set(taken.map(keyOf))
    for (const each of this.#known.values()) if (!keys.has(each.key)) this.#forget(each)
    const isFirst = this.#known.size === 0
    for (const each of taken) {
      const endpoint = this.#known.get(keyOf(each)) ?? this.#add(each, nowMs, isFirst)
      endpoint.seenMs = nowMs
    }
    this.#rotatesUntilMs = -Infinity
    this.members = [...this.#known.values()]
  }

  /** Drops all endpoints. */
  clear(): void {
    for (const each of this.#known.values()) each.isKnown = false
    this.#known.clear()
    this.members = []
  }

  /** undefined: none is known. */
  choose(choice: Choice): Endpoint | undefined {
    const { members } = this
    if (members.length <= 1) return members[0]
    const { random, shares, avoid, nowMs } = choice
    if (shares !== undefined || avoid !== undefined || nowMs < this.#warmUntilMs)
      return this.#chooseByShare(choice)
    const first = Math.floor(random() * members.length)
    const other = (first + 1 + Math.floor(random() * (members.length - 1))) % members.length
    return lessBusy(members[first], members[other])
  }

  #chooseByShare(choice: Choice): Endpoint | undefined {
    const shares = this.#sharesOf(choice)
    const first = draw(shares, choice.random())
    if (first === undefined) return this.members[0]
    const firstShare = shares[first] ?? 0
    shares[first] = 0
    const other = draw(shares, choice.random())
    if (other === undefined) return this.members[first]
    const busyness = (this.members[first]?.outstanding ?? 0) / firstShare
    const otherBusyness = (this.members[other]?.outstanding ?? 0) / (shares[other] ?? 0)
    return this.members[otherBusyness < busyness ? other : first]
  }

  /** An endpoint to avoid is still better than one that is known to fail. */
  #sharesOf({ shares = [], avoid, nowMs }: Choice): number[] {
    for (const shareOf of [...shares, fullShare])
      for (const each of [avoid, undefined]) {
        const found = this.members.map((member) =>
          member === each ? 0 : shareOf(member) * member.shareAt(nowMs),
        )
        if (found.some((share) => share > 0)) return found
      }
    return this.members.map(fullShare)
  }

  #add(address: Address, nowMs: number, isFirst: boolean): Endpoint {
    const endpoint = new Endpoint(address, nowMs, isFirst ? -Infinity : nowMs)
    if (!isFirst) this.#warmUntilMs = nowMs + WARM_MS
    this.#known.set(endpoint.key, endpoint)
    return endpoint
  }

  /** Prefers current members, so that each lookup result of thousands leads to the same ones. */
  #firstOf(found: readonly Address[], most: number): readonly Address[] {
    if (found.length <= most) return found
    const keys = new Set(this.members.map(({ key }) => key))
    const kept = found.filter((each) => keys.has(keyOf(each))).slice(0, most)
    const others = found.filter((each) => !keys.has(keyOf(each)))
    return [...kept, ...others.slice(0, most - kept.length)]
  }

  #forgetOld(nowMs: number, most: number): void {
    for (const each of this.#known.values()) {
      const isOld = nowMs - each.seenMs > KEPT_MS
      if (isOld || (this.#known.size > 2 * most && each.seenMs < nowMs)) this.#forget(each)
    }
  }

  #forget(endpoint: Endpoint): void {
    endpoint.isKnown = false
    this.#known.delete(endpoint.key)
  }
}

const fullShare = (): number => 1

const lessBusy = (
  first: Endpoint | undefined,
  other: Endpoint | undefined,
): Endpoint | undefined =>
  first !== undefined && other !== undefined && other.outstanding < first.outstanding
    ? other
    : first

/** Draws an index with a probability in proportion to its share. */
const draw = (shares: readonly number[], random: number): number | undefined => {
  let left = random * shares.reduce((sum, share) => sum + share, 0)
  let last: number | undefined
  for (const [index, share] of shares.entries()) {
    if (share === 0) continue
    last = index
    left -= share
    if (left < 0) return index
  }
  return last
}
