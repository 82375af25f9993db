import { describe, expect, it } from '@jest/globals'
import {
  type ClusterFacts,
  createClusterDestinations,
} from '../../../../dataplane/upstream/destinations/cluster-destinations.ts'
import {
  createGuard,
  createRouterGuard,
  type GuardOptions,
  readRules,
  type RouterGuard,
} from '../../../../dataplane/upstream/destinations/guard.ts'

const clusterOf = (facts: Partial<ClusterFacts> = {}) =>
  createClusterDestinations({
    apiServer: '10.96.0.1',
    gatewayPorts: [18081],
    networks: [],
    ownAddresses: ['::1', '127.0.0.1', '10.244.1.2'],
    ...facts,
  })

describe('in a cluster', () => {
  const open = readRules(['*', '0.0.0.0/0', '::/0']).rules
  const cluster = clusterOf()
  const forwarding = (options: GuardOptions): RouterGuard => {
    const guard = createGuard(options)
    return (host, address, port) => guard.allows(host, address, port)
  }
  const guards = {
    'a guard': forwarding({ cluster }),
    'a guard that allows everything': forwarding({ cluster, allow: open }),
    'the guard of routers': createRouterGuard({ cluster, allow: open }),
  }

  describe.each(Object.entries(guards))('%s', (_name, allows) => {
    it.each<[host: string, address: string, port: number]>([
      ['10.96.0.1', '10.96.0.1', 443],
      ['10.96.0.1', '10.96.0.1', 6443],
      ['api.test', '10.96.0.1', 443],
      ['api.test', '::ffff:10.96.0.1', 443],
      ['api.test', '::ffff:a60:1', 443],
      ['api.test', '64:ff9b::10.96.0.1', 443],
      ['api.test', '2002:a60:1::1', 443],
      ['kubernetes.default', '203.0.113.1', 443],
      ['kubernetes.default.svc', '203.0.113.1', 443],
      ['Kubernetes.Default.SVC.cluster.local', '203.0.113.1', 6443],
      ['kubernetes.default.svc.k8s.corp.', '203.0.113.1', 443],
      ['gateway', '10.244.3.4', 18081],
      ['gateway', '::ffff:10.244.3.4', 18081],
      ['gateway', '172.16.0.1', 18081],
      ['gateway', '192.168.3.4', 18081],
      ['gateway', '100.64.3.4', 18081],
      ['gateway', 'fd12::1', 18081],
      ['gateway', '127.0.0.9', 18081],
      ['gateway', '::1', 18081],
      ['gateway', '0.0.0.0', 18081],
    ])('denies %s at %s port %i', (host, address, port) => {
      expect(allows(host, address, port)).toBe(false)
    })

    it.each<[host: string, address: string, port: number]>([
      ['orders.shop', '10.244.3.4', 8080],
      ['far.test', '203.0.113.7', 18081],
      ['kubernetes.default.example.com', '203.0.113.1', 443],
      ['kubernetes.shop', '10.96.7.7', 443],
    ])('allows %s at %s port %i', (host, address, port) => {
      expect(allows(host, address, port)).toBe(true)
    })
  })

  it('goes by the name of the API server where Kubernetes gives one', () => {
    const { isClosed } = clusterOf({ apiServer: 'Api.cloud.test' })
    expect(isClosed('api.cloud.test', '203.0.113.1', 443)).toBe(true)
    expect(isClosed('other.cloud.test', '203.0.113.1', 443)).toBe(false)
  })

  it('closes the ports that it is given, and no other', () => {
    const { isClosed } = clusterOf({ gatewayPorts: [9000] })
    expect([9000, 18081].map((port) => isClosed('a', '10.1.1.1', port))).toEqual([true, false])
  })
})

describe('outside of a cluster', () => {
  it('closes nothing', () => {
    const guard = createGuard({
      cluster: createClusterDestinations({ gatewayPorts: [], networks: [], ownAddresses: [] }),
    })
    expect(guard.allows('kubernetes.default.svc', '10.96.0.1', 443)).toBe(true)
    expect(guard.allows('', '10.96.0.1', 18081)).toBe(true)
  })
})

