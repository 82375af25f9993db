// Who claims which id, and what is served, pass after pass in; the ids that stay in service though there is no
// version to put, out. An id stays only for whoever may have brought it there, never for who merely names it.

import type { ApiSpecificationResource, RealmResource } from '../../resource/resource.ts'
import type { Claimant } from './owners.ts'

type Titled = ApiSpecificationResource | RealmResource

export class Titles<R extends Titled> {
  readonly #mayBeHeld: (resource: R) => boolean
  /** Id → key of who has served it, or was the first that may have. */
  readonly #holders = new Map<string, string>()

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
    for (const id of this.#holders.keys()) if (!owners.has(id)) this.#holders.delete(id)
    let openCount = 0
    for (const [id, owner] of owners) {
      if (served.has(id)) this.#holders.set(id, owner.key)
      else openCount += 1
    }
    const kept = new Set<string>()
    if (openCount === 0) return kept
    for (const claimant of claimants) {
      const { id } = claimant
      if (id === '' || served.has(id) || !this.#hasTitle(claimant)) continue
      this.#holders.set(id, claimant.key)
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

  #hasTitle({ key, id, resource }: Claimant<R>): boolean {
    const holder = this.#holders.get(id)
    return holder === undefined ? this.#mayBeHeld(resource) : holder === key
  }
}

/** No key of a resource. */
const NOBODY = ''
