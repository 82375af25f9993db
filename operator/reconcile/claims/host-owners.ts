// Decides which namespace a host pattern belongs to: that whose annotation names it most closely; of equals the one that
// has it keeps it, else it is that of the oldest valid document that claims it. Lists for each document the hosts that belong to another namespace. Only documents with a host
// that several namespaces claim cost time.

import { isSameSet } from '../../../base/same-entries.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import { hostKey } from '../../../language/routes/host-pattern.ts'
import { type ApiSpecificationResource, byAge } from '../../resource/resource.ts'
import { KeyIndex } from '../key-index.ts'
import { type HostGrant, rankOfGrant } from './host-grants.ts'

export interface HostClaimant {
  readonly key: string
  readonly resource: ApiSpecificationResource
  /** What may be sent if it gets its hosts. */
  readonly candidate: DesiredDocument | undefined
  readonly lastGood: DesiredDocument | undefined
  /** Paused: the candidate is validated and claims nothing. */
  readonly isHeld: boolean
  /** The rights of its namespace. */
  readonly grant: HostGrant
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
  #owners: HostSettlement['owners'] = new Map()
  #ousted: ReadonlySet<string> = NONE

  /**
   * Keys of claimants whose last good version has a host that was given, by an annotation which names it more closely, to
   * another namespace: it may not serve any longer.
   */
  get ousted(): ReadonlySet<string> {
    return this.#ousted
  }

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
      const { lost, owners, ousted } = this.#settleAll(refused)
      this.#lost = lost
      this.#owners = owners
      this.#ousted = ousted
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
      const isTaken = (host: string): boolean => isOfOther(this.#owners.get(host), namespace)
      return (
        (!this.#ousted.has(key) && this.#hostsOf(lastGood).some(isTaken)) ||
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
   * Among claimants of equal rank, those that ask for no other hosts than they have come first, so that no older document takes a host
   * from them later. Those that move come before the new ones, since a claimant that is rejected keeps the hosts it would
   * leave.
   */
  #settleAll(refused: ReadonlySet<string>): HostSettlement {
    const claimants = this.#contesting(refused)
    const turns = claimants.flatMap((claimant) =>
      this.#stepsOf(claimant).map((step): Turn => {
        const { candidate, lastGood, grant, isHeld } = claimant
        const document = isHeld && step === 'stays' ? lastGood : (candidate ?? lastGood)
        return { step, claimant, rank: rankOf(document, grant) }
      }),
    )
    const owners = new Map<string, HostOwner>()
    const lost = new Map<string, readonly string[]>()
    for (const turn of turns.sort(inTurn)) this.#take(turn, owners, lost)
    const ousted = new Set<string>()
    for (const { key, resource, lastGood, grant } of claimants) {
      const { namespace } = resource.metadata
      const rank = rankOf(lastGood, grant)
      const isOusted = this.#hostsOf(lastGood).some((host) => {
        const owner = owners.get(host)
        return isOfOther(owner, namespace) && owner.rank > rank
      })
      if (isOusted) ousted.add(key)
    }
    return { lost, owners, ousted }
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
    { step, rank, claimant }: Turn,
    owners: Map<string, HostOwner>,
    lost: Map<string, readonly string[]>,
  ): void {
    const { key, resource, candidate, lastGood, isHeld } = claimant
    const { namespace } = resource.metadata
    const wanted = this.#hostsOf(isHeld && step === 'stays' ? undefined : candidate)
    const theirs = wanted.filter((host) => isOfOther(owners.get(host), namespace))
    if (theirs.length > 0) lost.set(key, theirs)
    if (step === 'waits') return
    const isTaken = candidate !== undefined && !isHeld && theirs.length === 0
    for (const host of isTaken ? wanted : this.#hostsOf(lastGood)) {
      if (!owners.has(host)) owners.set(host, { namespace, rank })
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
  readonly owners: ReadonlyMap<string, HostOwner>
  readonly ousted: ReadonlySet<string>
}

interface HostOwner {
  readonly namespace: string
  readonly rank: number
}

/** When a claimant takes hosts: the higher the rank the sooner. */
interface Turn {
  readonly step: ClaimStep
  readonly claimant: HostClaimant
  readonly rank: number
}

type ClaimStep = 'stays' | 'moves' | 'comes' | 'waits'

const CLAIM_STEPS = ['stays', 'moves', 'comes', 'waits'] as const satisfies readonly ClaimStep[]

const NO_HOSTS: readonly string[] = []
const NONE: ReadonlySet<string> = new Set()

const isOfOther = (owner: HostOwner | undefined, namespace: string): owner is HostOwner =>
  owner !== undefined && owner.namespace !== namespace

const rankOf = (document: DesiredDocument | undefined, grant: HostGrant): number =>
  document === undefined ? 0 : rankOfGrant(grant, document.hosts)

const inTurn = (left: Turn, right: Turn): number => {
  if (left.rank !== right.rank) return left.rank > right.rank ? -1 : 1
  const steps = CLAIM_STEPS.indexOf(left.step) - CLAIM_STEPS.indexOf(right.step)
  return steps === 0 ? oldestFirst(left.claimant, right.claimant) : steps
}

const oldestFirst = (left: HostClaimant, right: HostClaimant): number =>
  byAge(left.resource, right.resource)

const DECIDING = ['candidate', 'lastGood', 'isHeld', 'grant'] as const

/** Whether both want and have the same. */
const isSameClaimant = (left: HostClaimant | undefined, right: HostClaimant | undefined): boolean =>
  DECIDING.every((member) => left?.[member] === right?.[member]) &&
  left?.resource.metadata.createdAt === right?.resource.metadata.createdAt
