// Decides which ids stay in service though there is no version to put: those of whoever may have brought them there,
// never of who merely names them. Remembers who that is from one reconciliation to the next.

import {
  type ApiSpecificationResource,
  byAge,
  type RealmResource,
} from '../../resource/resource.ts'
import type { Claimant } from './owners.ts'

type Titled = ApiSpecificationResource | RealmResource

export class Titles<R extends Titled> {
  readonly #mayBeHeld: (resource: R) => boolean
  /** Id → key of who has served it, or was the oldest of those that may have, in whatever order they were read. */
  readonly #holders = new Map<string, string>()
  /** Owned, and there is no version to put. */
  readonly #open = new Set<string>()

  /** @param mayBeHeld as the resource's status tells of the time before this operator */
  constructor(mayBeHeld: (resource: R) => boolean) {
    this.#mayBeHeld = mayBeHeld
  }

  /**
   * @param claimants with an id
   * @param served has every id that there is a version to put of
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
   * Takes who owns an id from now on, undefined: nobody, and whether there is a version to put of it.
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

  /** Owned ids that there is no version to put of. */
  get open(): ReadonlySet<string> {
    return this.#open
  }

  /** @returns those of the open ids that stay in service */
  keepOpen(claimantsOf: (id: string) => Iterable<Claimant<R>>): ReadonlySet<string> {
    const kept = new Set<string>()
    for (const id of this.#open) {
      const titled = id === '' ? undefined : this.#titledOf(id, claimantsOf(id))
      if (titled === undefined) continue
      this.#holders.set(id, titled.key)
      kept.add(id)
    }
    return kept
  }

  /** It has served the id, or may have, or one of its name did that was deleted before (`departed-claims.ts`). */
  isHolder(id: string, key: string): boolean {
    const holder = this.#holders.get(id)
    return holder === key || holder?.startsWith(`${key} `) === true
  }

  /** Whatever data planes hold under the id does not stay there, whoever names it now. */
  revoke(id: string): void {
    this.#holders.set(id, NOBODY)
  }

  #titledOf(id: string, claimants: Iterable<Claimant<R>>): Claimant<R> | undefined {
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

/** No key of a resource. */
const NOBODY = ''
