// The door to leadership by a Lease: its settings in, who may act out.

import { JITTER_MOST, LeaseElection } from './election.ts'
import type { LeaseLeadership, LeaseLeadershipOptions } from './options.ts'

/**
 * As client-go elects (LeaderElector), and stricter in three things: a holder stops `renewDeadlineMs` after the last
 * renewal that succeeded, not after a round of trying; a Lease that was made where there was none is held
 * for a while before its holder acts; a turn
 * is handed an epoch above all before it, which is `leaseTransitions`, or the annotation `gateway.svc.dev/epoch` where
 * an int32 can't hold it.
 * @throws Error where the times contradict each other: a holder must have stopped before others take over
 * @example createLeaseLeadership({ api, namespace: 'svc', name: 'svc-operator', identity: 'operator-7d4f', clock, log })
 */
export const createLeaseLeadership = ({
  durationMs = 15_000,
  renewDeadlineMs = 10_000,
  retryMs = 2_000,
  monotonicMs = () => performance.now(),
  ...options
}: LeaseLeadershipOptions): LeaseLeadership => {
  if (renewDeadlineMs >= durationMs || retryMs * JITTER_MOST >= renewDeadlineMs) {
    const times = `${durationMs}, ${renewDeadlineMs} and ${retryMs} ms`
    throw new Error(`durationMs > renewDeadlineMs > retryMs must hold, with room: not ${times}`)
  }
  return new LeaseElection({ ...options, durationMs, renewDeadlineMs, retryMs, monotonicMs })
}
