import { describe, expect, it } from '@jest/globals'
import {
  endpointsOf,
  readService,
  readSlice,
  type SliceFacts,
} from '../../../operator/source/service-facts.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

const SPEC: ValueMap = {
  type: 'ClusterIP',
  clusterIP: '10.96.0.5',
  clusterIPs: ['10.96.0.5'],
  selector: { app: 'orders' },
  sessionAffinity: 'None',
  internalTrafficPolicy: 'Cluster',
  ports: [{ name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' }],
}

const service = (spec: ValueMap = {}, annotations: ValueMap = {}): ValueMap => ({
  metadata: { namespace: 'shop', name: 'orders', annotations },
  spec: { ...SPEC, ...spec },
})

const pod = (address: string, conditions: ValueMap = { ready: true }, more: ValueMap = {}) => ({
  addresses: [address],
  conditions,
  targetRef: { kind: 'Pod', namespace: 'shop', name: `pod-${address}` },
  ...more,
})

const slice = (endpoints: readonly ValueMap[], more: ValueMap = {}): ValueMap => ({
  metadata: { namespace: 'shop', name: 'orders-abc' },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints,
  ...more,
})

/** By the port of the Service, the targets: `8080: 10.0.0.1 10.0.0.2`. */
const told = (facts: ValueMap, ...slices: readonly ValueMap[]): unknown => {
  const read = slices.map(readSlice).filter((each): each is SliceFacts => each !== undefined)
  const endpoints = endpointsOf('shop/orders', readService(facts), read)
  if (endpoints === 'own address') return endpoints
  return Object.fromEntries(
    endpoints.ports.map(({ port, targets }) => [
      port,
      targets.map((target) => `${target.port}: ${target.addresses.join(' ')}`),
    ]),
  )
}

const READY = { ready: true, serving: true, terminating: false }
const NOT_READY = { ready: false, serving: false, terminating: false }
const TERMINATING = { ready: false, serving: true, terminating: true }
const GONE = { ready: false, serving: false, terminating: true }

describe('a Service', () => {
  it.each<[what: string, spec: ValueMap, annotations?: ValueMap]>([
    ['of type ExternalName', { type: 'ExternalName', externalName: 'evil.example' }],
    ['that is headless', { clusterIP: 'None', clusterIPs: ['None'] }],
    ['without an address yet', { clusterIP: '', clusterIPs: [] }],
    ['without a selector', { selector: {} }],
    ['with no selector at all', { selector: null }],
    ['with session affinity', { sessionAffinity: 'ClientIP' }],
    ['for Pods of the same node', { internalTrafficPolicy: 'Local' }],
    ['whose owner says so', {}, { 'gateway.svc.dev/endpoints': 'off' }],
    ['of several clusters', {}, { 'service.cilium.io/global': 'true' }],
    ['that is odd', { type: 7, clusterIPs: {}, clusterIP: null, selector: [], ports: 'x' }],
  ])('%s is reached by its own address', (_, spec, annotations = {}) => {
    expect(told(service(spec, annotations), slice([pod('10.0.0.1')]))).toBe('own address')
  })

  it.each<[what: string, spec: ValueMap]>([
    ['without defaults', { type: null, sessionAffinity: null, internalTrafficPolicy: null }],
    ['of type NodePort', { type: 'NodePort' }],
    ['of type LoadBalancer', { type: 'LoadBalancer' }],
    ['of an API without clusterIPs', { clusterIPs: null }],
  ])('%s is reached by its Pods', (_, spec) => {
    expect(told(service(spec), slice([pod('10.0.0.1')]))).toEqual({ 80: ['8080: 10.0.0.1'] })
  })
})

describe('the Pods of a Service', () => {
  it.each<[what: string, endpoints: readonly ValueMap[], left: readonly string[]]>([
    ['ready', [pod('10.0.0.2', READY), pod('10.0.0.1', READY)], ['8080: 10.0.0.1 10.0.0.2']],
    ['that say nothing', [pod('10.0.0.1', {})], ['8080: 10.0.0.1']],
    ['one not ready', [pod('10.0.0.1', READY), pod('10.0.0.2', NOT_READY)], ['8080: 10.0.0.1']],
    ['none ready', [pod('10.0.0.1', NOT_READY)], []],
    ['one terminating', [pod('10.0.0.1', READY), pod('10.0.0.2', TERMINATING)], ['8080: 10.0.0.1']],
    ['all terminating', [pod('10.0.0.1', GONE), pod('10.0.0.2', TERMINATING)], ['8080: 10.0.0.2']],
    ['terminating or not ready', [pod('10.0.0.1', NOT_READY), pod('10.0.0.2', GONE)], []],
    ['told of twice', [pod('10.0.0.1'), pod('10.0.0.1')], ['8080: 10.0.0.1']],
    [
      'of several addresses',
      [{ ...pod('10.0.0.1'), addresses: ['10.0.0.1', '10.9.9.9'] }],
      ['8080: 10.0.0.1'],
    ],
    ['without an address', [{ ...pod('10.0.0.1'), addresses: [] }], []],
    ['none', [], []],
  ])('%s', (_, endpoints, left) => {
    expect(told(service(), slice(endpoints))).toEqual({ 80: left })
  })

  it('are those of all slices, each with the port that its slice has for the name', () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'admin', port: 8000 },
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'none', port: 9 },
    ]
    const first = [
      { name: 'http', port: 8080 },
      { name: 'admin', port: 9000 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ]
    expect(
      told(
        service({ ports }),
        slice([pod('10.0.0.1')], { ports: first }),
        slice([pod('10.0.0.2')], { ports: [{ name: 'http', port: 3000 }] }),
        slice([pod('10.0.0.3')], { ports: first }),
      ),
    ).toEqual({
      80: ['3000: 10.0.0.2', '8080: 10.0.0.1 10.0.0.3'],
      8000: ['9000: 10.0.0.1 10.0.0.3'],
      9: [],
    })
  })

  it('of a port without a name are found by that', () => {
    const ports = [{ port: 80 }]
    const unnamed = slice([pod('10.0.0.1')], { ports: [{ name: '', port: 8080 }] })
    expect(told(service({ ports }), unnamed)).toEqual({ 80: ['8080: 10.0.0.1'] })
  })

  it('are used by the family of the first address', () => {
    const both = [slice([pod('10.0.0.1')]), slice([pod('fd00::1')], { addressType: 'IPv6' })]
    expect(told(service(), ...both)).toEqual({ 80: ['8080: 10.0.0.1'] })
    expect(told(service({ clusterIPs: ['fd00:96::5', '10.96.0.5'] }), ...both)).toEqual({
      80: ['8080: fd00::1'],
    })
  })

  it.each<[what: string, slices: readonly ValueMap[]]>([
    ['an address that is no Pod', [slice([pod('10.0.0.1', {}, { targetRef: null })])]],
    ['a node', [slice([pod('10.0.0.1', {}, { targetRef: { kind: 'Node', name: 'n' } })])]],
    [
      'a Pod of another namespace',
      [slice([pod('10.0.0.1', {}, { targetRef: { kind: 'Pod', namespace: 'bank', name: 'x' } })])],
    ],
    ['a name', [slice([pod('evil.example')], { addressType: 'FQDN' })]],
    [
      'one such beside others',
      [slice([pod('10.0.0.1')]), slice([pod('10.0.0.2', {}, { targetRef: {} })])],
    ],
    [
      'one such of the other family',
      [
        slice([pod('10.0.0.1')]),
        slice([pod('fd00::1', {}, { targetRef: {} })], { addressType: 'IPv6' }),
      ],
    ],
  ])('are left to the Service where its slices hold %s', (_, slices) => {
    expect(told(service(), ...slices)).toBe('own address')
  })

  it('are left to the Service where there are more than 250', () => {
    const many = (count: number) =>
      slice(Array.from({ length: count }, (_, at) => pod(`10.0.${at >> 8}.${at & 255}`)))
    expect(told(service(), many(251))).toEqual({ 80: [] })
    expect(JSON.stringify(told(service(), many(250)))).toContain('10.0.0.249')
  })
})

