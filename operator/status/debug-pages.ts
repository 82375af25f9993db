// What the operator wants, what it sees and where the two differ, for whoever looks for a fault at night: as JSON,
// with ids and digests and never a document, a variable or a realm's record.

import type { OperatorStatus } from '../controller/controller.ts'
import type { DataPlaneReport } from '../data-plane.ts'
import type { DesiredSet } from '../desired-set.ts'
import { select } from '../fleet/selection.ts'
import { PAGE_NOT_FOUND, type Pages } from './page.ts'
import { dataPlaneRecord, resourceRecord } from './status-record.ts'

export interface DebugSources {
  readonly status: () => OperatorStatus
  /** Undefined: not everything has been read yet. */
  readonly desired: () => DesiredSet | undefined
}

export const debugPages = ({ status, desired }: DebugSources): Pages => ({
  '/debug/desired': () => ({ json: desiredRecord(desired()) }),
  '/debug/pods': () => ({
    json: { isLeading: status().isLeading, dataPlanes: status().dataPlanes.map(dataPlaneRecord) },
  }),
  '/debug/pods/:namespace/:name/diff': (namespace = '', name = '') => {
    const report = status().dataPlanes.find(
      ({ dataPlane }) => dataPlane.name === `${namespace}/${name}`,
    )
    const wanted = desired()
    if (report === undefined || wanted === undefined) return PAGE_NOT_FOUND
    return { json: differenceRecord(wanted, report) }
  },
  '/debug/resources/:namespace/:name': (namespace = '', name = '') => {
    const found = [...status().resources.values()].filter(
      ({ verdict: { resource } }) =>
        resource.metadata.namespace === namespace && resource.metadata.name === name,
    )
    return found.length === 0 ? PAGE_NOT_FOUND : { json: { resources: found.map(resourceRecord) } }
  },
})

const desiredRecord = (desired: DesiredSet | undefined): object =>
  desired === undefined
    ? { version: 0, holdDeletes: 'the resources have not been read yet' }
    : {
        version: desired.version,
        holdDeletes: desired.holdDeletes,
        documents: Object.fromEntries(
          Array.from(desired.documents, ([id, document]) => [
            id,
            {
              digest: document.digest,
              since: new Date(document.since).toISOString(),
              namespace: document.namespace,
              realmUri: document.realmUri,
              selector: document.selector,
            },
          ]),
        ),
        realms: digestsOf(desired.realms),
        kept: {
          documents: [...desired.kept.documents],
          realms: [...desired.kept.realms],
        },
      }

/** By what is to be done for the one to become the other. */
const differenceRecord = (desired: DesiredSet, report: DataPlaneReport): object => {
  const { documents, realms } = select(desired, report.dataPlane)
  return {
    ...{ phase: report.phase, message: report.message, ready: report.ready },
    documents: differences(documents, report.documents, desired.kept.documents),
    realms: differences(realms, report.realms, desired.kept.realms),
    rejected: {
      documents: Object.fromEntries(report.rejected.documents),
      realms: Object.fromEntries(report.rejected.realms),
    },
  }
}

type Digests = ReadonlyMap<string, { readonly digest: string }>

const differences = (wanted: Digests, held: Digests, kept: ReadonlySet<string>): object => ({
  put: Object.fromEntries(
    [...wanted]
      .filter(([key, { digest }]) => held.get(key)?.digest !== digest)
      .map(([key, { digest }]) => [key, { wanted: digest, held: held.get(key)?.digest ?? null }]),
  ),
  delete: [...held.keys()].filter((key) => !wanted.has(key) && !kept.has(key)),
})

const digestsOf = (entries: Digests): object =>
  Object.fromEntries(Array.from(entries, ([key, { digest }]) => [key, digest]))
