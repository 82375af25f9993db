// Requests to a Service of which the operator has told: its own address and its Pods are servers on loopback, with ports
// of their own, and time is a clock of the test's own.

import { afterEach, describe, expect, it } from '@jest/globals'
import { createClusterDestinations } from '../../../dataplane/upstream/destinations/cluster-destinations.ts'
import { createGuard, readRules } from '../../../dataplane/upstream/destinations/guard.ts'
import { createListedEndpoints } from '../../../dataplane/upstream/endpoints/listed-endpoints.ts'
import { ServiceDirectory } from '../../../dataplane/upstream/endpoints/service-directory.ts'
import { causeOfError } from '../../../dataplane/upstream/failure-cause.ts'
import {
  type BalancingUpstream,
  createUpstream,
  type UpstreamOptions,
} from '../../../dataplane/upstream/pooled-upstream.ts'
import type { ServiceEndpoints } from '../../../language/wire/wire.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { type Instance, type Instances, startInstances } from './instances.ts'
import { type Ask, ask, until } from './servers.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const SECOND = 1000

interface Rig {
  readonly origin: string
  /** Of the Service itself, as kube-proxy answers. */
  readonly service: Instance
  readonly pods: Instances
  readonly upstream: BalancingUpstream
  readonly directory: ServiceDirectory
  /** Tells that these Pods, by their place, stand behind the Service. */
  readonly tell: (pods: readonly number[], other?: Partial<ServiceEndpoints>) => void
  readonly pass: (ms: number) => void
  readonly get: (request?: Partial<Ask>) => Promise<string>
  /** @returns how many the Service itself got, and how many each Pod */
  readonly load: (requests: number, request?: Partial<Ask>) => Promise<number[]>
  readonly name: Instances
}

const rig = async (count: number, options: Partial<UpstreamOptions> = {}): Promise<Rig> => {
  const name = await startInstances(1)
  const pods = await startInstances(count)
  const [service] = name.all
  if (service === undefined) throw new Error('there is one')
  const directory = new ServiceDirectory()
  let nowMs = 1_000_000
  const upstream = createUpstream({
    guard: createGuard(),
    resolve: name.resolve,
    services: directory,
    clock: { now: () => nowMs, random: seededRandom(5) },
    ...options,
  })
  closers.push(
    () => name.close(),
    () => pods.close(),
    () => upstream.close(),
  )
  const origin = `http://orders.shop:${name.port}`
  const get: Rig['get'] = async (request = {}) => {
    const { body, error } = await ask(upstream, { origin, ...request }).done
    return error === undefined ? body : error.code
  }
  return {
    origin,
    service,
    pods,
    upstream,
    directory,
    get,
    name,
    tell: (which, other = {}) => {
      const addresses = which.map((at) => pods.all[at]?.address ?? '')
      const targets = [{ port: pods.port, addresses }]
      const told = { service: 'shop/orders', addresses: [service.address] }
      directory.apply({
        put: [{ ...told, ports: [{ port: name.port, targets }], ...other }],
        delete: [],
      })
    },
    pass: (ms) => {
      nowMs += ms
    },
    load: async (requests, request = {}) => {
      const all = [service, ...pods.all]
      const before = all.map(({ served }) => served)
      let left = requests
      const client = async (): Promise<void> => {
        while (left-- > 0) await get(request)
      }
      await Promise.all(Array.from({ length: 8 }, client))
      return all.map(({ served }, at) => served - (before[at] ?? 0))
    },
  }
}

