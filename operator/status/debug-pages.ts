// Shows what the operator wants, what it sees and where the two differ, for someone who looks for the cause of a problem:
// as JSON, with ids and digests, and never a document, a variable or a realm's record.

import type { OperatorStatus } from '../controller/controller.ts'
import type { DataPlaneReport } from '../data-plane.ts'
import type { DesiredSet } from '../desired-set.ts'
import { select } from '../fleet/sync/selection.ts'
import type { LeaderRecord } from './leader-record.ts'
import { type Page, PAGE_NOT_FOUND, type Pages } from './page.ts'
import { dataPlaneRecord, resourceRecord, roleRecord } from './status-record.ts'

export interface DebugSources {
  readonly status: () => OperatorStatus
  /** Undefined: not everything has been read yet. */
  readonly desired: () => DesiredSet | undefined
  /** Left out where there are no others: this one leads. */
  readonly leader?: () => LeaderRecord
}

export const debugPages = (sources: DebugSources): Pages => ({
  '/debug/desired': () => ({ json: desiredRecord(sources.desired()) }),
  '/debug/data-planes': () => dataPlanesPage(sources),
  '/debug/data-planes/:name/diff': (name = '') => differencePage(sources, name),
  '/debug/pods': () => dataPlanesPage(sources),
  '/debug/pods/:namespace/:name/diff': (namespace = '', name = '') =>
    differencePage(sources, `${namespace}/${name}`),
  '/debug/resources/:namespace/:name': (namespace = '', name = '') =>
    ofLeader(sources, ({ resources }) => {
      const found = [...resources.values()].filter(
        ({ result: { resource } }) =>
          resource.metadata.namespace === namespace && resource.metadata.name === name,
      )
      return found.length === 0
        ? PAGE_NOT_FOUND
        : { json: { resources: found.map((each) => resourceRecord(each)) } }
    }),
})

const dataPlanesPage = (sources: DebugSources): Page => {
  const leader = sources.leader?.()
  const { isLeading, dataPlanes } = sources.status()
  const known = isLeading ? { dataPlanes: dataPlanes.map(dataPlaneRecord) } : {}
  return { json: { isLeading, ...roleRecord({ isLeading }, leader), ...known } }
}

/** @param name of a data plane: its management address, or namespace and name of its Pod */
const differencePage = (sources: DebugSources, name: string): Page | typeof PAGE_NOT_FOUND =>
  ofLeader(sources, ({ dataPlanes }) => {
    const report = dataPlanes.find(({ dataPlane }) => dataPlane.name === name)
    const wanted = sources.desired()
    if (report === undefined || wanted === undefined) return PAGE_NOT_FOUND
    return { json: differenceRecord(wanted, report) }
  })

/** That a standby knows nothing of it does not mean that it is not there. */
const ofLeader = (
  sources: DebugSources,
  answer: (status: OperatorStatus) => Page | typeof PAGE_NOT_FOUND,
): Page | typeof PAGE_NOT_FOUND => {
  const message = sources.leader?.().message
  return message === undefined ? answer(sources.status()) : { error: message }
}

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

/** Says what is to be done for the one to become the other. */
const differenceRecord = (desired: DesiredSet, report: DataPlaneReport): object => {
  const { documents, realms } = select(desired, report.dataPlane)
  return {
    phase: report.phase,
    message: report.message,
    ready: report.ready,
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
