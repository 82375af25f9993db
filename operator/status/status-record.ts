// The status of the operator in; what `GET /status` answers out. Shows no secret and no document.

import type { OperatorStatus } from '../controller/controller.ts'
import type { DataPlaneReport } from '../data-plane.ts'
import type { ResourceStatus } from '../reconcile/status-book.ts'
import { byName } from './status-rows.ts'

export const statusRecord = (status: OperatorStatus): object => ({
  ready: status.isReady,
  leading: status.isLeading,
  resources: [...status.resources.values()].sort(byName).map(resourceRecord),
  dataPlanes: status.dataPlanes.map(dataPlaneRecord),
  notes: status.notes,
})

export const resourceRecord = ({
  verdict,
  conditions,
  errors,
  warnings,
  programmed,
}: ResourceStatus): object => {
  const { kind, metadata, origin } = verdict.resource
  const { namespace, name, generation, createdAt } = metadata
  return {
    ...{ kind, namespace, name, generation },
    createdAt: new Date(createdAt).toISOString(),
    origin,
    id: verdict.id,
    host: verdict.host,
    realmUri: verdict.realmUri,
    observedGeneration: generation,
    servingGeneration: verdict.serving?.generation,
    programmedGeneration: programmed?.generation,
    programmedDigest: programmed?.digest,
    ...{ conditions, errors, warnings },
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
  ...{ phase, message, ready, version },
  documents: Object.fromEntries([...documents].map(([id, { digest }]) => [id, digest])),
  realms: Object.fromEntries(realms),
  rejected: {
    documents: Object.fromEntries(rejected.documents),
    realms: Object.fromEntries(rejected.realms),
  },
})
