// Decides which ids stay in service although there is no version to send: those whose owner may have brought them into
// service, never those that a resource merely names. It remembers these owners from one reconciliation to the next.

import {
  type ApiSpecificationResource,
  byAge,
  type RealmResource,
} from '../../resource/resource.ts'
import type { Claimant } from './owners.ts'

type Named = ApiSpecificationResource | RealmResource

export class KeptIds<R extends Named> {
  readonly #mayBeHeld: (resource: R) => boolean
  /**
   * Id → key of the resource that has served it or, if that is not known, of the oldest one that may have, whatever the
   * order in which they were read.
   */
  readonly #holders = new Map<string, string>()
  /** Ids that have an owner and no version to send. */
  readonly #open = new Set<string>()

  /** @param mayBeHeld whether, by its status, data planes may have loaded a version before this operator started */
  constructor(mayBeHeld: (resource: R) => boolean) {
    this.#mayBeHeld = mayBeHeld
  }

  /**
   * @param claimants with an id
   * @param served has every id with a version to send
   */
  keep(
    claimants: readonly Claimant<R>[],
    owners: ReadonlyMap<string, Claimant<R>>,
    served: { has(id: string): boolean },
  ): ReadonlySet<string> {
    for (const id of [...this.#holders.keys(), ...this.#open])
      if (!owners.has(id)) this.update(id, undefined, false)
    for (const [id, owner] of owners) this.update(id, owner, served.has(id))
    const named = Map.groupBy(claimants, ({ id }) => id)
    return this.keepOpen((id) => named.get(id) ?? [])
  }

  /**
   * @param owner of the id from now on; undefined: it has none
   * @param isServed there is a version to send
   */
  update(id: string, owner: Claimant<R> | undefined, isServed: boolean): void {
    if (owner !== undefined && !isServed) {
      this.#open.add(id)
      return
    }
    this.#open.delete(id)
    if (owner === undefined) this.#holders.delete(id)
    else this.#holders.set(id, owner.key)
  }

  /** Ids that have an owner and no version to send. */
  get open(): ReadonlySet<string> {
    return this.#open
  }

  /** @returns those of the open ids that stay in service */
  keepOpen(claimantsOf: (id: string) => Iterable<Claimant<R>>): ReadonlySet<string> {
    const kept = new Set<string>()
    for (const id of this.#open) {
      const holder = id === '' ? undefined : this.#findHolder(id, claimantsOf(id))
      if (holder === undefined) continue
      this.#holders.set(id, holder.key)
      kept.add(id)
    }
    return kept
  }

  /** Whether the resource, or a deleted one of the same name (`deleted-realm-claims.ts`), has served the id or may have. */
  isHolder(id: string, key: string): boolean {
    const holder = this.#holders.get(id)
    return holder === key || holder?.startsWith(`${key} `) === true
  }

  /** What data planes have loaded under the id is removed, whichever resource names it now. */
  revoke(id: string): void {
    this.#holders.set(id, NO_KEY)
  }

  #findHolder(id: string, claimants: Iterable<Claimant<R>>): Claimant<R> | undefined {
    const holder = this.#holders.get(id)
    let oldest: Claimant<R> | undefined
    for (const claimant of claimants) {
      if (claimant.key === holder) return claimant
      const isOlder = oldest === undefined || byAge(claimant.resource, oldest.resource) < 0
      if (isOlder && holder === undefined && this.#mayBeHeld(claimant.resource)) oldest = claimant
    }
    return oldest
  }
}

/** No resource has this key. */
const NO_KEY = ''
