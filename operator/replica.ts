// Makes this process one of several replicas of the operator: its name among them, its leader terms by the Lease, and
// what its pages say about the leader.

import { hostname } from 'node:os'
import type { Log } from '../telemetry/log.ts'
import type { Clock } from '../base/clock.ts'
import type { OperatorSettings } from './config.ts'
import type { KubernetesApi } from './kubernetes/client/api.ts'
import { createLeaseLeadership } from './kubernetes/leader-election/election.ts'
import type { Leadership } from './leadership.ts'
import { LEASE_FORMAT } from './resource/lease-format.ts'
import { type LeaderRecord, leaderRecord } from './status/leader-record.ts'

export interface Replica {
  /** In a Pod, the Pod's name. */
  readonly identity: string
  readonly leadership: Leadership
  /** As far as this replica knows now. */
  readonly leader: () => LeaderRecord
}

export interface ReplicaOptions {
  readonly api: KubernetesApi
  readonly clock: Clock
  readonly log: Log
  /** The operator's own, where the Lease is. */
  readonly namespace: string
  readonly settings: Pick<OperatorSettings, 'identity' | 'lease' | 'status'>
}

export const createReplica = ({ settings, namespace, ...shared }: ReplicaOptions): Replica => {
  const { lease, status } = settings
  const identity = settings.identity ?? hostname()
  const leadership = createLeaseLeadership({
    ...shared,
    namespace,
    name: lease,
    format: LEASE_FORMAT,
    identity,
  })
  // All replicas are of one Deployment, so their pages are at the same port.
  const statusPort = status !== 'off' && status.kind === 'tcp' ? status.port : undefined
  const place = { namespace, lease, statusPort }
  return { identity, leadership, leader: () => leaderRecord(leadership.facts, place) }
}
