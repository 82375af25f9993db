// A Realm as its owner sees it: who may use it and for which hosts, what of it reaches the gateways, and what its
// status tells of the sessions with its router.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { type Router, startRouter } from '../../../dev/router/router.ts'
import { SECRET_READER } from '../../../operator/resource/roles.ts'
import { grantObject } from '../../../operator/resource/roles-for.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { request } from '../../support/http-request.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { type GatewayPod, Home, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import { documentObject, realmObject, secretObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'

jest.setTimeout(120_000)

await describeWithKubernetes('a Realm', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let gateway: GatewayPod

  beforeAll(async () => {
    for (const namespace of ['shop', 'team']) await makeNamespace(plane(), namespace)
    home = open.use(await Home.open(plane()))
    await home.startOperator()
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    const account = { serviceAccount: 'svc-operator', operatorNamespace: OPERATOR_NAMESPACE }
    await plane().apply([grantObject(account, SECRET_READER, 'shop')])
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  const status = async (host: string, path: string, key?: string): Promise<number> => {
    const headers = { host, ...(key !== undefined && { 'x-api-key': key }) }
    return (await request(`${gateway.gateway.public}${path}`, { headers })).status
  }

  const becomes = (expected: readonly number[], ...asked: Parameters<typeof status>[]) =>
    eventually(async () => {
      expect(await Promise.all(asked.map((each) => status(...each)))).toEqual(expected)
    }, PATIENCE)

  it('is for its own namespace, unless it says otherwise', async () => {
    const shared = (allowedNamespaces: object | undefined): object =>
      realmObject(
        'shop',
        { uri: 'com.shared', ...(allowedNamespaces !== undefined && { allowedNamespaces }) },
        'shared',
      )
    const guest = documentObject('team', 'guest', { realm: 'com.shared' })
    const stranger = documentObject('team', 'stranger', { realm: 'com.nowhere' })
    await plane().apply([shared(undefined), guest, stranger])
    const refused = await home.until('team', 'guest', 'ResolvedRefs', 'RefNotPermitted')
    const missing = await home.until('team', 'stranger', 'ResolvedRefs', 'RealmNotFound')
    // What is not for them, and what is not there, read the same.
    expect(refused.message.replace('com.shared', 'com.nowhere')).toBe(missing.message)
    expect(refused.message).not.toContain('shop')
    expect(await status('team.test', '/guest/x')).toBe(404)

    await plane().apply([shared({ from: 'All' })])
    await home.until('team', 'guest', 'Ready', 'Ready')
    expect(await status('team.test', '/guest/x')).toBe(200)

    // A right that is taken back ends at once, whether the Realm or a label of the namespace says so.
    await plane().apply([
      shared({ from: 'Selector', selector: { matchLabels: { guests: 'welcome' } } }),
    ])
    await home.until('team', 'guest', 'ResolvedRefs', 'RefNotPermitted')
    await home.until('team', 'guest', 'Stalled', 'RefNotPermitted')
    await becomes([404], ['team.test', '/guest/x'])
    const ended = await home.until('team', 'guest', 'Ready', 'RefNotPermitted')
    expect(ended.message).toContain('nothing serves')
    await plane().kubectl(['label', 'namespace', 'team', 'guests=welcome'])
    await home.until('team', 'guest', 'Ready', 'Ready')
    expect(await status('team.test', '/guest/x')).toBe(200)
    await plane().kubectl(['label', 'namespace', 'team', 'guests-'])
    await home.until('team', 'guest', 'ResolvedRefs', 'RefNotPermitted')
    await becomes([404], ['team.test', '/guest/x'])
  })

  it('may be for some hosts only', async () => {
    const limited = (...allowedHosts: readonly string[]): object =>
      realmObject('shop', { uri: 'com.limited', allowedHosts }, 'limited')
    const on = (name: string, host: string): object =>
      documentObject('shop', name, { realm: 'com.limited', host })
    await plane().apply([
      limited('one.test', '*.many.test'),
      on('one', 'one.test'),
      on('many', 'a.many.test'),
      on('else', 'else.test'),
    ])
    await home.until('shop', 'one', 'Ready', 'Ready')
    await home.until('shop', 'many', 'Ready', 'Ready')
    const { message } = await home.until('shop', 'else', 'ResolvedRefs', 'RefNotPermitted')
    expect(message).toContain('allowedHosts are one.test, *.many.test')
    expect(await status('else.test', '/else/x')).toBe(404)
    await plane().apply([limited('one.test', '*.many.test', 'else.test')])
    await home.until('shop', 'else', 'Ready', 'Ready')
    expect(await status('else.test', '/else/x')).toBe(200)
    await plane().apply([limited('one.test', '*.many.test')])
    await becomes([404, 200], ['else.test', '/else/x'], ['one.test', '/one/x'])
  })

  it('brings its secrets to the gateway, and what they become', async () => {
    const hash = (key: string): string => createHash('sha256').update(key).digest('hex')
    const keys = (...names: readonly string[]): object =>
      realmObject(
        'shop',
        {
          uri: 'com.guarded',
          apiKeys: names.map((key) => ({
            keySha256: { secretRef: { name: 'keys', key } },
            username: 'scanner',
          })),
        },
        'guarded',
      )
    await plane().apply([
      secretObject('shop', 'keys', { old: hash('old-key') }),
      keys('old'),
      documentObject('shop', 'guarded', {
        realm: 'com.guarded',
        host: 'guarded.test',
        more: { defaults: { security: { type: 'api_key', header_name: 'x-api-key' } } },
      }),
      documentObject('shop', 'bystander', { realm: 'com.limited', host: 'one.test' }),
    ])
    await home.untilRealm('shop', 'guarded', 'Ready', 'Ready')
    await home.until('shop', 'guarded', 'Ready', 'Ready')
    await home.until('shop', 'bystander', 'Ready', 'Ready')
    const path = ['guarded.test', '/guarded/x'] as const
    await becomes([401, 401, 200], [...path], [...path, 'new-key'], [...path, 'old-key'])
    const before = await gateway.state()

    // A second one beside it, then the first one goes: how keys are exchanged.
    await plane().apply([
      secretObject('shop', 'keys', { old: hash('old-key'), new: hash('new-key') }),
      keys('old', 'new'),
    ])
    await becomes([200, 200], [...path, 'new-key'], [...path, 'old-key'])
    await plane().apply([keys('new')])
    await becomes([200, 401], [...path, 'new-key'], [...path, 'old-key'])
    // The Secret alone.
    await plane().apply([secretObject('shop', 'keys', { new: hash('newest-key') })])
    await becomes([200, 401], [...path, 'newest-key'], [...path, 'new-key'])
    const after = await gateway.state()
    expect(after.realms['com.guarded']?.digest).not.toBe(before.realms['com.guarded']?.digest)
    expect(after.realms['com.limited']).toEqual(before.realms['com.limited'])
    // A document holds nothing of its realm.
    expect(after.specs['guarded']).toEqual(before.specs['guarded'])
    expect(after.specs['bystander']).toEqual(before.specs['bystander'])

    await plane().kubectl(['delete', 'secret', 'keys', '-n', 'shop'])
    await home.untilRealm('shop', 'guarded', 'ResolvedRefs', 'SecretNotFound')
    expect(await status(...path, 'newest-key')).toBe(200)
    // Its documents go on: a realm that has been good is one.
    await home.until('shop', 'guarded', 'Ready', 'Ready')
  })

  it('reports its sessions with the router', async () => {
    const ports = { webSocketPort: await freePort() }
    const startOwn = (): Promise<Router> =>
      startRouter({
        ...ports,
        realms: [
          {
            uri: 'com.live',
            users: [{ authid: 'gateway', method: 'wampcra', secret: 'right', role: 'gateway' }],
          },
        ],
      })
    let router = await startOwn()
    open.defer(() => router.close({ hard: true }))
    await plane().apply([
      secretObject('shop', 'router', { secret: 'wrong' }),
      realmObject(
        'shop',
        {
          uri: 'com.live',
          router: {
            url: router.wsUrl,
            auth: {
              method: 'wampcra',
              authid: 'gateway',
              secret: { secretRef: { name: 'router', key: 'secret' } },
            },
          },
        },
        'live',
      ),
      documentObject('shop', 'live', { realm: 'com.live', host: 'live.test' }),
    ])
    const refused = await home.untilRealm('shop', 'live', 'Ready', 'Unreachable')
    expect(refused.message).toContain(router.wsUrl)
    expect(refused.message).toContain('gw-1')
    expect(refused.message).not.toContain('wrong')
    // A document serves what needs no router.
    await home.until('shop', 'live', 'Ready', 'Ready')

    await plane().apply([secretObject('shop', 'router', { secret: 'right' })])
    await home.untilRealm('shop', 'live', 'Ready', 'Ready')
    expect(router.sessionIds('com.live').length).toBeGreaterThan(0)

    await router.close({ hard: true })
    const lost = await home.untilRealm('shop', 'live', 'Ready', 'Unreachable')
    expect(lost.message).toContain(router.wsUrl)
    router = await startOwn()
    await home.untilRealm('shop', 'live', 'Ready', 'Ready')
    const columns = await plane().kubectl(['get', 'realm', 'live', '-n', 'shop'])
    expect(columns.stdout).toMatch(/live\s+com.live\s+True\s+True\s+Ready/)
  })

  it('that turns bad is as it last was, and its documents too', async () => {
    await plane().apply([
      secretObject('shop', 'broken', { key: 'no-hash-at-all' }),
      realmObject(
        'shop',
        {
          uri: 'com.limited',
          apiKeys: [{ keySha256: { secretRef: { name: 'broken', key: 'key' } }, username: 'x' }],
        },
        'limited',
      ),
    ])
    const { message } = await home.untilRealm('shop', 'limited', 'Accepted', 'Invalid')
    expect(message).toContain('/spec/apiKeys/0')
    expect(message).not.toContain('no-hash')
    // Of the version before, `allowedHosts` too.
    await plane().apply([
      documentObject('shop', 'late', { realm: 'com.limited', host: 'late.test' }),
    ])
    await home.until('shop', 'late', 'ResolvedRefs', 'RefNotPermitted')
    await home.until('shop', 'one', 'Ready', 'Ready')
    expect(await status('one.test', '/one/x')).toBe(200)
  })
})
