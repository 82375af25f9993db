// Makes what the web page shows of gateways and realms from the status of the operator: digests, how far behind a
// gateway is and in what, sessions with routers, identity providers. Pure.

import { oncePer } from '../../base/once.ts'
import { mapAt } from '../../language/expression/members.ts'
import { rootDigest } from '../../language/wire/digest.ts'
import type {
  DifferenceRow,
  GatewayDetail,
  GatewayRow,
  Lag,
  ProviderRow,
  RealmRow,
  State,
} from '../../web/overview.ts'
import { countSessions, cutText, MAX_DIFFERENCES, reasonsOf } from '../../web/overview-rows.ts'
import type { DataPlanePhase, DataPlaneReport, LoadedRealm, Rejection } from '../data-plane.ts'
import type { Selection } from '../fleet/sync/selection.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import type { Locate } from '../resource/resource-source.ts'
import { headlineOf, nameOf, placeOf, stateOf } from './overview-documents.ts'

const STATE_OF_PHASE = {
  connecting: 'pending',
  syncing: 'pending',
  synced: 'ready',
  holding: 'degraded',
  withheld: 'degraded',
  unreachable: 'failed',
  unauthorized: 'failed',
  not_owner: 'failed',
  superseded: 'failed',
} as const satisfies Record<DataPlanePhase, State>

export const gatewayState = ({ phase, ready, rejected }: DataPlaneReport): State => {
  const state = STATE_OF_PHASE[phase]
  if (state !== 'ready') return state
  if (!ready) return 'pending'
  return rejected.documents.size + rejected.realms.size > 0 ? 'degraded' : 'ready'
}

/** @param selection what it should have loaded; undefined: nothing has been read yet */
export const gatewayRow = (
  report: DataPlaneReport,
  selection: Selection | undefined,
): GatewayRow => {
  const { dataPlane, phase, message, version, documents, realms, rejected } = report
  const lag = selection === undefined ? NO_LAG : lagsOf(report)(selection)
  const isLevel = lag.missing + lag.outdated + lag.extra === 0
  return {
    name: dataPlane.name,
    url: dataPlane.url,
    state: gatewayState(report),
    phase,
    message: cutText(message),
    version: version ?? null,
    // It is computed once for gateways that have loaded the same.
    digest: isLevel && selection !== undefined ? selection.rootDigest() : heldDigest(report).digest,
    wanted: selection?.rootDigest() ?? null,
    documents: documents.size,
    realms: realms.size,
    lag,
    rejected: rejected.documents.size + rejected.realms.size,
  }
}

/** Once for each report: of 10,000 documents it takes milliseconds, and a page shows a hundred gateways. */
const heldDigest = oncePer(({ documents, realms }: DataPlaneReport) => {
  if (documents.size + realms.size === 0) return { digest: null }
  const digest = rootDigest([
    ...Array.from(documents, ([key, { digest }]) => ({ kind: 'spec', key, digest }) as const),
    ...Array.from(realms, ([key, { digest }]) => ({ kind: 'realm', key, digest }) as const),
  ])
  return { digest }
})

type Digests = ReadonlyMap<string, { readonly digest: string }>

const NO_LAG: Lag = { missing: 0, outdated: 0, extra: 0 }

/** Once for each report and selection. */
const lagsOf = oncePer((report: DataPlaneReport) =>
  oncePer((selection: Selection) => lagOf(report, selection)),
)

const lagOf = ({ documents, realms }: DataPlaneReport, selection: Selection): Lag => {
  const lag = { missing: 0, outdated: 0, extra: 0 }
  const { kept } = selection.desired
  countLag(lag, { wanted: selection.documents, held: documents, kept: kept.documents })
  countLag(lag, { wanted: selection.realms, held: realms, kept: kept.realms })
  return lag
}

interface Compared {
  readonly wanted: Digests
  readonly held: Digests
  /** What may stay though nothing wants it. */
  readonly kept: ReadonlySet<string>
}

