// Resolves which document has each id, host and path as documents change, to a fixpoint (docs/decisions/0014). The work of
// a change is in proportion to the documents that it concerns and those in conflict.

import { type ApplicantChanges, Settlement } from '../claims/settlement.ts'
import { HostOwners, type LostHosts } from '../claims/host-owners.ts'
import { IdOwners } from '../claims/id-owners.ts'
import { isRenamed } from '../claims/owners.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import { changedKeys } from '../../edited-map.ts'
import { refusedRenames } from './refused-renames.ts'
import {
  NO_CONFLICTS,
  NO_LOST_HOSTS,
  type Stand,
  type ValidatedDocument,
} from './validated-document.ts'

/** Key → the resource as it was validated now; undefined: it is gone. */
export type ValidatedChanges = ReadonlyMap<string, ValidatedDocument | undefined>

/** What may have changed since the last call. */
export interface Touched {
  /** Ids whose owner, or version to be sent, may have changed. */
  readonly ids: ReadonlySet<string>
  /** Keys of resources whose relation to the others may have changed. */
  readonly keys: ReadonlySet<string>
}

export class ClaimResolution {
  readonly owners = new IdOwners<ValidatedDocument>()
  readonly settlement = new Settlement()
  /** Undefined: namespaces may share hosts. */
  readonly hosts: HostOwners | undefined
  /** Keys of documents that ask for another id. */
  readonly #renamed = new Set<string>()
  /** Key → the rejected document, and why it keeps its id. */
  #refusedRenames = new Map<
    string,
    { readonly submitted: ValidatedDocument; readonly stand: Stand }
  >()
  #lostHosts: LostHosts = NO_LOST_HOSTS
  #ousted: ReadonlySet<string> = new Set()
  #refusedHosts: ReadonlySet<string> = new Set()
  #documents: ReadonlyMap<string, DesiredDocument> = new Map()
  /** Ids that must be settled again. */
  readonly #open = new Set<string>()

  /** @param ownership `shared`: namespaces may share hosts */
  constructor(ownership: 'strict' | 'shared') {
    this.hosts = ownership === 'strict' ? new HostOwners() : undefined
  }

  /** id → what is to be sent. The same map where nothing has changed, although a rejected rename is settled twice. */
  get documents(): ReadonlyMap<string, DesiredDocument> {
    return this.#documents
  }

  /** Keys of documents that are rejected for good, and so get no hosts for their candidates. */
  get refusedHosts(): ReadonlySet<string> {
    return this.#refusedHosts
  }

  /** Keys of documents whose last good version has a host that was given to another namespace. */
  get ousted(): ReadonlySet<string> {
    return this.#ousted
  }

  /** How the document stands to the others with the id that it asks for. */
  standOf(submitted: ValidatedDocument): Stand {
    return this.#refusedRenames.get(submitted.key)?.stand ?? this.#standNow(submitted)
  }

  /**
   * A document that may not have the id it asks for goes on serving under its old one. As it keeps that, another one may
   * have to be rejected too: each round rejects at least one more, and after some rounds whole namespaces
   * (refused-renames.ts).
   */
  resolve(changes: ValidatedChanges): Touched {
    const ids = new Set<string>()
    const keys = new Set([...this.#refusedRenames.keys(), ...this.#inConflict()])
    for (const [key, { submitted }] of this.#refusedRenames)
      if (!changes.has(key)) this.#replace(key, submitted)
    this.#refusedRenames = new Map()
    for (const [key, validated] of changes) this.#replace(key, validated)
    for (let round = 0; ; round += 1) {
      this.#settle(ids)
      const renamed = [...this.#renamed].flatMap((key) => this.owners.claimant(key) ?? [])
      const { documents } = this.settlement
      const standOf = (each: ValidatedDocument): Stand => this.#standNow(each)
      const refused = refusedRenames(renamed, { standOf, documents }, round)
      if (refused.size === 0) break
      for (const [submitted, stand] of refused) {
        this.#refusedRenames.set(submitted.key, { submitted, stand })
        this.#replace(submitted.key, stay(submitted))
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
   * Which document has a host depends on which ones are accepted, and the other way round. So a document that loses a
   * path or a host while it blocks others (it asks for their host, or goes on serving one that it was to leave) is
   * rejected for good, the oldest first, and everything is settled again. Documents that serve keep their hosts, so the
   * next call gives the same result. Where hundreds block others, each round rejects more of them than the one before,
   * so that the number of rounds is bounded.
   */
  #settle(touched: Set<string>): void {
    this.#settleOwners(touched)
    const refused = new Set<string>()
    for (let round = 0; ; round += 1) {
      this.#takeLostHosts(this.hosts?.settle(refused) ?? NO_LOST_HOSTS)
      this.settlement.settle(this.#takeApplicants())
      const blocking = this.hosts?.blocking(this.#losers(refused)) ?? []
      if (blocking.length === 0) break
      for (const { key } of blocking.slice(0, refusalsOf(round))) refused.add(key)
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
    const [oustedBefore, ousted] = [this.#ousted, this.hosts?.ousted ?? NO_KEYS]
    this.#lostHosts = lost
    this.#ousted = ousted
    for (const key of [...before.keys(), ...lost.keys(), ...oustedBefore, ...ousted]) {
      const id = this.owners.claimant(key)?.id
      const isSame = before.has(key) === lost.has(key) && oustedBefore.has(key) === ousted.has(key)
      if (id !== undefined && !isSame) this.#open.add(id)
    }
  }

  #takeApplicants(): ApplicantChanges {
    const changes = new Map(Array.from(this.#open, (id) => [id, this.#applicantOf(id)] as const))
    this.#open.clear()
    return changes
  }

  #applicantOf(id: string): ValidatedDocument | undefined {
    const owner = this.owners.owner(id)
    if (owner === undefined) return undefined
    const { key, candidate, lastGood } = owner
    const isLost = this.#lostHosts.has(key)
    const isOusted = this.#ousted.has(key)
    if (!isLost && !isOusted) return owner
    return {
      ...owner,
      candidate: isLost ? undefined : candidate,
      lastGood: isOusted ? undefined : lastGood,
    }
  }

  /** Owners that lose a path or a host and are not rejected for good yet. */
  #losers(refused: ReadonlySet<string>): readonly ValidatedDocument[] {
    const keys = new Set([...this.#inConflict()].filter((key) => !refused.has(key)))
    return [...keys].flatMap((key) => this.owners.claimant(key) ?? [])
  }

  /** Keys of owners that lose a path or a host. */
  *#inConflict(): Iterable<string> {
    for (const id of this.settlement.conflicts.keys()) {
      const owner = this.owners.owner(id)
      if (owner !== undefined) yield owner.key
    }
    yield* this.#lostHosts.keys()
  }

  #standNow({ key, id }: ValidatedDocument): Stand {
    return {
      owner: this.owners.owner(id),
      isHostLost: this.#lostHosts.has(key),
      conflicts: this.settlement.conflicts.get(id) ?? NO_CONFLICTS,
      isEntangled: false,
    }
  }
}

const NO_KEYS: ReadonlySet<string> = new Set()

/** Rejecting one by one is exact; with hundreds of documents the rounds would take most of the time. */
const refusalsOf = (round: number): number => 2 ** Math.max(0, round - EXACT_ROUNDS)
const EXACT_ROUNDS = 16

const stay = (validated: ValidatedDocument): ValidatedDocument => ({
  ...validated,
  id: validated.lastId ?? '',
  candidate: undefined,
})