describe('the Pods of a Service', () => {
  it('get its requests, each its share, at the port that they listen on', async () => {
    const { tell, load, pods } = await rig(3)
    const hosts = new Set<string | undefined>()
    for (const pod of pods.all)
      pod.behave = (request, response) => {
        hosts.add(request.headers.host)
        response.end()
      }
    tell([0, 1, 2])
    const [service, ...shares] = await load(300)
    expect(service).toBe(0)
    for (const share of shares) {
      expect(share).toBeGreaterThan(80)
      expect(share).toBeLessThan(120)
    }
    expect([...hosts].every((host) => host?.startsWith('orders.shop:') === true)).toBe(true)
  })

  it('are used from the next request on, and left by the next when they are not reported any more', async () => {
    const { tell, load, directory } = await rig(3)
    expect(await load(10)).toEqual([10, 0, 0, 0])
    tell([0])
    expect(await load(10)).toEqual([0, 10, 0, 0])
    tell([1, 2])
    expect((await load(10)).slice(0, 2)).toEqual([0, 0])
    // Coming back, one brings back no other: this is no server that names a part of its addresses each time.
    tell([0])
    expect(await load(10)).toEqual([0, 10, 0, 0])
    directory.apply({ put: [], delete: ['shop/orders'] })
    expect(await load(10)).toEqual([10, 0, 0, 0])
    tell([0])
    directory.apply({ put: [], delete: [], only: [] })
    expect(await load(10)).toEqual([10, 0, 0, 0])
  })

  it('lose the connections that rest when they are not reported any more', async () => {
    const { tell, load, pods } = await rig(2)
    tell([0, 1])
    await load(20)
    expect(pods.all[1]?.open()).toBeGreaterThan(0)
    tell([0])
    await load(1)
    await until(() => pods.all[1]?.open() === 0, 'its connections are closed')
  })

  it('with different ports are both used', async () => {
    const others = await startInstances(1)
    closers.push(() => others.close())
    const { name, pods, tell, load } = await rig(1)
    const targets = [pods, others].map(({ port }) => ({ port, addresses: ['127.0.0.1'] }))
    tell([], { ports: [{ port: name.port, targets }] })
    const [service, one = 0] = await load(100)
    expect(service).toBe(0)
    expect(one).toBeGreaterThan(30)
    expect(others.all[0]?.served).toBe(100 - one)
  })

  it.each<[what: string, told: (of: Rig) => Partial<ServiceEndpoints>]>([
    ['another Service', () => ({ service: 'shop/order' })],
    ['one of another namespace', () => ({ service: 'bank/orders' })],
    ['another port', ({ name }) => ({ ports: [{ port: name.port + 1, targets: [] }] })],
    ['no Pod', ({ name }) => ({ ports: [{ port: name.port, targets: [] }] })],
    ['a Service for which the name does not stand here', () => ({ addresses: ['10.0.0.1'] })],
    ['a Service without an address', () => ({ addresses: [] })],
  ])('are not used where the operator tells of %s', async (_, told) => {
    const started = await rig(1)
    started.tell([0], told(started))
    expect(await started.load(10)).toEqual([10, 0])
  })
})

describe('what the operator tells', () => {
  const denying = (...deny: string[]): Partial<UpstreamOptions> => ({
    guard: createGuard({ deny: readRules(deny).rules }),
  })

  it('passes the guard: what is denied is left out', async () => {
    const { tell, load } = await rig(3, denying('127.0.0.2'))
    tell([0, 1, 2])
    const [service, , denied] = await load(50)
    expect([service, denied]).toEqual([0, 0])
  })

  it('counts for nothing where all of it is denied', async () => {
    const { tell, load } = await rig(3, denying('127.0.0.2', '127.0.0.3'))
    tell([1, 2])
    expect(await load(10)).toEqual([10, 0, 0, 0])
  })

  it('opens nothing: a Service that is denied is so by its Pods, too', async () => {
    const { tell, get } = await rig(2, denying('127.0.0.1'))
    tell([1])
    expect(await get()).toBe('denied')
    expect(await get()).toBe('denied')
  })

  it('is no way round a port that is denied', async () => {
    const { tell, load, pods } = await rig(2)
    expect(await load(1)).toEqual([1, 0, 0])
    const closed = await rig(2, {
      guard: createGuard({
        cluster: createClusterDestinations({
          gatewayPorts: [pods.port],
          networks: [],
          ownAddresses: [],
        }),
      }),
    })
    const targets = [{ port: pods.port, addresses: ['127.0.0.1', '127.0.0.2'] }]
    closed.tell([], { ports: [{ port: closed.name.port, targets }] })
    expect(await closed.load(10)).toEqual([10, 0, 0])
    tell([0])
  })

  it('opens nothing to a document that may not leave another namespace', async () => {
    const cluster = createClusterDestinations({
      gatewayPorts: [],
      networks: [],
      ownAddresses: [],
    })
    const { tell, get } = await rig(1, { guard: createGuard({ cluster }) })
    tell([0])
    expect(await get()).toBe('127.0.0.1')
    expect(await get({ confinedTo: 'bank' })).toBe('denied')
  })
})

