import { describe, expect, it } from '@jest/globals'
import type { OperatorStatus } from '../../../operator/controller/controller.ts'
import type { DataPlaneReport } from '../../../operator/data-plane.ts'
import { type Reconciliation, Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { StatusRegistry } from '../../../operator/reconcile/status/status-registry.ts'
import { debugPages } from '../../../operator/status/debug-pages.ts'
import { PAGE_NOT_FOUND } from '../../../operator/status/page.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const RESOURCES = [
  resourceOf('Realm', 'shop', {
    spec: { uri: 'com.shop', callbackSecret: { secretRef: { name: 'keys', key: 'k' } } },
  }),
  resourceOf('Secret', 'keys', { stringData: { k: 'HUSH-HUSH' } }),
  resourceOf('ApiSpecification', 'orders', {
    spec: {
      document: aSpecification('orders'),
      variablesFrom: [{ name: 'token', secretRef: { name: 'keys', key: 'k' } }],
    },
  }),
  resourceOf('ApiSpecification', 'shop', { spec: { document: aSpecification('shop') } }),
]

const reportOf = (held: ReadonlyMap<string, string>): DataPlaneReport => ({
  dataPlane: { name: 'gateways/gw-1', url: 'https://10.0.0.1:9090', labels: {} },
  phase: 'syncing',
  message: 'busy',
  ready: false,
  documents: new Map(Array.from(held, ([id, digest]) => [id, { digest, warnings: [] }])),
  realms: new Map(),
  realmsGiven: new Set(),
  rejected: { documents: new Map(), realms: new Map() },
})

const home = (heldOf: (validated: Reconciliation) => ReadonlyMap<string, string>) => {
  const validated = new Reconciler({ className: 'svc' }).reconcile(cacheOf(RESOURCES))
  const dataPlanes = [reportOf(heldOf(validated))]
  const status: OperatorStatus = {
    isReady: true,
    isLeading: true,
    resources: new StatusRegistry().update(validated.results, dataPlanes, 0),
    dataPlanes,
    notes: [],
  }
  const pages = debugPages({ status: () => status, desired: () => validated.desired })
  return {
    validated,
    get: async (path: keyof typeof pages, ...values: readonly string[]) =>
      await pages[path]?.(...values),
  }
}

const jsonOf = (page: unknown): unknown =>
  typeof page === 'object' && page !== null && 'json' in page ? page.json : page

describe('debug pages', () => {
  it('tell where a data plane differs from what is wanted', async () => {
    const { get, validated } = home(
      () =>
        new Map([
          ['orders', 'sha256:old'],
          ['gone', 'sha256:x'],
        ]),
    )
    const digestOf = (id: string) => validated.desired.documents.get(id)?.digest
    expect(await get('/debug/data-planes/:name/diff', 'gateways/gw-1')).toEqual(
      await get('/debug/pods/:namespace/:name/diff', 'gateways', 'gw-1'),
    )
    expect(
      jsonOf(await get('/debug/pods/:namespace/:name/diff', 'gateways', 'gw-1')),
    ).toMatchObject({
      phase: 'syncing',
      documents: {
        put: {
          orders: { wanted: digestOf('orders'), held: 'sha256:old' },
          shop: { wanted: digestOf('shop'), held: null },
        },
        delete: ['gone'],
      },
      realms: { put: { 'com.shop': { held: null } }, delete: [] },
    })
  })

  it('tell nothing where there is no difference', async () => {
    const { get } = home(
      ({ desired }) => new Map(Array.from(desired.documents, ([id, { digest }]) => [id, digest])),
    )
    expect(
      jsonOf(await get('/debug/pods/:namespace/:name/diff', 'gateways', 'gw-1')),
    ).toMatchObject({ documents: { put: {}, delete: [] } })
  })

  it.each([
    ['/debug/pods/:namespace/:name/diff', ['gateways', 'constructor']],
    ['/debug/data-planes/:name/diff', ['__proto__']],
    ['/debug/resources/:namespace/:name', ['default', '__proto__']],
  ])('%s of no object', async (path, values) => {
    expect(await home(() => new Map()).get(path, ...values)).toBe(PAGE_NOT_FOUND)
  })

  it('tell all of a resource, and no secret anywhere', async () => {
    const { get } = home(() => new Map())
    const resource = await get('/debug/resources/:namespace/:name', 'default', 'orders')
    expect(jsonOf(resource)).toMatchObject({
      resources: [{ kind: 'ApiSpecification', id: 'orders' }],
    })
    const all = [
      resource,
      await get('/debug/desired'),
      await get('/debug/pods'),
      await get('/debug/data-planes'),
      await get('/debug/pods/:namespace/:name/diff', 'gateways', 'gw-1'),
      await get('/debug/resources/:namespace/:name', 'default', 'shop'),
    ]
    expect(JSON.stringify(all)).not.toMatch(/HUSH|SFVTSC1IVVNI/)
    expect(jsonOf(all[1])).toMatchObject({ documents: { orders: { realmUri: 'com.shop' } } })
  })

  it('of a standby name the leader, and never say that something is not there', async () => {
    const status = {
      isLeading: false,
      dataPlanes: [],
      resources: new Map(),
      isReady: true,
      notes: [],
    }
    const leader = { role: 'standby', leader: null, message: 'b leads and answers' } as const
    const { validated } = home(() => new Map())
    const pages = debugPages({
      status: () => status,
      desired: () => validated.desired,
      leader: () => leader,
    })
    expect(jsonOf(await pages['/debug/pods']?.())).toEqual({ isLeading: false, ...leader })
    const error = { error: 'b leads and answers' }
    expect(await pages['/debug/pods/:namespace/:name/diff']?.('a', 'b')).toEqual(error)
    expect(await pages['/debug/resources/:namespace/:name']?.('a', 'b')).toEqual(error)
    expect(jsonOf(await pages['/debug/desired']?.())).toHaveProperty('documents.orders')
  })

  it('say when nothing was read yet', async () => {
    const status = { isLeading: false, dataPlanes: [], resources: new Map() }
    const pages = debugPages({
      status: () => status as unknown as OperatorStatus,
      desired: () => undefined,
    })
    expect(jsonOf(await pages['/debug/desired']?.())).toMatchObject({
      holdDeletes: 'the resources have not been read yet',
    })
    expect(await pages['/debug/pods/:namespace/:name/diff']?.('a', 'b')).toBe(PAGE_NOT_FOUND)
  })
})
