// Settles which document has each id, host and path as documents change, to a fixpoint (docs/decisions/0014). The work of a
// change is in proportion to what it touches, and to what is in conflict; nothing else is looked at.

import { type ApplicantChanges, Settlement } from '../claims/settlement.ts'
import { HostOwners, type LostHosts } from '../claims/host-owners.ts'
import { IdOwners } from '../claims/id-owners.ts'
import { isRenamed } from '../claims/owners.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import { changedKeys } from '../../edited-map.ts'
import { refusedRenames } from './refused-renames.ts'
import {
  NO_CLASHES,
  NO_LOST_HOSTS,
  type Stand,
  type ValidatedDocument,
} from './validated-document.ts'

/** Key → what the resource says now, undefined: it is gone. */
export type ValidatedChanges = ReadonlyMap<string, ValidatedDocument | undefined>

/** What may have changed since the last time. */
export interface Touched {
  /** Of which the owner, or what is to be put, may be another one. */
  readonly ids: ReadonlySet<string>
  /** Of resources that stand otherwise to the others. */
  readonly keys: ReadonlySet<string>
}

export class ClaimResolution {
  readonly owners = new IdOwners<ValidatedDocument>()
  readonly settlement = new Settlement()
  /** Undefined: any namespace may claim what another has. */
  readonly hosts: HostOwners | undefined
  /** Keys of those that would change their ids. */
  readonly #renamed = new Set<string>()
  /** Key → as it asked, and why it stays what it was. */
  #refusedRenames = new Map<string, { readonly asked: ValidatedDocument; readonly stand: Stand }>()
  #lostHosts: LostHosts = NO_LOST_HOSTS
  #refusedHosts: ReadonlySet<string> = new Set()
  #documents: ReadonlyMap<string, DesiredDocument> = new Map()
  /** Ids that are to be settled. */
  readonly #open = new Set<string>()

  /** @param ownership shared: any namespace may claim what another has */
  constructor(ownership: 'strict' | 'shared') {
    this.hosts = ownership === 'strict' ? new HostOwners() : undefined
  }

  /** id → what is to be put. The same map where nothing changed: a refused rename is settled twice, and comes out the same. */
  get documents(): ReadonlyMap<string, DesiredDocument> {
    return this.#documents
  }

  /** Keys of those that may not have the hosts they want for another reason. */
  get refusedHosts(): ReadonlySet<string> {
    return this.#refusedHosts
  }

  /** How it stands to the others, as it asked. */
  standOf(asked: ValidatedDocument): Stand {
    return this.#refusedRenames.get(asked.key)?.stand ?? this.#standNow(asked)
  }

