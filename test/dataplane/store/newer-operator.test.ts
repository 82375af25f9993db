import { describe, expect, it } from '@jest/globals'
import { Snapshot } from '../../../dataplane/store/snapshot/snapshot.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { MemoryFiles } from './memory-files.ts'
import {
  makeDocument,
  makeRig,
  REALM,
  realmPut,
  type Rig,
  specPut,
  stateOf,
  syncCall,
} from './rig.ts'
import { compact } from '../../../dataplane/store/packed/compact.ts'

const TOO_OLD =
  'This gateway is too old for this policy, and may not ignore it: update the gateway.'

interface Sent {
  readonly realm?: () => unknown
  readonly spec?: () => unknown
}

/** `id result: path, …` for each of both. */
const sync = async (rig: Rig, { realm = realmPut(REALM), spec }: Sent): Promise<string[]> => {
  const outcome = await rig.store.sync(
    syncCall(rig.store, {
      realms: { put: [realm], delete: [] },
      specs: { put: spec === undefined ? [] : [spec], delete: [] },
    }),
  )
  if (outcome.reason !== 'done') throw new Error(outcome.reason)
  return outcome.items.map(({ id, result, errors }) =>
    [`${id} ${result}`, ...errors.map(({ path, message }) => `${path}: ${message}`)].join(' '),
  )
}

const managed = (): Rig => makeRig({ manager: 'op' })

const withMembers = (put: () => unknown, more: object) => () => ({ ...(put() as object), ...more })

describe('what a newer operator adds to a document', () => {
  const loaded = [`${REALM} loaded`, 'a loaded']
  const refused = (path: string): readonly string[] => [
    `${REALM} loaded`,
    `a rejected ${path}: ${TOO_OLD}`,
  ]
  it.each<[string, ValueMap, object, readonly string[]]>([
    ['is ignored', {}, { weight: 3 }, loaded],
    ['is ignored, whatever it is called', {}, { constructor: 1, toString: 2 }, loaded],
    ['refuses it where it is a policy', {}, { quota: 3, critical: ['/quota'] }, refused('/quota')],
    ['also a part of one', {}, { quota: {}, critical: ['/quota/rate'] }, refused('/quota/rate')],
    ['also one that is not there', {}, { critical: ['/quota'] }, refused('/quota')],
    ['of any name', {}, { critical: ['/constructor'] }, refused('/constructor')],
    [
      'is taken where the policy is known',
      {},
      { confinedTo: 'shop', critical: ['/confinedTo'] },
      loaded,
    ],
    ['to its text is ignored', { weight: 3 }, {}, loaded],
    [
      'to its text refuses it where it restricts',
      { quota: 3 },
      { critical: ['/spec/**/quota'] },
      refused('/spec/**/quota'),
    ],
    [
      'to its text refuses it where it stands in a variable',
      { variables: { op: { quota: 3 } } },
      { critical: ['/spec/**/quota'] },
      refused('/spec/**/quota'),
    ],
    [
      'to its text is taken where the key is known',
      {},
      { critical: ['/spec/**/security', '/spec/**/body_max_bytes'] },
      loaded,
    ],
    [
      'to its text is refused where the key is known, and not as one that restricts',
      {},
      { critical: ['/spec/**/host'] },
      refused('/spec/**/host'),
    ],
    [
      'to its text is refused in any other form',
      { quota: 3 },
      { critical: ['/spec/quota'] },
      refused('/spec/quota'),
    ],
  ])('%s', async (_, text, members, results) => {
    const spec = specPut({ ...makeDocument('a'), ...text }, 1, members)
    expect(await sync(managed(), { spec })).toEqual(results)
  })

  it.each([
    ['quota'],
    [{}],
    [[7]],
    [['quota']],
    [Array.from({ length: 101 }, () => '/id')],
    [['/'.repeat(513)]],
  ])('is no list of policies: %j', async (critical) => {
    const spec = specPut(makeDocument('a'), 1, { critical })
    expect(await sync(managed(), { spec })).toEqual([
      `${REALM} loaded`,
      'a rejected /critical: Up to 100 JSON pointers are expected here.',
    ])
  })

  it('keeps the version before where it is refused', async () => {
    const rig = managed()
    await sync(rig, { spec: specPut(makeDocument('a'), 1) })
    const before = stateOf(rig.store).specs['a']
    await sync(rig, {
      spec: specPut(makeDocument('a', { body: 'b' }), 1, { critical: ['/quota'] }),
    })
    expect(stateOf(rig.store).specs['a']).toEqual(before)
  })
})

