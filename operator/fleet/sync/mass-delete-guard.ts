// Holds back deletes that are too many to be meant: more than max(5, 20 %) of what we have loaded into a data plane
// within 60 s. They go when a live listing, made after that time, still lacks them. While some of them come back, the
// others wait too: someone who applies again what was deleted by mistake is not done yet.

const WINDOW_MS = 60_000
const LEAST = 5
const SHARE = 0.2

export type GuardDecision =
  | { readonly decision: 'go' }
  /** Not before `untilMs`, and then only after a live listing. */
  | { readonly decision: 'hold'; readonly untilMs: number; readonly wanted: number }
  /** The time has passed: list live, `confirm`, and ask again. */
  | { readonly decision: 'confirm'; readonly wanted: number }

export class MassDeleteGuard {
  /** When how many were deleted, within the window. */
  #recent: readonly { readonly atMs: number; readonly count: number }[] = []
  #heldBack: { readonly sinceMs: number; readonly most: number } | undefined
  #isConfirmed = false

  /**
   * @param wanted number of deletes
   * @param size what the data plane has loaded of ours, before them
   */
  decide(wanted: number, size: number, nowMs: number): GuardDecision {
    this.#recent = this.#recent.filter(({ atMs }) => nowMs - atMs < WINDOW_MS)
    const deleted = this.#recent.reduce((sum, { count }) => sum + count, 0)
    const limit = Math.max(LEAST, SHARE * (size + deleted))
    const isTooMany = deleted + wanted > limit
    const isComingBack = this.#heldBack !== undefined && wanted < this.#heldBack.most
    if (wanted === 0 || this.#isConfirmed || !(isTooMany || isComingBack)) {
      this.#heldBack = undefined
      this.#isConfirmed = false
      return { decision: 'go' }
    }
    const { sinceMs, most } = this.#heldBack ?? { sinceMs: nowMs, most: 0 }
    this.#heldBack = { sinceMs, most: Math.max(most, wanted) }
    const untilMs = sinceMs + WINDOW_MS
    return nowMs < untilMs ? { decision: 'hold', untilMs, wanted } : { decision: 'confirm', wanted }
  }

  /** A live listing shows that the resources are gone: the next decision is to go. */
  confirm(): void {
    this.#isConfirmed = true
  }

  deleted(count: number, nowMs: number): void {
    if (count > 0) this.#recent = [...this.#recent, { atMs: nowMs, count }]
  }
}
