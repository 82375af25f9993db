// Keeps the owner of each document id up to date as documents come, change and go, by the rules of owners.ts. A change
// costs time only for the documents that name the same id.

import type { Resource } from '../../resource/resource.ts'
import { KeyIndex } from '../key-index.ts'
import { type Claimant, ownersOf } from './owners.ts'

/** An id whose owner, or what its owner claims, may have changed. */
export interface OwnerChange<C> {
  readonly id: string
  readonly before: C | undefined
  readonly after: C | undefined
}

export class IdOwners<C extends Claimant<Resource>> {
  readonly #claimants = new Map<string, C>()
  readonly #byId = new KeyIndex()
  readonly #owners = new Map<string, C>()
  /** Key → the place of the resource in the order in which resources came. */
  readonly #numbers = new Map<string, number>()
  #lastNumber = 0
  readonly #touched = new Set<string>()

  /** @param claimant what the resource claims now; undefined: it is gone. Owners change with `settle` only. */
  replace(key: string, claimant: C | undefined): void {
    const before = this.#claimants.get(key)
    if (before === claimant) return
    if (claimant === undefined) {
      this.#claimants.delete(key)
      this.#numbers.delete(key)
    } else {
      this.#claimants.set(key, claimant)
      if (before === undefined) this.#numbers.set(key, (this.#lastNumber += 1))
    }
    if (before !== undefined && before.id !== claimant?.id) this.#byId.remove(before.id, key)
    if (claimant !== undefined && before?.id !== claimant.id) this.#byId.add(claimant.id, key)
    for (const each of [before, claimant]) if (each !== undefined) this.#touched.add(each.id)
  }

  /** @returns a change for each id whose claimants were replaced since the last call */
  settle(): readonly OwnerChange<C>[] {
    const changes = Array.from(this.#touched, (id) => this.#settleOne(id))
    this.#touched.clear()
    return changes
  }

  claimant(key: string): C | undefined {
    return this.#claimants.get(key)
  }

  owner(id: string): C | undefined {
    return this.#owners.get(id)
  }

  /** All resources that name the id, in the order in which they came; of the empty id: those that name none. */
  claimantsOf(id: string): readonly C[] {
    const claimants = [...this.#byId.of(id)].flatMap((key) => this.#claimants.get(key) ?? [])
    const numberOf = ({ key }: C): number => this.#numbers.get(key) ?? 0
    return claimants.length < 2
      ? claimants
      : claimants.sort((left, right) => numberOf(left) - numberOf(right))
  }

  isOwner({ id, key }: Pick<Claimant<Resource>, 'id' | 'key'>): boolean {
    return this.#owners.get(id)?.key === key
  }

  #settleOne(id: string): OwnerChange<C> {
    const before = this.#owners.get(id)
    // The empty id, of resources that name none, has no owner.
    const found = id === '' ? undefined : ownersOf(this.claimantsOf(id)).get(id)
    const after = found && this.#claimants.get(found.key)
    if (after === undefined) this.#owners.delete(id)
    else this.#owners.set(id, after)
    return { id, before, after }
  }
}
