// Decides which namespace a host pattern belongs to: that of the oldest document that is good and claims it; who has it
// already keeps it. Says of each document which of its hosts are another namespace's, at the cost of those that want a
// host which several namespaces know.

import type { DesiredDocument } from '../../desired-set.ts'
import { type ApiSpecificationResource, byAge } from '../../resource/resource.ts'
import { KeyIndex } from '../key-index.ts'

export interface HostClaimant {
  readonly key: string
  readonly resource: ApiSpecificationResource
  /** What may be put, but for its hosts. */
  readonly candidate: DesiredDocument | undefined
  readonly lastGood: DesiredDocument | undefined
  /** Paused: the candidate is validated and claims nothing. */
  readonly isHeld: boolean
}

/** Key of a document → keys of the hosts of its candidate that belong to another namespace. */
export type LostHosts = ReadonlyMap<string, readonly string[]>

export class HostOwners {
  readonly #hosts = new WeakMap<DesiredDocument, readonly string[]>()
  readonly #claimants = new Map<string, HostClaimant>()
  /** Host → keys of those that want it, or have it. */
  readonly #known = new KeyIndex()
  /** Host → namespace → how many of it know the host. */
  readonly #namespaces = new Map<string, Map<string, number>>()
  /** Hosts that several namespaces know: nearly none. */
  readonly #contested = new Set<string>()
  #isSettled = true
  #refused: ReadonlySet<string> = NONE
  #lost: LostHosts = new Map()
  /** Host → namespace; of those that several want. */
  #owners: ReadonlyMap<string, string> = new Map()

  /** Takes what an owner of its id wants from now on; undefined: it is none. */
  replace(key: string, claimant: HostClaimant | undefined): void {
    const before = this.#claimants.get(key)
    const hosts = this.#exchange(key, claimant)
    if (isSameClaimant(before, claimant)) return
    this.#isSettled &&= !hosts.some((host) => this.#contested.has(host))
  }

  /**
   * The same map is given back where nothing changed.
   * @param refused keys of those that may not have what they want for another reason: it is not theirs, then
   */
  settle(refused: ReadonlySet<string> = NONE): LostHosts {
    if (!this.#isSettled || !isSameSet(refused, this.#refused)) {
      const { lost, owners } = this.#settleAll(refused)
      this.#lost = lost
      this.#owners = owners
    }
    this.#isSettled = true
    this.#refused = new Set(refused)
    return this.#lost
  }

