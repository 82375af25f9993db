// Measures for how long an observed state has lasted without a break.

export class StableSince {
  #state: string | undefined
  #sinceMs = 0

  /** `state` undefined: it does not hold. */
  observe(state: string | undefined, nowMs: number): void {
    if (state === this.#state) return
    this.#state = state
    this.#sinceMs = nowMs
  }

  ms(nowMs: number): number {
    return this.#state === undefined ? 0 : Math.max(0, nowMs - this.#sinceMs)
  }
}
