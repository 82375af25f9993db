// Makes what the web page shows of documents from the status of the operator: rows with state and first problem, and of
// one document all problems with their places and which gateways hold which version. Pure.

import type { Problem, Warning } from '../../language/problem.ts'
import type {
  DiagnosticRow,
  DocumentDetail,
  DocumentRow,
  State,
  VersionRow,
} from '../../web/overview.ts'
import { cutText, MAX_DIAGNOSTICS, MAX_NAMES } from '../../web/overview-rows.ts'
import type { OperatorStatus } from '../controller/controller.ts'
import { type DataPlaneReport, isSelected, mayHoldRealm } from '../data-plane.ts'
import type { DesiredSet } from '../desired-set.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import { conditionOf } from '../resource/condition.ts'
import type { Locate } from '../resource/resource-source.ts'

/** The state of a document or a realm. */
export const stateOf = ({ conditions }: Pick<ResourceStatus, 'conditions'>): State => {
  const ready = conditionOf(conditions, 'Ready')
  if (ready?.status === 'True')
    return conditionOf(conditions, 'Degraded')?.status === 'True' ? 'degraded' : 'ready'
  return ready?.status === 'False' && ready.reason !== 'Pending' ? 'failed' : 'pending'
}

/** @example nameOf(status) // 'shop/orders' */
export const nameOf = ({ result }: Pick<ResourceStatus, 'result'>): string =>
  `${result.resource.metadata.namespace}/${result.resource.metadata.name}`

/** What a person reads first of a document or a realm. */
export const headlineOf = (
  status: Pick<ResourceStatus, 'conditions'>,
): { readonly reason: string; readonly message: string } => {
  const type = stateOf(status) === 'degraded' ? 'Degraded' : 'Ready'
  const condition = conditionOf(status.conditions, type)
  return { reason: condition?.reason ?? 'Pending', message: cutText(condition?.message ?? '') }
}

/** `orders.yaml:12:5`; null: the resource is in no file. */
export const placeOf = (
  { result: { resource } }: Pick<ResourceStatus, 'result'>,
  diagnostic: Pick<Problem, 'path' | 'offset'> | undefined,
  locate: Locate | undefined,
): string | null => {
  const { origin } = resource
  if (origin === undefined) return null
  const found = diagnostic && locate?.(resource, diagnostic.path, diagnostic.offset)
  const { line, column } = found ?? origin
  return `${origin.file}:${line}:${column}`
}

export const documentRow = (status: ResourceStatus, locate: Locate | undefined): DocumentRow => {
  const { result, summary } = status
  const [first] = result.errors
  return {
    key: nameOf(status),
    ...namesOf(status),
    state: stateOf(status),
    ...headlineOf(status),
    errors: result.errors.length,
    warnings: warningsOf(status).length,
    place: placeOf(status, first, locate),
    pointer: first === undefined ? null : cutText(first.path),
    gateways: summary?.gateways ?? null,
    generation: result.resource.metadata.generation,
    serving: summary?.serving ?? null,
    digest: result.digest ?? result.serving?.digest ?? null,
  }
}

/** The names of the document as it is now; for one that cannot be read, of what serves. */
export const namesOf = ({
  result,
  summary,
}: ResourceStatus): Pick<DocumentRow, 'id' | 'host' | 'realm'> => ({
  id: result.id ?? summary?.id ?? null,
  host: result.host ?? summary?.host ?? null,
  realm: result.realmUri ?? summary?.realm ?? null,
})

/** The status has eight at most, among them those of data planes; the result has all of the language. */
const warningsOf = ({ result, warnings }: ResourceStatus): readonly Warning[] =>
  result.warnings.length > warnings.length ? result.warnings : warnings

export interface DetailSources {
  readonly status: Pick<OperatorStatus, 'dataPlanes'>
  readonly desired: DesiredSet | undefined
  readonly locate: Locate | undefined
}

export const documentDetail = (
  resource: ResourceStatus,
  { status, desired, locate }: DetailSources,
): DocumentDetail => {
  const { conditions, result } = resource
  const warnings = warningsOf(resource)
  const rowOf = ({ code, path, message, offset }: Problem | Warning): DiagnosticRow => ({
    code,
    message: cutText(message),
    pointer: cutText(path),
    place: placeOf(resource, { path, ...(offset !== undefined && { offset }) }, locate),
  })
  const more = [result.errors, warnings].map(({ length }) => Math.max(0, length - MAX_DIAGNOSTICS))
  return {
    document: documentRow(resource, locate),
    conditions: conditions.map(({ type, status: value, reason, message, lastTransitionTime }) => ({
      type,
      status: value,
      reason,
      message,
      since: lastTransitionTime,
    })),
    errors: result.errors.slice(0, MAX_DIAGNOSTICS).map(rowOf),
    warnings: warnings.slice(0, MAX_DIAGNOSTICS).map(rowOf),
    moreDiagnostics: more.reduce((sum, count) => sum + count, 0),
    versions: versionsOf(result.id, status.dataPlanes, desired),
  }
}

/** Gateways by the version that they hold, of those that hold one or should. */
const versionsOf = (
  id: string | undefined,
  reports: readonly DataPlaneReport[],
  desired: DesiredSet | undefined,
): readonly VersionRow[] => {
  if (id === undefined) return []
  const byDigest = new Map<string | null, { isWanted: boolean; names: string[] }>()
  for (const { dataPlane, documents } of reports) {
    const held = documents.get(id)?.digest ?? null
    const wanted = wantedDigest(id, dataPlane, desired)
    if (held === null && wanted === null) continue
    const version = byDigest.get(held) ?? { isWanted: held === wanted, names: [] }
    version.isWanted &&= held === wanted
    version.names.push(dataPlane.name)
    byDigest.set(held, version)
  }
  return [...byDigest]
    .map(([digest, { isWanted, names }]) => ({
      digest,
      isWanted,
      count: names.length,
      gateways: names.sort().slice(0, MAX_NAMES),
    }))
    .sort((one, other) => Number(other.isWanted) - Number(one.isWanted) || other.count - one.count)
}

const wantedDigest = (
  id: string,
  dataPlane: DataPlaneReport['dataPlane'],
  desired: DesiredSet | undefined,
): string | null => {
  const document = desired?.documents.get(id)
  if (document === undefined || !isSelected(document, dataPlane)) return null
  const realm = desired?.realms.get(document.realmUri)
  return realm === undefined || mayHoldRealm(dataPlane, realm.namespace) ? document.digest : null
}
