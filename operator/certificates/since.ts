// Observations of one state in; for how long it has been that state, in one piece, out.

export class Since {
  #state: string | undefined
  #sinceMs = 0

  /** `state` undefined: it is not so. */
  see(state: string | undefined, nowMs: number): void {
    if (state === this.#state) return
    this.#state = state
    this.#sinceMs = nowMs
  }

  ms(nowMs: number): number {
    return this.#state === undefined ? 0 : Math.max(0, nowMs - this.#sinceMs)
  }
}