describe('a list', () => {
  const ADDRESSES = ['10.0.1.1', 'fd00::1']
  it.each<[host: string, port: number, confined: string | undefined, found: boolean | undefined]>([
    ['orders.shop', 80, undefined, true],
    ['orders.shop.svc', 80, undefined, true],
    ['orders.shop.svc.cluster.local', 80, undefined, true],
    ['orders.shop.svc.cluster.local.', 80, undefined, true],
    ['orders.shop', 443, undefined, false],
    ['orders.shop', 80, 'shop', true],
    ['orders.shop', 80, 'bank', undefined],
    ['orders', 80, undefined, undefined],
    ['pod-0.orders.shop', 80, undefined, undefined],
    ['orders.shop.', 80, undefined, undefined],
    ['orders.shop.svc.other.domain', 80, undefined, undefined],
    ['orders.bank', 80, undefined, undefined],
    ['10.0.1.1', 80, undefined, undefined],
  ])('for %s:%d, confined to %s: %s', (hostname, port, confined, found) => {
    const directory = new ServiceDirectory()
    const targets = [{ port: 8080, addresses: ADDRESSES }]
    directory.apply({
      put: [{ service: 'shop/orders', addresses: ['10.0.0.1'], ports: [{ port: 80, targets }] }],
      delete: [],
    })
    const list = createListedEndpoints({
      directory,
      to: { hostname, port },
      guard: createGuard(),
      random: () => 0.9,
      clusterDomain: 'cluster.local',
      ...(confined !== undefined && {
        confinement: { namespace: confined, clusterDomain: 'cluster.local' },
      }),
    })?.validate()
    const expected = [
      { address: '10.0.1.1', family: 4, port: 8080 },
      { address: 'fd00::1', family: 6, port: 8080 },
    ]
    expect(list?.endpoints).toEqual(found === undefined ? undefined : found ? expected : [])
  })
})

describe('while the operator tells nothing new', () => {
  it('a Pod that does not answer is passed over by the same request, and ejected', async () => {
    const { tell, load, pods, upstream } = await rig(3)
    tell([0, 1, 2])
    await load(30)
    const open = (): number => upstream.stats().reduce((sum, { connected }) => sum + connected, 0)
    const left = open() - (pods.all[1]?.open() ?? 0)
    await pods.all[1]?.stop()
    await until(() => open() === left, 'its connections are gone')
    const [service, one = 0, two, three = 0] = await load(60)
    expect([service, two, one + three]).toEqual([0, 0, 60])
    const states = upstream.endpoints().map(({ state, count }) => [state, count])
    expect(states).toContainEqual(['ejected', 1])
  })

  it('the Service itself is used where none answers, by the very request, and for a while', async () => {
    const { tell, get, load, pass, pods } = await rig(2)
    tell([0, 1])
    for (const pod of pods.all) await pod.stop()
    expect(await load(10)).toEqual([10, 0, 0])
    for (const pod of pods.all) await pod.start()
    expect(await load(10)).toEqual([10, 0, 0])
    pass(10 * SECOND)
    await get()
    expect((await load(10))[0]).toBe(0)
  })

  it('the Service itself is used no longer when the operator reports other Pods', async () => {
    const { tell, load, pods } = await rig(3)
    tell([0])
    await pods.all[0]?.stop()
    expect(await load(3)).toEqual([3, 0, 0, 0])
    tell([1, 2])
    expect((await load(10)).slice(0, 2)).toEqual([0, 0])
  })

  it('a list is believed while names are not looked up, and a name that is another host by now ends it', async () => {
    const { tell, load, pass, get, name, pods } = await rig(1)
    tell([0])
    await load(3)
    name.response = 'EAI_AGAIN'
    pass(70 * SECOND)
    await get()
    pass(70 * SECOND)
    expect(await load(3)).toEqual([0, 3])
    name.response = ['127.0.0.9']
    await pods.all[0]?.stop()
    pass(10 * SECOND)
    await get()
    await until(() => name.lookups() > 3, 'the name is looked up')
    expect(await get()).toBe('refused')
  })
})

