// Makes the response of `GET /status` from the status of the operator. Shows no secret and no document. A standby knows
// neither gateways nor how resources stand: it names the leader, and has no lists that look as if there were nothing.

import type { OperatorStatus } from '../controller/controller.ts'
import { type Problem, type Warning, withoutOffset } from '../../language/problem.ts'
import type { DataPlaneReport } from '../data-plane.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import { lastValidatedGeneration } from '../resource/condition.ts'
import type { LeaderRecord } from './leader-record.ts'
import type { Locate } from '../resource/resource-source.ts'
import { byName } from './status-rows.ts'

/**
 * @param leader left out where there are no other replicas
 * @param unready why nothing is known yet
 * @param locate left out where resources are in no files
 */
export const statusRecord = (
  status: OperatorStatus,
  leader?: LeaderRecord,
  unready?: string,
  locate?: Locate,
): object => ({
  ready: status.isReady,
  leading: status.isLeading,
  ...roleRecord(status, leader),
  ...(status.isLeading && unready !== undefined && { message: unready }),
  ...(status.isLeading && {
    resources: [...status.resources.values()]
      .sort(byName)
      .map((each) => resourceRecord(each, locate)),
    dataPlanes: status.dataPlanes.map(dataPlaneRecord),
  }),
  notes: status.notes,
})

/** Who has no rivals is the leader, and needs no name. */
export const roleRecord = (
  { isLeading }: Pick<OperatorStatus, 'isLeading'>,
  leader: LeaderRecord | undefined,
): Partial<LeaderRecord> => leader ?? { role: isLeading ? 'leader' : 'standby' }

export const resourceRecord = (
  { result, conditions, errors, warnings, programmed, summary }: ResourceStatus,
  locate?: Locate,
): object => {
  const { kind, metadata, origin } = result.resource
  const { namespace, name, generation, createdAt } = metadata
  const located = (diagnostic: Problem | Warning): object => ({
    ...withoutOffset(diagnostic),
    ...locate?.(result.resource, diagnostic.path, diagnostic.offset),
  })
  return {
    kind,
    namespace,
    name,
    generation,
    createdAt: new Date(createdAt).toISOString(),
    origin,
    id: summary?.id ?? result.id,
    host: summary?.host,
    realmUri: summary?.realm,
    observedGeneration: lastValidatedGeneration(conditions),
    serving: summary?.serving,
    gateways: summary?.gateways,
    servingGeneration: result.serving?.generation,
    programmedGeneration: programmed?.generation,
    programmedDigest: programmed?.digest,
    conditions,
    errors: errors.map(located),
    warnings: warnings.map(located),
  }
}

export const dataPlaneRecord = ({
  dataPlane,
  phase,
  message,
  ready,
  version,
  documents,
  realms,
  rejected,
}: DataPlaneReport): object => ({
  name: dataPlane.name,
  url: dataPlane.url,
  phase,
  message,
  ready,
  version,
  documents: Object.fromEntries([...documents].map(([id, { digest }]) => [id, digest])),
  realms: Object.fromEntries(realms),
  rejected: {
    documents: Object.fromEntries(rejected.documents),
    realms: Object.fromEntries(rejected.realms),
  },
})
