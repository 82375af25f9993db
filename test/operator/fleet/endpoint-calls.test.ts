import { describe, expect, it } from '@jest/globals'
import { planEndpointCalls } from '../../../operator/fleet/endpoint-calls.ts'
import type { DesiredDocument } from '../../../operator/desired-set.ts'
import { servicesNamedBy, WantedServices } from '../../../operator/fleet/wanted-services.ts'
import type { ServiceState } from '../../../operator/service-endpoints.ts'
import type { ServiceEndpoints } from '../../../language/wire/wire.ts'
import { aDocument } from '../../support/desired.ts'

const endpoints = (service: string): ServiceEndpoints => ({ service, addresses: [], ports: [] })
const A = endpoints('shop/a')
const B = endpoints('shop/b')
const NEW_A = endpoints('shop/a')

interface Case {
  readonly sent?: readonly ServiceEndpoints[]
  readonly wanted?: readonly string[]
  readonly states?: Readonly<Record<string, ServiceState>>
  readonly isWhole?: boolean
}

const plan = ({ sent = [], states = {}, wanted = Object.keys(states), isWhole = false }: Case) =>
  planEndpointCalls({
    sent: new Map(sent.map((each) => [each.service, each])),
    wanted,
    isWhole,
    stateOf: (service) => states[service] ?? 'unknown',
    sizeOf: () => 100 * 1024,
  })

describe('what a gateway is sent', () => {
  it.each<[what: string, given: Case, calls: readonly object[]]>([
    ['nothing', { sent: [A], states: { 'shop/a': A } }, []],
    ['what is new', { states: { 'shop/a': A } }, [{ put: [A], delete: [] }]],
    [
      'what has changed',
      { sent: [A, B], states: { 'shop/a': NEW_A, 'shop/b': B } },
      [{ put: [NEW_A], delete: [] }],
    ],
    [
      'what is not wanted any more',
      { sent: [A, B], states: { 'shop/a': A } },
      [{ put: [], delete: ['shop/b'] }],
    ],
    [
      'what has its own address now',
      { sent: [A], states: { 'shop/a': 'own address' } },
      [{ put: [], delete: ['shop/a'] }],
    ],
    [
      'what does not exist, and may get an address of its own',
      { sent: [A], states: { 'shop/a': 'absent' } },
      [{ put: [], delete: ['shop/a'] }],
    ],
    ['nothing of what is not known yet', { sent: [A], wanted: ['shop/a', 'shop/b'] }, []],
    [
      'all of it',
      { sent: [A], states: { 'shop/a': A, 'shop/b': B }, isWhole: true },
      [{ put: [A, B], delete: [], only: ['shop/a', 'shop/b'] }],
    ],
    ['that there is nothing', { sent: [A], isWhole: true }, [{ put: [], delete: [], only: [] }]],
    [
      'to keep what is not known yet',
      { wanted: ['shop/a'], isWhole: true },
      [{ put: [], delete: [], only: ['shop/a'] }],
    ],
  ])('%s', (_, given, calls) => {
    expect(plan(given).calls).toEqual(calls)
  })

  it('comes in calls of some 256 KiB, and what is to be forgotten with the last', () => {
    const many = Array.from({ length: 7 }, (_, at) => endpoints(`shop/s${at}`))
    const states = Object.fromEntries(many.map((each) => [each.service, each]))
    const { calls, sent } = plan({ states, isWhole: true })
    expect(calls.map(({ put }) => put.length)).toEqual([3, 3, 1])
    expect(calls.map(({ only }) => only?.length)).toEqual([undefined, undefined, 7])
    expect(sent.size).toBe(7)
  })
})

const SCOPE = { clusterDomain: 'cluster.local', namespaces: 'all' } as const

describe('the Services that a document names', () => {
  it.each<[hosts: readonly string[], services: readonly string[], more?: object]>([
    [['orders.shop'], ['shop/orders']],
    [['orders.shop', 'ORDERS.shop.svc', 'orders.shop.svc.cluster.local.'], ['shop/orders']],
    [
      ['orders', 'pod-0.orders.shop', 'api.example.com', '10.0.0.1', '[fd00::1]', 'orders.shop.'],
      [],
    ],
    [['orders.shop.svc.other.domain'], []],
    [['orders.bank', 'orders.shop'], ['shop/orders'], { confinedTo: 'shop' }],
  ])('%s: %s', (forwardHosts, services, more = {}) => {
    expect(servicesNamedBy({ ...aDocument('a'), forwardHosts, ...more }, SCOPE)).toEqual(services)
  })

  it('are watched in the namespaces that the operator serves in alone', () => {
    const document = { ...aDocument('a'), forwardHosts: ['orders.shop', 'vault.bank'] }
    expect(servicesNamedBy(document, { ...SCOPE, namespaces: ['shop'] })).toEqual(['shop/orders'])
  })
})

describe('the Services that are watched', () => {
  const naming = (id: string, namespace: string, ...forwardHosts: string[]) => ({
    ...aDocument(id),
    namespace,
    forwardHosts,
  })
  const byId = (...documents: readonly DesiredDocument[]): ReadonlyMap<string, DesiredDocument> =>
    new Map(documents.map((document) => [document.id, document]))
  const many = (count: number, namespace: string): string[] =>
    Array.from({ length: count }, (_, at) => `s${at}.${namespace}`)

  it('are 200 for the documents of a namespace, and those of before first', () => {
    const services = new WantedServices(SCOPE)
    expect(services.update(byId(naming('a', 'shop', ...many(300, 'bank')))).size).toBe(200)
    const wanted = services.update(
      byId(
        naming('z', 'shop', 'fresh.shop'),
        naming('a', 'shop', ...many(300, 'bank')),
        naming('b', 'other', 'orders.other'),
      ),
    )
    expect([wanted.size, wanted.has('shop/fresh'), wanted.has('other/orders')]).toEqual([
      201,
      false,
      true,
    ])
  })

  it('are 2000 in all', () => {
    const services = new WantedServices(SCOPE)
    const documents = Array.from({ length: 11 }, (_, at) =>
      naming(`d${at}`, `n${at}`, ...many(200, `n${at}`)),
    )
    expect(services.update(byId(...documents)).size).toBe(2000)
  })

  it('are sent to a sidecar as far as they are of its own namespace', () => {
    const services = new WantedServices(SCOPE)
    const document = naming('a', 'shop', 'orders.shop', 'vault.bank')
    services.update(byId(document))
    const selected = () => ({ documents: byId(document), line: {} })
    expect([...services.for({}, selected())]).toEqual(['shop/orders', 'bank/vault'])
    expect([...services.for({ namespace: 'shop' }, selected())]).toEqual(['shop/orders'])
  })
})
