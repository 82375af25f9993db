// Remembers that a data plane has answered beyond its bound, until it may be asked again.

import { type Clock, SYSTEM_CLOCK } from '../../../base/clock.ts'
import type { ResponseError } from './bounded-body.ts'

export interface ExcessPauseOptions {
  readonly clock?: Clock
  /** It is not called from now on. */
  readonly onExcess?: (message: string) => void
}

const EXCESS_PAUSE_MS = 10 * 60_000

export class ExcessPause {
  readonly #clock: Clock
  readonly #onExcess: (message: string) => void
  #message: string | undefined
  #cancel: (() => void) | undefined

  constructor({ clock = SYSTEM_CLOCK, onExcess = () => undefined }: ExcessPauseOptions) {
    this.#clock = clock
    this.#onExcess = onExcess
  }

  /** The result of a call that is not made; undefined: it may be made. */
  get message(): string | undefined {
    return this.#message
  }

  begin({ message: problem }: ResponseError): { readonly result: 'failed'; message: string } {
    const minutes = EXCESS_PAUSE_MS / 60_000
    const message = `${problem}: it is not called for ${minutes} minutes. Is it a gateway, and of this version?`
    // Two calls may be under way.
    if (this.#message === undefined) {
      this.#message = message
      this.#cancel = this.#clock.after(EXCESS_PAUSE_MS, () => {
        this.#message = undefined
      })
      this.#onExcess(message)
    }
    return { result: 'failed', message }
  }

  end(): void {
    this.#cancel?.()
  }
}