  /** What `settle` would give with other claimants in the place of those of the same keys; nothing changes. */
  preview(
    others: ReadonlyMap<string, HostClaimant | undefined>,
    refused: ReadonlySet<string>,
  ): LostHosts {
    const before = Array.from(others.keys(), (key) => [key, this.#claimants.get(key)] as const)
    for (const [key, claimant] of others) this.#exchange(key, claimant)
    const { lost } = this.#settleAll(refused)
    for (const [key, claimant] of before) this.#exchange(key, claimant)
    return lost
  }

  /** Of some those that want a host which others have just lost, or leave one to others that they do not leave; oldest first. */
  inTheWay(claimants: readonly HostClaimant[]): readonly HostClaimant[] {
    if (this.#owners.size === 0) return []
    const hosts = new Set([...this.#lost.values()].flat())
    const inTheWay = claimants.filter(({ key, resource, candidate, lastGood }) => {
      const { namespace } = resource.metadata
      const isTaken = (host: string): boolean => (this.#owners.get(host) ?? namespace) !== namespace
      return (
        this.#hostsOf(lastGood).some(isTaken) ||
        (!this.#lost.has(key) && this.#hostsOf(candidate).some((host) => hosts.has(host)))
      )
    })
    return inTheWay.sort(oldestFirst)
  }

  /** @returns hosts that it wants or has, before or after */
  #exchange(key: string, claimant: HostClaimant | undefined): readonly string[] {
    const before = this.#claimants.get(key)
    if (claimant === undefined) this.#claimants.delete(key)
    else this.#claimants.set(key, claimant)
    const [had, has] = [this.#hostsKnownTo(before), this.#hostsKnownTo(claimant)]
    const hosts = new Set([...had, ...has])
    const contested = [...hosts].filter((host) => this.#contested.has(host))
    const { namespace = '' } = (claimant ?? before)?.resource.metadata ?? {}
    for (const host of had) {
      if (has.has(host)) continue
      this.#known.remove(host, key)
      this.#count(host, namespace, -1)
    }
    for (const host of has) {
      if (had.has(host)) continue
      this.#known.add(host, key)
      this.#count(host, namespace, 1)
    }
    // One that is contested no more concerns the others that know it.
    if (contested.some((host) => !this.#contested.has(host))) this.#isSettled = false
    return [...hosts]
  }

  #count(host: string, namespace: string, by: 1 | -1): void {
    const counts = this.#namespaces.get(host) ?? new Map<string, number>()
    const count = (counts.get(namespace) ?? 0) + by
    if (count === 0) counts.delete(namespace)
    else counts.set(namespace, count)
    if (counts.size === 0) this.#namespaces.delete(host)
    else this.#namespaces.set(host, counts)
    if (counts.size > 1) this.#contested.add(host)
    else this.#contested.delete(host)
  }

  #hostsKnownTo(claimant: HostClaimant | undefined): ReadonlySet<string> {
    if (claimant === undefined) return NONE
    const { candidate, lastGood } = claimant
    return new Set([...this.#hostsOf(candidate), ...this.#hostsOf(lastGood)])
  }

  /**
   * Those that want no other hosts than they have come first: an older document that comes to want a host takes it
   * from nobody. Those that move come before the new ones, since what they are refused to leave they keep.
   */
  #settleAll(refused: ReadonlySet<string>): HostSettlement {
    const turns: Record<ClaimStep, HostClaimant[]> = { stays: [], moves: [], comes: [], waits: [] }
    for (const claimant of this.#contesting(refused))
      this.#turnOf(claimant).forEach((turn) => turns[turn].push(claimant))
    const owners = new Map<string, string>()
    const lost = new Map<string, readonly string[]>()
    for (const turn of CLAIM_STEPS) {
      for (const claimant of turns[turn].sort(oldestFirst)) this.#take(turn, claimant, owners, lost)
    }
    return { lost, owners }
  }

  #contesting(refused: ReadonlySet<string>): readonly HostClaimant[] {
    const keys = new Set<string>()
    for (const host of this.#contested) for (const key of this.#known.of(host)) keys.add(key)
    return [...keys].flatMap((key) => {
      const claimant = this.#claimants.get(key)
      if (claimant === undefined) return []
      return [refused.has(key) ? { ...claimant, isHeld: true } : claimant]
    })
  }

  #turnOf({ candidate, lastGood, isHeld }: HostClaimant): readonly ClaimStep[] {
    if (isHeld) return candidate === undefined ? ['stays'] : ['stays', 'waits']
    if (lastGood === undefined) return ['comes']
    const had = this.#hostsOf(lastGood)
    return this.#hostsOf(candidate).every((host) => had.includes(host)) ? ['stays'] : ['moves']
  }

  #take(
    turn: ClaimStep,
    { key, resource, candidate, lastGood, isHeld }: HostClaimant,
    owners: Map<string, string>,
    lost: Map<string, readonly string[]>,
  ): void {
    const { namespace } = resource.metadata
    const wanted = this.#hostsOf(isHeld && turn === 'stays' ? undefined : candidate)
    const theirs = wanted.filter((host) => (owners.get(host) ?? namespace) !== namespace)
    if (theirs.length > 0) lost.set(key, theirs)
    if (turn === 'waits') return
    const isTaken = candidate !== undefined && !isHeld && theirs.length === 0
    for (const host of isTaken ? wanted : this.#hostsOf(lastGood)) {
      if (!owners.has(host)) owners.set(host, namespace)
    }
  }

  /** A document without routes has none: it claims nothing. */
  #hostsOf(document: DesiredDocument | undefined): readonly string[] {
    if (document === undefined) return NO_HOSTS
    const known = this.#hosts.get(document)
    if (known !== undefined) return known
    const hosts = [...new Set(document.claims.map(({ key }) => key.slice(0, key.indexOf('\t'))))]
    this.#hosts.set(document, hosts)
    return hosts
  }
}

interface HostSettlement {
  readonly lost: LostHosts
  readonly owners: ReadonlyMap<string, string>
}

type ClaimStep = 'stays' | 'moves' | 'comes' | 'waits'

const CLAIM_STEPS = ['stays', 'moves', 'comes', 'waits'] as const satisfies readonly ClaimStep[]

const NO_HOSTS: readonly string[] = []
const NONE: ReadonlySet<string> = new Set()

const oldestFirst = (left: HostClaimant, right: HostClaimant): number =>
  byAge(left.resource, right.resource)

/** Whether both want and have the same. */
const isSameClaimant = (left: HostClaimant | undefined, right: HostClaimant | undefined): boolean =>
  left?.candidate === right?.candidate &&
  left?.lastGood === right?.lastGood &&
  left?.isHeld === right?.isHeld &&
  left?.resource.metadata.createdAt === right?.resource.metadata.createdAt

const isSameSet = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  left.size === right.size && [...left].every((each) => right.has(each))