describe('a Service that is gone', () => {
  /** By what the operator tells of the port, or of the Service. */
  const tellGone = (
    { directory, name, service }: Rig,
    how: 'no_service' | 'no_endpoints',
  ): void => {
    const known = { service: 'shop/orders', addresses: [service.address] }
    const told: ServiceEndpoints =
      how === 'no_service'
        ? { ...known, ports: [], isAbsent: true }
        : { ...known, ports: [{ port: name.port, targets: [], isEmpty: true }] }
    directory.apply({ put: [told], delete: [] })
  }

  const causeFor = async ({ upstream, origin }: Rig): Promise<string> => {
    const { error } = await ask(upstream, { origin }).done
    return error === undefined ? 'served' : causeOfError(error)
  }

  it.each(['no_service', 'no_endpoints'] as const)(
    'is not called (%s), over open connections neither, and is at once when it is back',
    async (how) => {
      const made = await rig(2)
      const { tell, load, service } = made
      await load(10)
      const { opened } = service
      tellGone(made, how)
      expect(await causeFor(made)).toBe(how)
      expect(await load(20)).toEqual([0, 0, 0])
      expect(service.opened).toBe(opened)
      tell([0, 1])
      const [own, ...shares] = await load(20)
      expect([own, shares.every((each) => each > 0)]).toEqual([0, true])
      tellGone(made, how)
      expect(await load(20)).toEqual([0, 0, 0])
      // Its Pods are for kube-proxy alone from now on.
      tell([])
      expect(await load(20)).toEqual([20, 0, 0])
    },
  )

  it('is called where its name is that of another host', async () => {
    const made = await rig(1)
    const { directory } = made
    directory.apply({
      put: [{ service: 'shop/orders', addresses: ['10.96.0.5'], ports: [], isAbsent: true }],
      delete: [],
    })
    expect(await made.load(10)).toEqual([10, 0])
  })

  it('is tried again after 10 s, in case that the operator is away, and is used if it responds', async () => {
    const made = await rig(1)
    const { pass, load, service } = made
    tellGone(made, 'no_endpoints')
    expect(await load(10)).toEqual([0, 0])
    pass(9999)
    expect(await load(10)).toEqual([0, 0])
    pass(1)
    expect(await causeFor(made)).toBe('served')
    expect(await load(10)).toEqual([10, 0])
    // A lookup says nothing new of the Service, and neither does the operator.
    pass(11 * SECOND)
    tellGone(made, 'no_endpoints')
    expect(await load(10)).toEqual([10, 0])
    expect(service.opened).toBeLessThan(10)
  })

  it('is tried ever more rarely, a minute apart at most, by one request each time', async () => {
    const made = await rig(1)
    const { pass, service } = made
    tellGone(made, 'no_endpoints')
    expect(await causeFor(made)).toBe('no_endpoints')
    await service.stop()
    for (const seconds of [10, 20, 40, 60, 60]) {
      pass(seconds * SECOND)
      expect(await causeFor(made)).toBe('no_endpoints')
      pass(9 * SECOND)
      await service.start()
      expect(await causeFor(made)).toBe('no_endpoints')
      await service.stop()
      pass(-9 * SECOND)
    }
    await service.start()
    pass(60 * SECOND)
    expect(await causeFor(made)).toBe('served')
  })

  it('is looked up again once the operator says nothing of it', async () => {
    const made = await rig(1)
    tellGone(made, 'no_service')
    expect(await made.load(10)).toEqual([0, 0])
    made.directory.apply({ put: [], delete: [], only: [] })
    expect(await made.load(10)).toEqual([10, 0])
  })
})

describe('of more Pods than are used', () => {
  it('each process takes others, and stays with them', async () => {
    const { tell, name, upstream, get } = await rig(1)
    const many = Array.from(
      { length: 300 },
      (_, at) => `127.0.${1 + Math.floor(at / 250)}.${at % 250}`,
    )
    tell([], { ports: [{ port: name.port, targets: [{ port: 1, addresses: many }] }] })
    await get()
    // None answers; the set is what matters.
    expect(upstream.endpoints().reduce((sum, { count }) => sum + count, 0)).toBe(250)
  })
})
