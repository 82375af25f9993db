// What leadership by a Lease takes and gives. Types only.

import type { Log } from '../../../telemetry/log.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Leadership } from '../../leadership.ts'
import type { KubernetesApi } from '../client/api.ts'

export interface LeaseLeadershipOptions {
  readonly api: Pick<KubernetesApi, 'get' | 'create' | 'replace'>
  readonly namespace: string
  readonly name: string
  /** For people, such as the name of the pod; what holds the Lease is this and a random end. */
  readonly identity: string
  readonly clock: Clock
  readonly log: Log
  /** Others wait so long after the last renewal before they take over (15 s). */
  readonly durationMs?: number
  /** The holder stops acting so long after its last renewal (10 s). */
  readonly renewDeadlineMs?: number
  /** Between two renewals, or two looks of a candidate (2 s). */
  readonly retryMs?: number
  /** Goes on steadily, whatever happens to the time of day. */
  readonly monotonicMs?: () => number
}

export interface LeaseLeadership extends Leadership {
  /** False from the moment on at which the lease should have been renewed; asking may call `onLose`. */
  readonly isLeading: boolean
  readonly facts: LeaseFacts
}

export interface LeaseFacts {
  /** As it stands in `holderIdentity` while we hold it. */
  readonly identity: string
  readonly isLeading: boolean
  /** Whether the Lease, or that there is none, was seen at all. */
  readonly hasLooked: boolean
  /** Last seen; empty: nobody, or none was seen yet. */
  readonly holder: string
  /** Unix time since when that one holds it, by its own clock; undefined: it does not say. */
  readonly heldSinceMs: number | undefined
  /** It has not been renewed for as long as its holder has said, by our own clock. */
  readonly isExpired: boolean
  /** Last seen. */
  readonly epoch: number
  /** Unix time of our last renewal, milliseconds. */
  readonly renewedAtMs: number | undefined
  /** Why the Lease could not be read or written the last time; undefined: it could. */
  readonly trouble: string | undefined
}
