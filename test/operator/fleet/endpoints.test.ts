// A fleet that tells fake data planes of the Pods of Services.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { EndpointSource, ServiceState } from '../../../operator/service-endpoints.ts'
import type { FakeDataPlane } from '../../support/fake-data-plane.ts'
import type { ServiceEndpoints } from '../../../language/wire/wire.ts'
import { aDesiredSet, aDocument, aRealm } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import { aFleet, aPlane, closeAll, HASTY, named, roundTrip, ToldDataPlanes } from './rig.ts'

afterEach(closeAll)

const endpoints = (service: string, ...addresses: string[]): ServiceEndpoints => ({
  service,
  addresses: ['10.96.0.1'],
  ports: [{ port: 80, targets: [{ port: 8080, addresses }] }],
})

class FakeSource implements EndpointSource {
  wanted: ReadonlySet<string> = new Set()
  isStopped = false
  readonly #states = new Map<string, ServiceState>()
  #onChange: () => void = () => undefined

  start(onChange: () => void): void {
    this.#onChange = onChange
  }

  want(services: ReadonlySet<string>): void {
    this.wanted = services
  }

  of(service: string): ServiceState {
    return this.#states.get(service) ?? 'unknown'
  }

  lack(service: string): void {
    this.#states.set(service, 'absent')
    this.#onChange()
  }

  tell(...all: readonly ServiceEndpoints[]): void {
    for (const each of all) this.#states.set(each.service, each)
    this.#onChange()
  }

  stop(): Promise<void> {
    this.isStopped = true
    return Promise.resolve()
  }
}

const DOCUMENT = {
  ...aDocument('a'),
  namespace: 'shop',
  forwardHosts: ['orders.shop', 'vault.bank'],
}
const ORDERS = endpoints('shop/orders', '10.0.0.1')
const VAULT = endpoints('bank/vault', '10.0.0.9')

const start = async (plane: FakeDataPlane, ...others: FakeDataPlane[]) => {
  const source = new FakeSource()
  const lacking: string[] = []
  const { fleet } = aFleet([plane, ...others], {
    clock: HASTY,
    onServices: () => lacking.push([...fleet.absentServices].join(' ')),
    endpoints: { source, clusterDomain: 'cluster.local', namespaces: 'all' },
  })
  fleet.apply(aDesiredSet([DOCUMENT]))
  await eventually(() => {
    expect(plane.endpointCalls.length).toBeGreaterThan(0)
  })
  return { source, fleet, plane, lacking }
}

const holds = (plane: FakeDataPlane, ...all: readonly ServiceEndpoints[]): Promise<void> =>
  eventually(() => {
    expect([...plane.services.values()]).toEqual(all)
  })

it('which Services do not exist is reported once for each change', async () => {
  const { source, fleet, lacking } = await start(await aPlane())
  source.tell(ORDERS)
  expect([...fleet.absentServices]).toEqual([])
  source.lack('bank/vault')
  source.tell({ ...ORDERS, ports: [] })
  source.tell({ ...ORDERS, ports: [], isAbsent: true })
  source.tell(ORDERS, VAULT)
  expect(lacking).toEqual(['bank/vault', 'shop/orders bank/vault', ''])
  source.lack('bank/vault')
  // No document names it any more.
  fleet.apply(aDesiredSet([{ ...DOCUMENT, digest: 'next', forwardHosts: ['orders.shop'] }]))
  expect(lacking.slice(3)).toEqual(['bank/vault', ''])
})

