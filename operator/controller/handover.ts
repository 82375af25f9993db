// Passes one desired set after another to the fleet: at once, or, where routes would be left without an owner, after a
// moment in which another document may come for them. Sends nothing itself.

import type { Clock } from '../../base/clock.ts'
import type { DesiredSet } from '../desired-set.ts'
import { changedKeys } from '../edited-map.ts'

export interface HandoverOptions {
  readonly clock: Clock
  readonly apply: (desired: DesiredSet) => void
  /** How long a route that nobody wants any more waits for somebody who does; 450, and 50 to read what has come. */
  readonly graceMs?: number
}

/**
 * `kubectl apply` of two documents is two requests: a route that moves from the one to the other is nobody's between
 * them. A change of everything else is not held up, but by one that came within the same moment.
 */
const GRACE_MS = 450
/** After a halt of the process timers come before what has arrived meanwhile: it is read first. */
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
    // From the first of them: edits without end must not hold each other up.
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

/** Some document gives up a route that no other one has afterwards. */
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
