// Makes the report of a data plane that holds all that is desired.

import type { DataPlaneReport } from '../../operator/data-plane.ts'
import type { DesiredSet } from '../../operator/desired-set.ts'

/** @param more what differs */
export const syncedReport = (
  { documents, realms }: DesiredSet,
  more: Partial<DataPlaneReport> = {},
): DataPlaneReport => ({
  dataPlane: { name: 'a', url: 'http://a', labels: {} },
  phase: 'synced',
  message: '',
  ready: true,
  documents: new Map([...documents].map(([id, { digest }]) => [id, { digest, warnings: [] }])),
  realms: new Map([...realms].map(([uri, { digest }]) => [uri, { digest, sessions: [] }])),
  realmsGiven: new Set(realms.keys()),
  rejected: { documents: new Map(), realms: new Map() },
  ...more,
})