describe('what a newer operator adds to a realm', () => {
  const loaded = [`${REALM} loaded`]
  const router = { url: 'ws://nexus:8080/ws' }
  const provider = {
    issuer: 'https://idp.test',
    client_id: 'c',
    client_secret: 's',
    redirect_uri: 'https://api.test/v1/oidc/corp/callback',
    pkce: 'S512',
  }
  const issuer = { issuer: 'i', jwks_uri: 'https://i.test/keys', audience: 'a' }
  const unknown = (path: string): readonly unknown[] => [
    expect.stringContaining(
      `${REALM} rejected ${path}: There is no property '${path.split('/').at(-1) ?? ''}' here`,
    ),
  ]
  it.each<[string, ValueMap, object, readonly unknown[]]>([
    ['is ignored', { region: 'eu' }, {}, loaded],
    ['is ignored in its router', { router: { ...router, weight: 1 } }, {}, loaded],
    ['is ignored in a provider', { info: { oidc_providers: { corp: provider } } }, {}, loaded],
    ['is ignored beside it', {}, { shard: 1 }, loaded],
    [
      'refuses it where it is a policy',
      { networks: ['10.0.0.0/8'] },
      { critical: ['/realm/networks'] },
      [`${REALM} rejected /realm/networks: ${TOO_OLD}`],
    ],
    [
      'refuses it in a provider',
      { info: { oidc_providers: { corp: provider } } },
      { critical: ['/realm/info/oidc_providers/corp/pkce'] },
      [`${REALM} rejected /realm/info/oidc_providers/corp/pkce: ${TOO_OLD}`],
    ],
    [
      'refuses it in its router',
      { router: { ...router, tls: 1 } },
      { critical: ['/realm/router/tls'] },
      [`${REALM} rejected /realm/router/tls: ${TOO_OLD}`],
    ],
    [
      'does not hide what is wrong',
      { region: 'eu', groups: 7 },
      {},
      [`${REALM} rejected /groups: Expected a list, got a number.`],
    ],
    [
      'refuses it in a user',
      { users: [{ username: 'u', until: 1 }] },
      {},
      unknown('/users/0/until'),
    ],
    [
      'refuses it in a key',
      { api_keys: [{ key_sha256: '0'.repeat(64), username: 'u', until: 1 }] },
      {},
      unknown('/api_keys/0/until'),
    ],
    [
      'refuses it in an issuer',
      { trusted_issuers: [{ ...issuer, azp: 'x' }] },
      {},
      unknown('/trusted_issuers/0/azp'),
    ],
    [
      'refuses it in the grants',
      { oauth2: { grants: [], pkce: true } },
      {},
      unknown('/oauth2/pkce'),
    ],
  ])('%s', async (_, record, members, results) => {
    const realm = withMembers(realmPut(REALM, record), members)
    expect(await sync(managed(), { realm })).toEqual(results)
  })

  it('is never shown', async () => {
    const rig = managed()
    await sync(rig, { realm: realmPut(REALM, { router_secret: 's3cret' }) })
    expect(JSON.stringify(stateOf(rig.store))).not.toContain('s3cret')
  })

  it('is refused by hand, where it is a name that somebody misspelt', async () => {
    const { item } = await makeRig().store.putRealm({ uri: REALM, region: 'eu' })
    expect(item.errors.map(({ path }) => path)).toEqual(['/region'])
  })
})

