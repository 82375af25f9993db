// Decides which namespace a host pattern belongs to: the one that has it keeps it, else it is that of the oldest valid
// document that claims it. Lists for each document the hosts that belong to another namespace. Only documents with a host
// that several namespaces claim cost time.

import type { DesiredDocument } from '../../desired-set.ts'
import { hostKey } from '../../../language/routes/host-pattern.ts'
import { type ApiSpecificationResource, byAge } from '../../resource/resource.ts'
import { KeyIndex } from '../key-index.ts'

export interface HostClaimant {
  readonly key: string
  readonly resource: ApiSpecificationResource
  /** What may be sent if it gets its hosts. */
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
  /** Host → keys of the claimants that ask for it or have it. */
  readonly #known = new KeyIndex()
  /** Host → namespace → how many of its claimants ask for the host or have it. */
  readonly #namespaces = new Map<string, Map<string, number>>()
  /** Hosts of several namespaces: hardly any. */
  readonly #contested = new Set<string>()
  #isSettled = true
  #refused: ReadonlySet<string> = NONE
  #lost: LostHosts = new Map()
  /** Contested host → its namespace. */
  #owners: ReadonlyMap<string, string> = new Map()

  /** @param claimant the owner of its id from now on; undefined: the resource owns none */
  replace(key: string, claimant: HostClaimant | undefined): void {
    const before = this.#claimants.get(key)
    const hosts = this.#exchange(key, claimant)
    if (isSameClaimant(before, claimant)) return
    this.#isSettled &&= !hosts.some((host) => this.#contested.has(host))
  }

  /**
   * @param refused keys of claimants that are rejected for another reason, and get no hosts for their candidates
   * @returns the same map where nothing has changed
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

  /** What `settle` would give if these claimants replaced those with the same keys; nothing changes. */
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

  /**
   * Those of `claimants` that ask for a host which others have just lost, or serve one that others have been given; the
   * oldest first.
   */
  blocking(claimants: readonly HostClaimant[]): readonly HostClaimant[] {
    if (this.#owners.size === 0) return []
    const hosts = new Set([...this.#lost.values()].flat())
    const blocking = claimants.filter(({ key, resource, candidate, lastGood }) => {
      const { namespace } = resource.metadata
      const isTaken = (host: string): boolean => (this.#owners.get(host) ?? namespace) !== namespace
      return (
        this.#hostsOf(lastGood).some(isTaken) ||
        (!this.#lost.has(key) && this.#hostsOf(candidate).some((host) => hosts.has(host)))
      )
    })
    return blocking.sort(oldestFirst)
  }

  /** @returns hosts that it asked for or had before, or does now */
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
    // A host that is not contested any more concerns its other claimants too.
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
   * Claimants that ask for no other hosts than they have come first, so that no older document takes a host from them
   * later. Those that move come before the new ones, since a claimant that is rejected keeps the hosts it would leave.
   */
  #settleAll(refused: ReadonlySet<string>): HostSettlement {
    const bySteps: Record<ClaimStep, HostClaimant[]> = {
      stays: [],
      moves: [],
      comes: [],
      waits: [],
    }
    for (const claimant of this.#contesting(refused))
      this.#stepsOf(claimant).forEach((step) => bySteps[step].push(claimant))
    const owners = new Map<string, string>()
    const lost = new Map<string, readonly string[]>()
    for (const step of CLAIM_STEPS) {
      for (const claimant of bySteps[step].sort(oldestFirst))
        this.#take(step, claimant, owners, lost)
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

  #stepsOf({ candidate, lastGood, isHeld }: HostClaimant): readonly ClaimStep[] {
    if (isHeld) return candidate === undefined ? ['stays'] : ['stays', 'waits']
    if (lastGood === undefined) return ['comes']
    const had = this.#hostsOf(lastGood)
    return this.#hostsOf(candidate).every((host) => had.includes(host)) ? ['stays'] : ['moves']
  }

  #take(
    step: ClaimStep,
    { key, resource, candidate, lastGood, isHeld }: HostClaimant,
    owners: Map<string, string>,
    lost: Map<string, readonly string[]>,
  ): void {
    const { namespace } = resource.metadata
    const wanted = this.#hostsOf(isHeld && step === 'stays' ? undefined : candidate)
    const theirs = wanted.filter((host) => (owners.get(host) ?? namespace) !== namespace)
    if (theirs.length > 0) lost.set(key, theirs)
    if (step === 'waits') return
    const isTaken = candidate !== undefined && !isHeld && theirs.length === 0
    for (const host of isTaken ? wanted : this.#hostsOf(lastGood)) {
      if (!owners.has(host)) owners.set(host, namespace)
    }
  }

  /** All that the document names, whatever it has there: `/ws` alone, or nothing now. */
  #hostsOf(document: DesiredDocument | undefined): readonly string[] {
    if (document === undefined) return NO_HOSTS
    const known = this.#hosts.get(document)
    if (known !== undefined) return known
    const hosts = [...new Set(document.hosts.map(hostKey))]
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