describe('a gateway', () => {
  it('is sent the Services of its documents, and what changes in them', async () => {
    const { source, plane } = await start(await aPlane())
    expect([...source.wanted]).toEqual(['shop/orders', 'bank/vault'])
    source.tell(ORDERS, VAULT)
    await holds(plane, ORDERS, VAULT)
    const calls = plane.endpointCalls.length
    const news = endpoints('shop/orders', '10.0.0.2')
    source.tell(news)
    await eventually(() => {
      expect(plane.endpointCalls.slice(calls).map(({ put }) => put)).toEqual([[news]])
    })
    const sequences = plane.endpointCalls.map(({ sequence }) => sequence)
    expect(sequences).toEqual(sequences.toSorted((left, right) => left - right))
    expect(new Set(plane.endpointCalls.map(({ sender }) => sender)).size).toBe(1)
  })

  it('is sent many changes at once', async () => {
    const { source, plane } = await start(await aPlane())
    const calls = plane.endpointCalls.length
    for (let at = 1; at <= 50; at++) source.tell(endpoints('shop/orders', `10.0.0.${at}`))
    await holds(plane, endpoints('shop/orders', '10.0.0.50'))
    expect(plane.endpointCalls.length - calls).toBeLessThanOrEqual(2)
  })

  it('is sent nothing after syncs that name the same Services, and everything when it has restarted', async () => {
    const { source, fleet, plane } = await start(await aPlane())
    source.tell(ORDERS)
    await holds(plane, ORDERS)
    const calls = plane.endpointCalls.length
    fleet.apply(aDesiredSet([DOCUMENT, aDocument('b')]))
    await eventually(() => {
      expect(plane.specs.has('b')).toBe(true)
    })
    // What comes next is of the change, and not of the sync.
    source.tell(VAULT)
    await holds(plane, ORDERS, VAULT)
    expect(plane.endpointCalls.slice(calls).map(({ put, only }) => ({ put, only }))).toEqual([
      { put: [VAULT] },
    ])
    plane.restart({ keeps: true })
    plane.touch()
    await holds(plane, ORDERS, VAULT)
    expect(plane.endpointCalls.at(-1)?.only).toEqual(['shop/orders', 'bank/vault'])
  })

  it('is sent a Service that a new document names', async () => {
    const { source, fleet, plane } = await start(await aPlane())
    source.tell(ORDERS)
    await holds(plane, ORDERS)
    const cart = endpoints('shop/cart', '10.0.0.7')
    source.tell(cart)
    const other = { ...aDocument('b'), namespace: 'shop', forwardHosts: ['cart.shop'] }
    fleet.apply(aDesiredSet([DOCUMENT, other]))
    await eventually(() => {
      expect([...plane.services.values()]).toEqual([ORDERS, cart])
    })
  })

  it('is sent the Services of documents that select its new labels', async () => {
    const plane = await aPlane()
    const source = new FakeSource()
    source.tell(ORDERS)
    const dataPlanes = new ToldDataPlanes()
    const { fleet, reports } = aFleet([], {
      dataPlanes,
      clock: HASTY,
      endpoints: { source, clusterDomain: 'cluster.local', namespaces: 'all' },
    })
    dataPlanes.tell([named('p', plane, { labels: { tier: 'gold' } })])
    fleet.apply(aDesiredSet([{ ...DOCUMENT, selector: { matchLabels: { tier: 'silver' } } }]))
    await eventually(() => {
      expect(reports.at(-1)?.phase).toBe('synced')
    })
    expect([...plane.services.values()]).toEqual([])
    dataPlanes.tell([named('p', plane, { labels: { tier: 'silver' } })])
    await holds(plane, ORDERS)
  })

  it('that knows no such call is called once, until it restarts', async () => {
    const plane = await aPlane()
    plane.isBeforeEndpoints = true
    const source = new FakeSource()
    const { fleet } = aFleet([plane], {
      clock: HASTY,
      endpoints: { source, clusterDomain: 'cluster.local', namespaces: 'all' },
    })
    fleet.apply(aDesiredSet([DOCUMENT]))
    await eventually(() => {
      expect(plane.endpointCalls404).toBe(1)
    })
    for (let at = 0; at < 5; at++) {
      source.tell(endpoints('shop/orders', `10.0.0.${at}`))
      await eventually(() => {
        expect(plane.calls.length).toBeGreaterThan(5 * at)
      })
    }
    expect(plane.endpointCalls404).toBe(1)
    expect(fleet.reports()[0]?.phase).toBe('synced')
    plane.isBeforeEndpoints = false
    plane.restart({ keeps: true })
    plane.touch()
    source.tell(ORDERS)
    await holds(plane, ORDERS)
  })

  it.each([
    ['fails', { status: 500 }],
    ['breaks off', { status: 200, body: 'no JSON' }],
    ['is overtaken', { status: 409, body: { code: 'svc.error.stale_sequence' } }],
  ])(
    'of which a call %s is sent all of it again, and its documents are served as before',
    async (_, fault) => {
      const { source, plane, fleet } = await start(await aPlane())
      plane.endpointFaults.push(fault, fault)
      source.tell(ORDERS)
      await holds(plane, ORDERS)
      await eventually(() => {
        expect(fleet.reports()[0]?.phase).toBe('synced')
      })
    },
  )

  it('of another manager is sent nothing', async () => {
    const plane = await aPlane()
    const other = await aPlane()
    other.manager = 'somebody'
    const { source } = await start(plane, other)
    source.tell(ORDERS)
    await holds(plane, ORDERS)
    expect(other.endpointCalls).toEqual([])
  })
})

describe('a sidecar', () => {
  it('is sent Services of its own namespace only', async () => {
    const plane = await aPlane()
    const source = new FakeSource()
    const dataPlane = { name: 'shop/pod', url: plane.url, labels: {}, namespace: 'shop' }
    const { fleet } = aFleet([], {
      dataPlanes: {
        start: (onChange) => {
          onChange([dataPlane])
        },
        synced: () => true,
        stop: () => undefined,
      },
      clock: HASTY,
      endpoints: { source, clusterDomain: 'cluster.local', namespaces: 'all' },
    })
    fleet.apply(
      aDesiredSet([{ ...DOCUMENT, selector: {} }], {
        realmList: [aRealm(undefined, { namespace: 'shop' })],
      }),
    )
    source.tell(ORDERS, VAULT)
    await holds(plane, ORDERS)
    expect(plane.endpointCalls.every(({ only = [] }) => !only.includes('bank/vault'))).toBe(true)
  })
})

describe('a fleet', () => {
  it('that stops ends the watching, and tells nothing any more', async () => {
    const { source, fleet, plane } = await start(await aPlane())
    await fleet.stop()
    const calls = plane.endpointCalls.length
    source.tell(ORDERS)
    await roundTrip(plane)
    expect([source.isStopped, plane.endpointCalls.length]).toEqual([true, calls])
  })
})