const countLag = (
  lag: { missing: number; outdated: number; extra: number },
  { wanted, held, kept }: Compared,
): void => {
  for (const [key, { digest }] of wanted) {
    const other = held.get(key)?.digest
    if (other === undefined) lag.missing++
    else if (other !== digest) lag.outdated++
  }
  for (const key of held.keys()) if (!wanted.has(key) && !kept.has(key)) lag.extra++
}

export const gatewayDetail = (
  report: DataPlaneReport,
  selection: Selection | undefined,
): GatewayDetail => {
  const gateway = gatewayRow(report, selection)
  if (selection === undefined) return { gateway, differences: [], moreDifferences: 0 }
  const { kept } = selection.desired
  const { documents, realms, rejected } = report
  const differences = [
    ...differencesOf(
      'document',
      { wanted: selection.documents, held: documents, kept: kept.documents },
      rejected.documents,
    ),
    ...differencesOf(
      'realm',
      { wanted: selection.realms, held: realms, kept: kept.realms },
      rejected.realms,
    ),
  ]
  const shown = differences.slice(0, MAX_DIFFERENCES)
  return { gateway, differences: shown, moreDifferences: differences.length - shown.length }
}

const differencesOf = (
  kind: DifferenceRow['kind'],
  { wanted, held, kept }: Compared,
  rejected: ReadonlyMap<string, Rejection>,
): readonly DifferenceRow[] => {
  const keys = new Set([...wanted.keys(), ...held.keys()])
  return [...keys].sort().flatMap((key) => {
    const [should, has] = [wanted.get(key)?.digest ?? null, held.get(key)?.digest ?? null]
    if (should === has || (should === null && kept.has(key))) return []
    const [error] = rejected.get(key)?.errors ?? []
    const rejection = error === undefined ? null : cutText(`${error.path} ${error.message}`.trim())
    return [{ kind, key, wanted: should, held: has, rejection }]
  })
}

/** How many documents use each realm, by uri. */
export const realmUses = (resources: Iterable<ResourceStatus>): ReadonlyMap<string, number> => {
  const uses = new Map<string, number>()
  for (const { result } of resources) {
    const { realmUri, resource } = result
    if (resource.kind === 'ApiSpecification' && realmUri !== undefined)
      uses.set(realmUri, (uses.get(realmUri) ?? 0) + 1)
  }
  return uses
}

export interface RealmSources {
  readonly dataPlanes: readonly DataPlaneReport[]
  readonly uses: ReadonlyMap<string, number>
  readonly locate: Locate | undefined
}

export const realmRow = (
  status: ResourceStatus,
  { dataPlanes, uses, locate }: RealmSources,
): RealmRow => {
  const uri = status.result.id ?? ''
  const loaded = dataPlanes.flatMap(({ dataPlane, realms }) => {
    const realm = realms.get(uri)
    return realm === undefined ? [] : [{ name: dataPlane.name, realm }]
  })
  const sessions = loaded.flatMap(({ name, realm }) =>
    realm.sessions.map((session) => ({ ...session, gateway: name })),
  )
  return {
    uri,
    key: nameOf(status),
    state: stateOf(status),
    ...headlineOf(status),
    place: placeOf(status, status.result.errors[0], locate),
    documents: uses.get(uri) ?? 0,
    gateways: loaded.length,
    sessions: countSessions(sessions),
    troubles: reasonsOf(sessions),
    providers: providerNames(status).map((name) => providerRow(name, loaded)),
  }
}

const providerNames = ({ result: { resource } }: ResourceStatus): readonly string[] => {
  if (resource.kind !== 'Realm' || !('spec' in resource.checked)) return []
  return Object.keys(mapAt(mapAt(resource.checked.spec, 'info'), 'oidcProviders'))
}

const providerRow = (
  name: string,
  loaded: readonly { readonly realm: LoadedRealm }[],
): ProviderRow => {
  const failing = loaded.flatMap(
    ({ realm }) => realm.failingProviders?.filter(({ provider }) => provider === name) ?? [],
  )
  return { name, failing: failing.length, causes: [...new Set(failing.map(({ cause }) => cause))] }
}