describe('the guard of routers', () => {
  it('knows nothing of what forward may reach', () => {
    const allows = createRouterGuard({ allow: readRules(['*.example.com']).rules })
    expect(allows('router.test', '10.1.2.3', 80)).toBe(true)
  })

  it.each(['169.254.169.254', 'fe80::1%eth0', 'fd00:ec2::254', 'no address'])(
    'denies %s',
    (address) => {
      expect(createRouterGuard({})('router.test', address, 80)).toBe(false)
    },
  )

  it('denies the own listeners, and dials link-local routers that are allowed by address', () => {
    const allows = createRouterGuard({
      allow: readRules(['169.254.7.0/24']).rules,
      ownListeners: () => [{ address: '127.0.0.1', port: 18081 }],
    })
    expect(allows('router', '127.0.0.1', 18081)).toBe(false)
    expect(allows('router', '169.254.7.7', 80)).toBe(true)
  })
})

describe('which addresses are of the cluster', () => {
  const GIVEN = ['10.0.0.0/8', '2001:db8::/32']
  it.each<[string, Partial<ClusterFacts>, string, boolean]>([
    ['private', {}, '10.1.1.1', true],
    ['private', {}, '172.31.255.255', true],
    ['private', {}, '192.168.1.1', true],
    ['shared', {}, '100.127.0.1', true],
    ['unique local', {}, 'fd00::1', true],
    ['mapped', {}, '::ffff:10.1.1.1', true],
    ['behind NAT64', {}, '64:ff9b::10.1.1.1', true],
    ['behind NAT64 of the network', {}, '64:ff9b:1::10.1.1.1', true],
    ['behind SIIT', {}, '::ffff:0:10.1.1.1', true],
    ['behind ISATAP', {}, '2001:db8::200:5efe:10.1.1.1', true],
    ['IPv4-compatible', {}, '::10.1.1.1', true],
    ['loopback', {}, '127.3.2.1', true],
    ['loopback', {}, '::1', true],
    ['link-local', {}, '169.254.1.1', true],
    ['unspecified', {}, '0.0.0.0', true],
    ['unspecified', {}, '::', true],
    ['public', {}, '203.0.113.7', false],
    ['public', {}, '2001:db8::1', false],
    ['public, where Pods have such', { ownAddresses: ['2001:db8::9'] }, '203.0.113.7', true],
    ['named', { networks: GIVEN }, '2001:db8::1', true],
    ['named', { networks: GIVEN }, '10.1.1.1', true],
    ['private and not named', { networks: GIVEN }, '192.168.1.1', false],
    ['loopback, whatever is named', { networks: GIVEN }, '127.0.0.1', true],
    [
      'public, where networks are named',
      { networks: GIVEN, ownAddresses: ['198.51.100.1'] },
      '203.0.113.7',
      false,
    ],
  ])('%s, %j, %s: %s', (_what, facts, address, expected) => {
    expect(clusterOf(facts).isInside(address)).toBe(expected)
  })
})

describe('a guard, for documents that are confined to their namespace', () => {
  const guard = createGuard({ cluster: clusterOf(), localPorts: [8080] })

  it.each<[address: string, port: number, expected: boolean]>([
    ['203.0.113.7', 80, true],
    ['10.244.3.4', 80, false],
    ['::ffff:10.244.3.4', 80, false],
    ['127.0.0.1', 8080, true],
    ['127.0.0.1', 8081, false],
    ['::1', 8080, true],
    ['no address', 80, false],
  ])('at %s port %i: %s', (address, port, expected) => {
    expect(guard.allowsConfined(address, port)).toBe(expected)
  })

  it('has no application beside it unless it was given one', () => {
    expect(createGuard({ cluster: clusterOf() }).allowsConfined('127.0.0.1', 8080)).toBe(false)
  })

  it('allows nothing where the cluster is not known', () => {
    expect(createGuard().allowsConfined('203.0.113.7', 80)).toBe(false)
  })
})
