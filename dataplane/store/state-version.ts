// Numbers the versions of the state view, of which every change in it makes a new one, and gives each its ETag and text.

import type { StateStep, StateView } from '../../language/wire/wire.ts'

export class StateVersion {
  readonly #bootId: string
  #number = 1
  #latest: { readonly number: number; readonly text: string } | undefined

  /** @param bootId distinguishes the ETags of this process from those of an earlier one */
  constructor(bootId: string) {
    this.#bootId = bootId
  }

  get number(): number {
    return this.#number
  }

  get etag(): string {
    return this.#etagOf(this.#number)
  }

  /** Call it when anything in the state view has changed. */
  advance(): void {
    this.#number += 1
  }

  /** @param view is called once for each version */
  text(view: () => StateView): string {
    if (this.#latest?.number !== this.#number)
      this.#latest = { number: this.#number, text: JSON.stringify(view()) }
    return this.#latest.text
  }

  /**
   * The ETags before and after the changes of one call; none if something else, such as a session of a realm, has
   * changed meanwhile.
   */
  stepFrom(before: number, changes: number): { readonly state?: StateStep } {
    if (this.#number !== before + changes) return {}
    return { state: { before: this.#etagOf(before), after: this.etag } }
  }

  #etagOf(number: number): string {
    return `"${this.#bootId}-${number}"`
  }
}
