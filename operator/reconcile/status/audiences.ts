// Remembers which data planes documents are for: a selector is compared with the labels of a data plane once, not once for
// each report and document.

import { createInterner } from '../../../base/intern.ts'
import { type DataPlane, isSelected } from '../../data-plane.ts'
import type { LabelSelector } from '../../resource/resource.ts'

/** The data planes that a document is for; documents of one namespace and selector share one. */
export interface Audience {
  readonly namespace: string
  readonly selector?: LabelSelector
}

export class Audiences {
  /** An audience ends with its last document: an owner who edits selectors all day must not fill the memory. */
  readonly #intern = createInterner<Audience>({ from: 'first' })
  readonly #selected = new WeakMap<DataPlane, WeakMap<Audience, boolean>>()

  /** The same object for the same namespace and selector. */
  of({ namespace, selector }: Audience): Audience {
    return this.#intern(JSON.stringify([namespace, selector]), () =>
      selector === undefined ? { namespace } : { namespace, selector },
    )
  }

  /** @param audience as `of` gave it */
  includes(audience: Audience, dataPlane: DataPlane): boolean {
    let selected = this.#selected.get(dataPlane)
    if (selected === undefined) {
      selected = new WeakMap()
      this.#selected.set(dataPlane, selected)
    }
    const known = selected.get(audience)
    if (known !== undefined) return known
    const isIncluded = isSelected(audience, dataPlane)
    selected.set(audience, isIncluded)
    return isIncluded
  }
}
