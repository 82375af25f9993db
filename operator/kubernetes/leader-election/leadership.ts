// Defines what leadership by a Lease needs and provides, and implements one leader term: the epoch of its calls, and
// how it is raised when a data plane knows a higher one.

import type { Log } from '../../../telemetry/log.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Leadership } from '../../leadership.ts'
import { type EpochSource, isPossibleEpoch } from '../../epoch.ts'
import type { KubernetesApi } from '../client/api.ts'
import type { LeaseFormat } from './lease.ts'

export interface LeaseLeadershipOptions {
  readonly api: Pick<KubernetesApi, 'get' | 'create' | 'replace'>
  readonly namespace: string
  readonly name: string
  readonly format: LeaseFormat
  /** For people, such as the name of the pod; the holder of the Lease is this with a random end. */
  readonly identity: string
  readonly clock: Clock
  readonly log: Log
  /** Others wait this long after the last renewal before they take over (15 s). */
  readonly durationMs?: number
  /** The holder stops acting this long after its last renewal (10 s). */
  readonly renewDeadlineMs?: number
  /** Between two renewals, or two reads of a candidate (2 s). */
  readonly retryMs?: number
  /** Monotonic, whatever happens to the time of day. */
  readonly monotonicMs?: () => number
}

export interface LeaseLeadership extends Leadership {
  /** False from the moment at which the lease should have been renewed; asking may call `onLose`. */
  readonly isLeading: boolean
  readonly facts: LeaseFacts
}

export interface LeaseFacts {
  /** As it stands in `holderIdentity` while we hold it. */
  readonly identity: string
  readonly isLeading: boolean
  /** Whether the Lease, or its absence, was seen at all. */
  readonly hasLooked: boolean
  /** Last seen; empty: no holder, or no Lease was seen yet. */
  readonly holder: string
  /** Unix time since when that one holds it, by its own clock; undefined: not given. */
  readonly heldSinceMs: number | undefined
  /** It has not been renewed for the time that its holder has given, by our own clock. */
  readonly isExpired: boolean
  /** Last seen. */
  readonly epoch: number
  /** Unix time of our last renewal, milliseconds. */
  readonly renewedAtMs: number | undefined
  /** Why the Lease could not be read or written the last time; undefined: it could. */
  readonly failure: string | undefined
}

export interface LeaderTermHooks {
  readonly log: Log
  /** Ends the term where its renew deadline has passed. */
  readonly checkDeadline: () => void
  /** Reads the Lease live, and writes `wantedEpoch` where it is still ours. */
  readonly renewNow: () => void
}

/** Lasts from `onLead` to `onLose`, or to the stop of the election. */
export class LeaderTerm implements EpochSource {
  readonly #hooks: LeaderTermHooks
  #epoch: number
  #wantedEpoch: number
  #isOver = false
  #waiting: (() => void)[] = []

  constructor(epoch: number, hooks: LeaderTermHooks) {
    this.#hooks = hooks
    this.#epoch = epoch
    this.#wantedEpoch = epoch
  }

  /** The next renewal may write it: no data plane has reported more. */
  get wantedEpoch(): number {
    return this.#wantedEpoch
  }

  /** Whether a data plane has reported an epoch that is not overtaken yet. */
  get wantsHigherEpoch(): boolean {
    return this.#wantedEpoch > this.#epoch
  }

  /** Ends the term first, where that is due: every call asks for its epoch here. */
  epoch(): number {
    this.#hooks.checkDeadline()
    return this.#epoch
  }

  async challenge(reported: number): Promise<boolean> {
    this.#hooks.checkDeadline()
    if (this.#isOver || !isPossibleEpoch(reported)) return false
    if (reported >= this.#wantedEpoch) {
      this.#wantedEpoch = Math.floor(reported) + 1
      this.#hooks.renewNow()
    }
    while (this.#canStillRaise(reported)) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
    }
    this.#hooks.checkDeadline()
    return !this.#isOver
  }

  /** @param epoch that we have written into the Lease */
  raiseEpoch(epoch: number): void {
    if (epoch > this.#epoch) {
      this.#hooks.log.warn(
        'a data plane reported a higher epoch, so the epoch of this operator was raised above it',
        {
          epoch,
        },
      )
      this.#epoch = epoch
    }
  }

  /** An attempt to renew has ended: lets every challenge that waits check again. */
  wakeChallenges(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  end(): void {
    this.#isOver = true
    this.wakeChallenges()
  }

  #canStillRaise(reported: number): boolean {
    return !this.#isOver && this.#epoch <= reported
  }
}
