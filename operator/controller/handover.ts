// Passes each desired state on to the fleet: at once or, if routes would lose their owner, after a moment in which another
// document may claim them. Sends nothing itself.

import type { Clock } from '../../base/clock.ts'
import type { DesiredSet } from '../desired-set.ts'
import { changedKeys } from '../edited-map.ts'

export interface HandoverOptions {
  readonly clock: Clock
  readonly apply: (desired: DesiredSet) => void
  /** How long a route without an owner waits for another document that claims it; 450 if absent. */
  readonly graceMs?: number
}

/**
 * `kubectl apply` of two documents makes two requests, between which a route that moves from one document to the other
 * has no owner. Other changes are not delayed, unless they come within such a moment.
 */
const GRACE_MS = 450
/** After a halt of the process, timers fire before what has arrived meanwhile is read: it gets this time. */
const READ_MS = 50

type IsClaimed = (claim: string) => boolean

export class Handover {
  readonly #options: HandoverOptions
  #applied: DesiredSet | undefined
  /** The latest, while it waits. */
  #waiting: DesiredSet | undefined
  #cancel: (() => void) | undefined

  constructor(options: HandoverOptions) {
    this.#options = options
  }

  /** @param isClaimed whether a document of `desired` has the route */
  take(desired: DesiredSet, isClaimed: IsClaimed): void {
    const { clock, graceMs = GRACE_MS } = this.#options
    if (this.#applied === undefined || !leavesOrphans(this.#applied, desired, isClaimed)) {
      this.#apply(desired)
      return
    }
    this.#waiting = desired
    // Counted from the first change, so that a stream of edits does not delay itself without end.
    this.#cancel ??= clock.after(graceMs, () => {
      this.#cancel = clock.after(READ_MS, () => {
        if (this.#waiting !== undefined) this.#apply(this.#waiting)
      })
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#waiting = undefined
  }

  #apply(desired: DesiredSet): void {
    this.stop()
    this.#applied = desired
    this.#options.apply(desired)
  }
}

/** Whether some document gives up a route that no other document has afterwards. */
const leavesOrphans = (before: DesiredSet, after: DesiredSet, isClaimed: IsClaimed): boolean => {
  for (const id of changedKeys(before.documents, after.documents)) {
    const document = before.documents.get(id)
    const next = after.documents.get(id)
    if (next === undefined && after.kept.documents.has(id)) continue
    const kept = new Set(next?.claims.map(({ key }) => key))
    if (document?.claims.some(({ key }) => !kept.has(key) && !isClaimed(key)) === true) return true
  }
  return false
}
