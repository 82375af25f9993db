// Which namespace a host pattern belongs to: that of the oldest document that is good and claims it; who has it
// already keeps it. Says of each document which of its hosts are another namespace's.

import type { DesiredDocument } from '../../desired-set.ts'
import { type ApiSpecificationResource, byAge } from '../../resource/resource.ts'

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
  #claimants: readonly HostClaimant[] = []
  #lost: LostHosts = new Map()
  /** Host → namespace; of those that several want. */
  #owners: ReadonlyMap<string, string> = new Map()

  /**
   * The same map is given back where nothing changed.
   * @param refused keys of those that may not have what they want for another reason: it is not theirs, then
   */
  settle(standing: readonly HostClaimant[], refused: ReadonlySet<string> = NONE): LostHosts {
    const claimants = withHeld(standing, refused)
    if (!sameClaimants(claimants, this.#claimants)) {
      const { lost, owners } = this.#settleAll(claimants)
      this.#lost = lost
      this.#owners = owners
    }
    this.#claimants = claimants
    return this.#lost
  }

  /** What `settle` would give; nothing changes. */
  preview(standing: readonly HostClaimant[], refused: ReadonlySet<string>): LostHosts {
    return this.#settleAll(withHeld(standing, refused)).lost
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

  /**
   * Those that want no other hosts than they have come first: an older document that comes to want a host takes it
   * from nobody. Those that move come before the new ones, since what they are refused to leave they keep.
   */
  #settleAll(all: readonly HostClaimant[]): HostSettlement {
    const claimants = this.#contesting(all)
    const turns: Record<ClaimStep, HostClaimant[]> = { stays: [], moves: [], comes: [], waits: [] }
    for (const claimant of claimants)
      this.#turnOf(claimant).forEach((turn) => turns[turn].push(claimant))
    const owners = new Map<string, string>()
    const lost = new Map<string, readonly string[]>()
    for (const turn of CLAIM_STEPS) {
      for (const claimant of turns[turn].sort(oldestFirst)) this.#take(turn, claimant, owners, lost)
    }
    return { lost, owners }
  }

  /** Hosts that only one namespace knows are nobody else's: nearly all. */
  #contesting(claimants: readonly HostClaimant[]): readonly HostClaimant[] {
    const namespaces = new Map<string, string>()
    const contested = new Set<string>()
    const note = (host: string, namespace: string): void => {
      const other = namespaces.get(host)
      if (other === undefined) namespaces.set(host, namespace)
      else if (other !== namespace) contested.add(host)
    }
    for (const { resource, candidate, lastGood } of claimants) {
      const { namespace } = resource.metadata
      for (const host of this.#hostsOf(candidate)) note(host, namespace)
      if (lastGood === candidate) continue
      for (const host of this.#hostsOf(lastGood)) note(host, namespace)
    }
    if (contested.size === 0) return []
    const isContested = (host: string): boolean => contested.has(host)
    return claimants.filter(
      ({ candidate, lastGood }) =>
        this.#hostsOf(candidate).some(isContested) || this.#hostsOf(lastGood).some(isContested),
    )
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

const withHeld = (
  standing: readonly HostClaimant[],
  refused: ReadonlySet<string>,
): readonly HostClaimant[] =>
  refused.size === 0
    ? standing
    : standing.map((each) => (refused.has(each.key) ? { ...each, isHeld: true } : each))

type ClaimStep = 'stays' | 'moves' | 'comes' | 'waits'

const CLAIM_STEPS = ['stays', 'moves', 'comes', 'waits'] as const satisfies readonly ClaimStep[]

const NO_HOSTS: readonly string[] = []
const NONE: ReadonlySet<string> = new Set()

const oldestFirst = (left: HostClaimant, right: HostClaimant): number =>
  byAge(left.resource, right.resource)

const sameClaimants = (left: readonly HostClaimant[], right: readonly HostClaimant[]): boolean =>
  left.length === right.length &&
  left.every((claimant, i) => {
    const other = right[i]
    if (claimant === other) return true
    return (
      claimant.key === other?.key &&
      claimant.candidate === other.candidate &&
      claimant.lastGood === other.lastGood &&
      claimant.isHeld === other.isHeld &&
      claimant.resource.metadata.createdAt === other.resource.metadata.createdAt
    )
  })
