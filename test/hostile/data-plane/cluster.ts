// An operator's fleet with a data plane that is hostile and one that is honest, the documents of two tenants, and the
// statuses that come of what both say: what tests of hostile data planes start from.

import { expect } from '@jest/globals'
import type { DataPlane, DataPlaneReport } from '../../../operator/data-plane.ts'
import type { Fleet, FleetOptions } from '../../../operator/fleet/fleet.ts'
import { type Reconciliation, Reconciler } from '../../../operator/reconcile/reconciler.ts'
import {
  type ResourceStatus,
  StatusRegistry,
} from '../../../operator/reconcile/status/status-registry.ts'
import { aFleet, aPlane, closeLater, named, ToldDataPlanes } from '../../operator/fleet/rig.ts'
import { eventually } from '../../support/eventually.ts'
import type { FakeDataPlane } from '../../support/fake-data-plane.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'
import { type HostileDataPlane, startHostileDataPlane } from './hostile-data-plane.ts'

export const PATIENCE = { withinMs: 15_000, everyMs: 10 }

/** A tenant `shop`, whose sidecar is hostile, and a tenant `bank`, whose document is for the shared pool. */
export const reconcile = (edition: number): Reconciliation =>
  new Reconciler({ className: 'svc' }).reconcile(
    cacheOf(
      ['shop', 'bank'].flatMap((namespace) => [
        resourceOf(
          'Realm',
          namespace,
          {
            spec: { uri: `com.${namespace}`, router: { url: `wss://router.${namespace}.test/ws` } },
          },
          { namespace, uid: `realm-${namespace}` },
        ),
        resourceOf(
          'ApiSpecification',
          namespace,
          {
            spec: {
              document: aSpecification(namespace, {
                realm_uri: `com.${namespace}`,
                description: `edition ${edition}`,
              }),
              ...(namespace === 'shop' && { dataPlaneSelector: {} }),
            },
          },
          { namespace, uid: `document-${namespace}`, generation: edition },
        ),
      ]),
      { version: edition },
    ),
  )

export interface Cluster {
  readonly fleet: Fleet
  readonly honest: FakeDataPlane
  /** Of the data plane that is hostile. */
  readonly report: () => DataPlaneReport
  /** Of all resources, by key. */
  readonly statuses: () => ReadonlyMap<string, ResourceStatus>
  /** Another edition of all documents reaches the honest data plane, and those of `bank` are in service. */
  readonly othersAreServed: () => Promise<void>
}

/** @param where the hostile one is: a sidecar of `shop`, or of the shared pool */
export const startCluster = async (
  { url }: { readonly url: string },
  { namespace, ...options }: Partial<FleetOptions> & { readonly namespace?: string } = {},
): Promise<Cluster> => {
  const honest = await aPlane()
  const told = new ToldDataPlanes()
  const { fleet } = aFleet([], { dataPlanes: told, ...options })
  const hostile: DataPlane = {
    name: 'shop/hostile',
    url,
    labels: {},
    ...(namespace !== undefined && { namespace }),
  }
  told.tell([hostile, named('svc/honest', honest)])
  let edition = 1
  let validated = reconcile(edition)
  fleet.apply(validated.desired)
  const book = new StatusRegistry()
  const statuses = (): ReadonlyMap<string, ResourceStatus> =>
    book.update(validated.results, fleet.reports(), edition)
  const report = (): DataPlaneReport => {
    const found = fleet.reports().find(({ dataPlane }) => dataPlane.name === hostile.name)
    if (found === undefined) throw new Error('it is gone')
    return found
  }
  const othersAreServed = async (): Promise<void> => {
    edition += 1
    validated = reconcile(edition)
    fleet.apply(validated.desired)
    await eventually(() => {
      expect(honest.specs.get('bank')?.digest).toBe(validated.desired.documents.get('bank')?.digest)
      const honestly = fleet.reports().find(({ dataPlane }) => dataPlane.name === 'svc/honest')
      expect([honestly?.phase, honestly?.message]).toEqual(['synced', ''])
      for (const key of ['Realm/bank/bank', ...(namespace ? ['ApiSpecification/bank/bank'] : [])])
        expect([key, ...failing(statuses().get(key))]).toEqual([key])
    }, PATIENCE)
  }
  return { fleet, honest, report, statuses, othersAreServed }
}

export const failing = (status: ResourceStatus | undefined): readonly string[] =>
  (status?.conditions ?? [])
    .filter((condition) => condition.status !== 'True')
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)

export const hostileWith = async (
  responses: HostileDataPlane['responses'],
): Promise<HostileDataPlane> => {
  const hostile = await startHostileDataPlane(responses)
  closeLater(() => hostile[Symbol.asyncDispose]())
  return hostile
}

export const SIDECAR = { namespace: 'shop' }

export const LEFT_ALONE = /not called for 10 minutes/
