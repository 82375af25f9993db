// Remembers which data planes documents are for: a selector is compared with the labels of a data plane once, not once for
// each report and document.

import { type DataPlane, isSelected } from '../../data-plane.ts'
import type { LabelSelector } from '../../resource/resource.ts'

/** The data planes that a document is for; documents of one namespace and selector share one. */
export interface Audience {
  readonly namespace: string
  readonly selector?: LabelSelector
}

/** Beyond it all are forgotten, as many may not be in use any more. */
const MAX_AUDIENCES = 10_000

export class Audiences {
  readonly #audiences = new Map<string, Audience>()
  readonly #selected = new WeakMap<DataPlane, WeakMap<Audience, boolean>>()

  /** The same object for the same namespace and selector. */
  of({ namespace, selector }: Audience): Audience {
    if (this.#audiences.size > MAX_AUDIENCES) this.#audiences.clear()
    const key = JSON.stringify([namespace, selector])
    const known = this.#audiences.get(key)
    if (known !== undefined) return known
    const audience = selector === undefined ? { namespace } : { namespace, selector }
    this.#audiences.set(key, audience)
    return audience
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