describe('a snapshot under another version', () => {
  const start = async (files: MemoryFiles): Promise<Rig> => {
    const snapshot = new Snapshot({ files, log: createSilentLog(), now: () => 0 })
    const rig = makeRig({ snapshot, manager: 'op' })
    await rig.store.restore()
    return rig
  }

  it('keeps no digest of what was taken in part: the operator sends it again', async () => {
    const files = new MemoryFiles()
    const rig = await start(files)
    await sync(rig, { spec: specPut(makeDocument('a'), 1, { weight: 3 }) })
    const { digest } = stateOf(rig.store).specs['a'] ?? {}
    const later = stateOf((await start(files)).store)
    expect([digest === 'partial', later.specs['a']?.digest]).toEqual([false, 'partial'])
  })

  it('keeps a realm whole, and its digest', async () => {
    const files = new MemoryFiles()
    const rig = await start(files)
    await sync(rig, { realm: realmPut(REALM, { region: 'eu' }) })
    const later = await start(files)
    expect(stateOf(later.store).realms).toEqual(stateOf(rig.store).realms)
    expect(later.store.realms()[0]?.record).toEqual({ uri: REALM, region: 'eu' })
  })

  it.each<[string, ValueMap, readonly string[], readonly string[]]>([
    ['leaves out what has a policy that it does not know', {}, ['/quota'], []],
    ['or one in its text', { quota: 3 }, ['/spec/**/quota'], []],
    ['keeps what has policies that it knows', {}, ['/confinedTo', '/spec/**/security'], ['a']],
  ])('%s', async (_, text, critical, ids) => {
    const files = new MemoryFiles()
    const newer = new Snapshot({ files, log: createSilentLog(), now: () => 0 })
    await newer.load()
    const document = {
      id: 'a',
      digest: 'd',
      since: 1,
      managedBy: 'op',
      rank: 0,
      ts: 1,
      warnings: [],
      claims: [],
      forwards: { realmUri: 'com.acme', origins: [] },
      source: compact(JSON.stringify({ ...makeDocument('a'), ...text })),
      critical,
    }
    const realm = { uri: REALM, digest: 'r', managedBy: 'op', record: { uri: REALM } }
    const changes = { documents: new Map([['a', document]]), realms: new Map([[REALM, realm]]) }
    await newer.save(changes, { manager: 'op', epoch: 1, complete: true })
    await newer.close()
    const older = await start(files)
    expect(Object.keys(stateOf(older.store).specs)).toEqual(ids)
  })

  it('names the policies of a document loaded by hand, for an older one that lacks them', async () => {
    const files = new MemoryFiles()
    const open = () => new Snapshot({ files, log: createSilentLog(), now: () => 0 })
    const rig = makeRig({ snapshot: open() })
    await rig.store.restore()
    await rig.store.putRealm({ uri: REALM })
    await rig.load({ ...makeDocument('a'), security: {} }, makeDocument('b'))
    await rig.store.close()
    const { entries } = await open().load()
    const named = entries.flatMap((entry) =>
      entry.kind === 'spec' ? [[entry.document.id, entry.document.critical]] : [],
    )
    expect(Object.fromEntries(named)).toEqual({
      a: ['/spec/**/security'],
      b: undefined,
    })
  })

  it.each([
    ['leaves out a realm with a policy that it does not know', ['/realm/networks'], 0],
    ['keeps one with policies that it knows', ['/realm/users'], 1],
  ])('%s', async (_, critical, count) => {
    const files = new MemoryFiles()
    const newer = new Snapshot({ files, log: createSilentLog(), now: () => 0 })
    await newer.load()
    const realm = { uri: REALM, digest: 'r', managedBy: 'op', record: { uri: REALM }, critical }
    const changes = { documents: new Map(), realms: new Map([[REALM, realm]]) }
    await newer.save(changes, { manager: 'op', epoch: 1, complete: true })
    await newer.close()
    expect((await start(files)).store.realms()).toHaveLength(count)
  })
})

describe('the resource that a document comes from', () => {
  const put = (more: object): (() => unknown) => specPut(makeDocument('a'), 1, more)

  it('is kept, reported to the operator and served, and is a change by itself', async () => {
    const files = new MemoryFiles()
    const open = async (): Promise<Rig> => {
      const snapshot = new Snapshot({ files, log: createSilentLog(), now: () => 0 })
      const rig = makeRig({ snapshot, manager: 'op' })
      await rig.store.restore()
      return rig
    }
    const rig = await open()
    const told = (): unknown => stateOf(rig.store).specs['a']?.resource
    await sync(rig, { spec: put({}) })
    expect(told()).toBe('')
    const named = put({ resource: 'shop/orders' })
    expect(await sync(rig, { spec: named })).toContain('a loaded')
    expect(await sync(rig, { spec: named })).toContain('a unchanged')
    expect(told()).toBe('shop/orders')
    expect(rig.changes.at(-1)?.put.map(({ resource }) => resource)).toEqual(['shop/orders'])
    const later = await open()
    expect(stateOf(later.store).specs['a']?.resource).toBe('shop/orders')
    expect(later.changes.at(-1)?.put.map(({ resource }) => resource)).toEqual(['shop/orders'])
  })

  it('is of documents with an owner alone', async () => {
    const rig = makeRig()
    await rig.store.putRealm({ uri: REALM })
    await rig.load(makeDocument('a'))
    expect(stateOf(rig.store).specs['a']).not.toHaveProperty('resource')
  })

  it.each([['team.a/shop.v1'], [`${'n'.repeat(253)}/a`]])(
    'may be any that files have: %j',
    async (resource) => {
      expect(await sync(managed(), { spec: put({ resource }) })).toContain('a loaded')
    },
  )

  it.each([
    ['orders'],
    ['shop/'],
    ['/orders'],
    ['shop/or/ders'],
    ['shop/a"b'],
    [7],
    [`a/${'b'.repeat(254)}`],
  ])('is none: %j', async (resource) => {
    expect(await sync(managed(), { spec: put({ resource }) })).toEqual([
      `${REALM} loaded`,
      'a rejected /resource: expected the namespace and name of a resource',
    ])
  })
})
