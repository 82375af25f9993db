// Requests of documents that may reach no other namespace than their own, over real sockets and names of our own.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { Resolve } from '../../../dataplane/name-lookup.ts'
import { createClusterDestinations } from '../../../dataplane/upstream/destinations/cluster-destinations.ts'
import { createGuard } from '../../../dataplane/upstream/destinations/guard.ts'
import { createResolveConfined } from '../../../dataplane/upstream/destinations/resolve-confined.ts'
import { createUpstream } from '../../../dataplane/upstream/pooled-upstream.ts'
import { ask, listenHttp, type Listening } from './servers.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const resolving =
  (names: Readonly<Record<string, string>>): Resolve =>
  (name, _options, callback) => {
    const address = Object.hasOwn(names, name) ? names[name] : undefined
    if (address === undefined) callback(Object.assign(new Error(name), { code: 'ENOTFOUND' }), [])
    else callback(null, [{ address, family: 4 }])
  }

/** What the search domains of a Pod in another namespace, and then the internet, make of names. */
const NAMES = {
  'orders.shop.svc.cluster.local.': '10.0.0.1',
  'pod-0.orders.shop.svc.cluster.local.': '10.0.0.2',
  'alias.shop.svc.cluster.local.': '10.0.0.9',
  'broken.shop.svc.cluster.local.': '10.0.0.9',
  'orders.shop': '10.0.0.1',
  'evil.shop': '10.0.0.9',
  'api.shop': '203.0.113.1',
  'vault.bank.svc.cluster.local': '10.0.0.9',
  'vault.bank': '10.0.0.9',
  'evil.example': '10.0.0.9',
  'orders.shop.svc.evil.example': '10.0.0.9',
  'good.example': '203.0.113.1',
  orders: '10.0.0.9',
  '10-0-0-9.shop.pod.cluster.local': '10.0.0.9',
}

const ALIASES: Readonly<Record<string, string | undefined>> = {
  'alias.shop.svc.cluster.local.': undefined,
  'broken.shop.svc.cluster.local.': 'ESERVFAIL',
}

describe('a name, looked up for the namespace shop', () => {
  const lookUp = createResolveConfined(resolving(NAMES), {
    namespace: 'shop',
    clusterDomain: 'cluster.local',
    resolveAlias: (name, callback) => {
      const code = Object.hasOwn(ALIASES, name) ? ALIASES[name] : 'ENODATA'
      if (code === undefined) callback(null, ['vault.bank.svc.cluster.local'])
      else callback(Object.assign(new Error(name), { code }), [])
    },
  })

  it.each<[name: string, address: string | undefined, isOwnService: boolean]>([
    ['orders.shop', '10.0.0.1', true],
    ['ORDERS.Shop', '10.0.0.1', true],
    ['orders.shop.svc', '10.0.0.1', true],
    ['orders.shop.svc.cluster.local', '10.0.0.1', true],
    ['orders.shop.svc.cluster.local.', '10.0.0.1', true],
    ['pod-0.orders.shop', '10.0.0.2', true],
    // There is no such Service: it is a domain, and anybody can have it.
    ['evil.shop', '10.0.0.9', false],
    ['api.shop', '203.0.113.1', false],
    // A Service of type ExternalName, and one that is unknown.
    ['alias.shop', '10.0.0.9', false],
    ['broken.shop', '10.0.0.9', false],
    ['vault.bank', '10.0.0.9', false],
    ['vault.bank.svc.cluster.local', '10.0.0.9', false],
    ['orders.shop.svc.evil.example', '10.0.0.9', false],
    ['10-0-0-9.shop.pod.cluster.local', '10.0.0.9', false],
    ['orders', '10.0.0.9', false],
    ['good.example', '203.0.113.1', false],
    ['nowhere.shop', undefined, false],
  ])('%s: %s, of a Service of its own: %s', async (name, address, isOwnService) => {
    const response = await new Promise((resolve) => {
      lookUp(name, { all: true }, (error, addresses, isOwn) => {
        resolve([error === null ? addresses[0]?.address : undefined, isOwn])
      })
    })
    expect(response).toEqual([address, isOwnService])
  })
})

describe('an upstream', () => {
  const start = async () => {
    const server: Listening = await listenHttp((_, response) => response.end('here'))
    const cluster = createClusterDestinations({
      gatewayPorts: [],
      networks: [],
      ownAddresses: [],
    })
    const upstream = createUpstream({
      guard: createGuard({ cluster }),
      resolve: resolving({ 'vault.bank': '127.0.0.1', 'evil.example': '127.0.0.1' }),
    })
    closers.push(
      () => server.close(),
      () => upstream.close(),
    )
    return { server, upstream }
  }

  it.each(['127.0.0.1', 'vault.bank', 'evil.example'])(
    'at %s is not for a document that may not leave its namespace',
    async (host) => {
      const { server, upstream } = await start()
      const origin = `http://${host}:${server.port}`
      expect(await ask(upstream, { origin }).done).toMatchObject({ status: 200, body: 'here' })
      const confined = await ask(upstream, { origin, confinedTo: 'shop' }).done
      expect(confined.error).toMatchObject({ code: 'denied' })
      expect(await ask(upstream, { origin }).done).toMatchObject({ status: 200 })
    },
  )

  it('is counted once, whichever clients have connections to it', async () => {
    const { server, upstream } = await start()
    const { origin } = server
    await ask(upstream, { origin }).done
    const asking = ask(upstream, { origin, confinedTo: 'shop' })
    expect(upstream.stats()).toEqual([{ origin, connected: 1, running: 0, queued: 1 }])
    await asking.done
  })
})