  /**
   * Whoever may not have the id it names goes on serving under the one it had. What that takes back may refuse
   * another's: each round refuses one more at least, and after some rounds whole namespaces (refused-renames.ts).
   */
  resolve(changes: ValidatedChanges): Touched {
    const ids = new Set<string>()
    const keys = new Set([...this.#refusedRenames.keys(), ...this.#inConflict()])
    for (const [key, { asked }] of this.#refusedRenames)
      if (!changes.has(key)) this.#replace(key, asked)
    this.#refusedRenames = new Map()
    for (const [key, validated] of changes) this.#replace(key, validated)
    for (let round = 0; ; round += 1) {
      this.#settle(ids)
      const renamed = [...this.#renamed].flatMap((key) => this.owners.claimant(key) ?? [])
      const { documents } = this.settlement
      const standOf = (each: ValidatedDocument): Stand => this.#standNow(each)
      const refused = refusedRenames(renamed, { standOf, documents }, round)
      if (refused.size === 0) break
      for (const [asked, stand] of refused) {
        this.#refusedRenames.set(asked.key, { asked, stand })
        this.#replace(asked.key, stay(asked))
      }
    }
    for (const key of [...this.#refusedRenames.keys(), ...this.#inConflict()]) keys.add(key)
    const changedIds = changedKeys(this.#documents, this.settlement.documents)
    if (changedIds.size > 0) this.#documents = this.settlement.documents
    for (const id of changedIds) ids.add(id)
    return { ids, keys }
  }

  #replace(key: string, validated: ValidatedDocument | undefined): void {
    this.owners.replace(key, validated)
    if (validated !== undefined && isRenamed(validated)) this.#renamed.add(key)
    else this.#renamed.delete(key)
  }

  /**
   * Who has a host depends on who is accepted, and who is accepted on who has the host. So whoever loses a path or a
   * host, and keeps a host from others or serves one that it was to leave, is refused for good, the oldest first, and
   * all is settled again: each round refuses one more. What serves keeps its hosts, so the next time it is the same.
   * A crowd in the way is refused in growing parts: rounds without end would hold up everybody.
   */
  #settle(touched: Set<string>): void {
    this.#settleOwners(touched)
    const refused = new Set<string>()
    for (let round = 0; ; round += 1) {
      this.#takeLostHosts(this.hosts?.settle(refused) ?? NO_LOST_HOSTS)
      this.settlement.settle(this.#takeApplicants())
      const inTheWay = this.hosts?.inTheWay(this.#losers(refused)) ?? []
      if (inTheWay.length === 0) break
      for (const { key } of inTheWay.slice(0, refusalsOf(round))) refused.add(key)
    }
    this.#refusedHosts = refused
  }

  #settleOwners(touched: Set<string>): void {
    const keys = new Set<string>()
    for (const { id, before, after } of this.owners.settle()) {
      touched.add(id)
      this.#open.add(id)
      for (const owner of [before, after]) if (owner !== undefined) keys.add(owner.key)
    }
    for (const key of keys) {
      const claimant = this.owners.claimant(key)
      const isOwner = claimant !== undefined && this.owners.isOwner(claimant)
      this.hosts?.replace(key, isOwner ? claimant : undefined)
    }
  }

  #takeLostHosts(lost: LostHosts): void {
    const before = this.#lostHosts
    if (lost === before) return
    this.#lostHosts = lost
    for (const key of [...before.keys(), ...lost.keys()]) {
      const id = this.owners.claimant(key)?.id
      if (id !== undefined && before.has(key) !== lost.has(key)) this.#open.add(id)
    }
  }

  #takeApplicants(): ApplicantChanges {
    const changes = new Map(Array.from(this.#open, (id) => [id, this.#applicantOf(id)] as const))
    this.#open.clear()
    return changes
  }

  #applicantOf(id: string): ValidatedDocument | undefined {
    const owner = this.owners.owner(id)
    const isLost = owner !== undefined && this.#lostHosts.has(owner.key)
    return isLost ? { ...owner, candidate: undefined } : owner
  }

  /** Owners that lose a path or a host, and are not refused for good yet. */
  #losers(refused: ReadonlySet<string>): readonly ValidatedDocument[] {
    const keys = new Set([...this.#inConflict()].filter((key) => !refused.has(key)))
    return [...keys].flatMap((key) => this.owners.claimant(key) ?? [])
  }

  /** Keys of owners that lose a path or a host. */
  *#inConflict(): Iterable<string> {
    for (const id of this.settlement.clashes.keys()) {
      const owner = this.owners.owner(id)
      if (owner !== undefined) yield owner.key
    }
    yield* this.#lostHosts.keys()
  }

  #standNow({ key, id }: ValidatedDocument): Stand {
    return {
      owner: this.owners.owner(id),
      isHostLost: this.#lostHosts.has(key),
      clashes: this.settlement.clashes.get(id) ?? NO_CLASHES,
      isEntangled: false,
    }
  }
}

/** One by one is exact; with hundreds each round costs as long as all else together. */
const refusalsOf = (round: number): number => 2 ** Math.max(0, round - EXACT_ROUNDS)
const EXACT_ROUNDS = 16

const stay = (validated: ValidatedDocument): ValidatedDocument => ({
  ...validated,
  id: validated.lastId ?? '',
  candidate: undefined,
})