describe('a port that no Pod serves', () => {
  const emptyPorts = (...slices: readonly ValueMap[]): unknown => {
    const read = slices.map(readSlice).filter((each): each is SliceFacts => each !== undefined)
    const endpoints = endpointsOf('shop/orders', readService(service()), read)
    return endpoints === 'own address' ? endpoints : endpoints.ports.map(({ isEmpty }) => isEmpty)
  }

  it.each<[what: string, slices: readonly ValueMap[], isEmpty: boolean]>([
    ['without slices', [], true],
    ['without endpoints', [slice([])], true],
    ['with Pods that are not ready', [slice([pod('10.0.0.1', NOT_READY)])], true],
    ['with Pods that are gone', [slice([pod('10.0.0.1', GONE)])], true],
    ['with a Pod that serves while it terminates', [slice([pod('10.0.0.1', TERMINATING)])], false],
    ['with a Pod that is ready', [slice([pod('10.0.0.1', READY)])], false],
    [
      'with Pods of another port',
      [slice([pod('10.0.0.1', READY)], { ports: [{ name: 'x', port: 1 }] })],
      true,
    ],
    [
      'with Pods of the other address family alone',
      [slice([pod('fd00::1', READY)], { addressType: 'IPv6' })],
      false,
    ],
    [
      'with more Pods than gateways balance over',
      [slice(Array.from({ length: 251 }, (_, at) => pod(`10.0.1.${at}`, READY)))],
      false,
    ],
  ])('%s is said to be empty: %#', (_, slices, isEmpty) => {
    expect(emptyPorts(...slices)).toEqual([isEmpty ? true : undefined])
  })
})
