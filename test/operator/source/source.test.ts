import { describe, expect, it } from '@jest/globals'
import { TYPES } from '../../../operator/kubernetes/client/api.ts'
import { OWN_TYPES } from '../../../operator/resource/own-types.ts'
import { KubernetesSource, type KubernetesSourceOptions } from '../../../operator/source/source.ts'
import { API_VERSION, type Resource } from '../../../operator/resource/resource.ts'
import type { ResourceSource } from '../../../operator/resource/resource-source.ts'
import { findSecret, readSecretKey } from '../../../operator/resource/secret-value.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'
import {
  aDefinition,
  createFakeApi,
  createFakeWatches,
  type FakeApi,
  type FakeWatch,
  type FakeWatches,
} from '../kubernetes/fake-watches.ts'

const ACCOUNT = { serviceAccount: 'operator', operatorNamespace: 'system' }
const { namespaces, secrets, configMaps } = TYPES
const { apiSpecifications, realms } = OWN_TYPES

interface Fixture {
  readonly source: ResourceSource
  readonly watches: FakeWatches
  readonly api: FakeApi
  readonly clock: ManualClock
  readonly changes: () => number
  /** Of which only the status was news, as they were told. */
  readonly renewed: readonly Resource[]
  /** Lets what was told be published. */
  readonly publish: () => Promise<void>
  readonly keys: () => readonly string[]
  readonly find: (key: string) => Resource | undefined
}

const aSource = async (
  more: Partial<KubernetesSourceOptions> = {},
  api = createFakeApi(),
): Promise<Fixture> => {
  const [watches, clock] = [createFakeWatches(), createManualClock()]
  const source = new KubernetesSource({
    api,
    clock,
    namespaces: 'all',
    className: 'svc',
    log: createSilentLog(),
    account: ACCOUNT,
    createReflector: watches.createReflector,
    ...more,
  })
  let changes = 0
  const renewed: Resource[] = []
  await source.start(
    () => {
      changes += 1
    },
    (resource) => renewed.push(resource),
  )
  await clock.run(1)
  return {
    source,
    watches,
    api,
    clock,
    changes: () => changes,
    renewed,
    publish: () => clock.run(50),
    keys: () =>
      [...source.current().resources.keys()].filter((key) => !key.startsWith('Namespace/')).sort(),
    find: (key) => source.current().resources.get(key),
  }
}

/** All is listed, with these objects in it. */
const aSyncedSource = async (
  objects: readonly ValueMap[] = [],
  more: Partial<KubernetesSourceOptions> = {},
  api = createFakeApi(),
): Promise<Fixture> => {
  const fixture = await aSource(more, api)
  const ofKind = (kind: string): readonly ValueMap[] =>
    objects.filter((object) => object['kind'] === kind)
  for (const watch of fixture.watches.open) {
    if (watch.options.type !== secrets) watch.sync(...ofKind(watch.options.type.kind))
  }
  await fixture.publish()
  return fixture
}

interface Facts {
  readonly namespace?: string
  readonly version?: number
  readonly generation?: number
  readonly uid?: string
  readonly spec?: ValueMap
  readonly metadata?: ValueMap
  readonly status?: ValueMap
}

const anObject = (kind: string, name: string, facts: Facts = {}, more: ValueMap = {}): ValueMap => {
  const { namespace = 'shop', version = 1, generation = 1, uid = `uid-${name}` } = facts
  const { metadata, spec, status } = facts
  const isOurs = ['ApiSpecification', 'Realm'].includes(kind)
  return {
    apiVersion: isOurs ? API_VERSION : 'v1',
    kind,
    metadata: {
      name,
      uid,
      resourceVersion: String(version),
      ...(kind !== 'Namespace' && { namespace }),
      ...(isOurs && { generation }),
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [{ manager: 'kubectl', fieldsV1: { 'f:spec': {} } }],
      ...metadata,
    },
    ...(spec && { spec }),
    ...(status && { status }),
    ...more,
  }
}

/** The CRD gives every document a status. */
const aDocument = (name: string, facts: Facts = {}, spec: ValueMap = {}): ValueMap =>
  anObject('ApiSpecification', name, {
    spec: { document: { id: name }, ...spec },
    status: {},
    ...facts,
  })

const aRealm = (name: string, facts: Facts = {}, spec: ValueMap = {}): ValueMap =>
  anObject('Realm', name, { spec: { uri: `com.${name}`, ...spec }, ...facts })

const withVariables = (name: string, secret: string, key?: string): ValueMap => {
  const source =
    key === undefined
      ? { secretRef: { name: secret } }
      : { name: 'x', secretRef: { name: secret, key } }
  return aDocument(name, {}, { variablesFrom: [source] })
}

const aSecret = (name: string, data: ValueMap, facts: Facts = {}): ValueMap =>
  anObject('Secret', name, facts, { data })

const DOC = 'ApiSpecification/shop/a'

describe('what is watched', () => {
  it.each([
    ['all', undefined, [undefined]],
    [['shop'], undefined, ['shop']],
    [['shop', 'pets', 'shop'], undefined, ['shop', 'pets']],
  ] as const)('namespaces %j', async (wanted, _, scopes) => {
    const { watches } = await aSource({ namespaces: wanted })
    for (const type of [apiSpecifications, realms]) {
      const found = watches.open.filter(({ options }) => options.type === type)
      expect(found.map(({ options }) => options.namespace)).toEqual(scopes)
      expect(found.every(({ options }) => options.pageSize === 50)).toBe(true)
    }
    expect(watches.of(namespaces).options.namespace).toBeUndefined()
    expect(watches.open.some(({ options }) => options.type === secrets)).toBe(false)
  })

  it('a Secret by its name, from the first who refers to it to the last', async () => {
    const fixture = await aSyncedSource([
      withVariables('a', 'keys', 'one'),
      aRealm('r', {}, { callbackSecret: { secretRef: { name: 'keys', key: 'two' } } }),
    ])
    const watch = fixture.watches.of(secrets)
    expect(watch.options).toMatchObject({ namespace: 'shop', fieldSelector: 'metadata.name=keys' })
    watch.sync(aSecret('keys', { one: 'MQ==', two: 'Mg==' }))
    await fixture.publish()
    fixture.watches.of(apiSpecifications).remove('shop/a')
    await fixture.publish()
    // Another watch, that keeps less; the first goes when it has answered.
    const [, less] = fixture.watches.open.filter(({ options }) => options.type === secrets)
    less?.sync(aSecret('keys', { one: 'MQ==', two: 'Mg==' }))
    await fixture.publish()
    expect(watch.isStopped).toBe(true)
    expect(fixture.find('Secret/shop/keys')).toHaveProperty('data', { two: 'Mg==' })
    fixture.watches.of(realms).remove('shop/r')
    await fixture.publish()
    await fixture.publish()
    expect(fixture.keys()).toEqual([])
    expect(fixture.watches.open.some(({ options }) => options.type === secrets)).toBe(false)
  })

  it('a ConfigMap that holds a document', async () => {
    const from = { documentFrom: { configMap: { name: 'docs', key: 'a.json' } } }
    const fixture = await aSyncedSource([aDocument('a', { spec: from })])
    const data = { 'a.json': '{}', 'b.json': '{"b": 1}' }
    fixture.watches.of(configMaps).sync(anObject('ConfigMap', 'docs', {}, { data }))
    await fixture.publish()
    expect(fixture.find('ConfigMap/shop/docs')).toMatchObject({
      data: { 'a.json': '{}' },
      otherKeys: ['b.json'],
    })
    expect(fixture.source.synced()).toBe(true)
  })

  it('a name that is no name is never requested', async () => {
    const fixture = await aSyncedSource([withVariables('a', 'x,metadata.name!=y', 'k')])
    expect(fixture.watches.open.some(({ options }) => options.type === secrets)).toBe(false)
    expect(fixture.source.synced()).toBe(true)
    expect(fixture.keys()).toEqual([DOC])
  })

  it('stop ends every watch', async () => {
    const fixture = await aSyncedSource([withVariables('a', 'keys', 'one')])
    await fixture.source.stop()
    expect(fixture.watches.open).toEqual([])
    const before = fixture.changes()
    await fixture.clock.run(100_000)
    expect(fixture.changes()).toBe(before)
  })
})

describe('what is kept of an object', () => {
  it('drops what is not read', async () => {
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': '{"data":"c2VjcmV0"}',
      'gateway.svc.dev/paused': 'true',
    }
    const labels = { tier: 'a' }
    const fixture = await aSyncedSource([
      aDocument(
        'a',
        { metadata: { annotations, labels } },
        {
          variablesFrom: [{ name: 'x', secretRef: { name: 'keys', key: 'one' } }],
        },
      ),
      anObject('Namespace', 'shop', { metadata: { annotations, labels } }),
    ])
    fixture.watches
      .of(secrets)
      .sync(
        aSecret('keys', { one: 'MQ==', __proto__x: 'eA==' }, { metadata: { annotations, labels } }),
      )
    await fixture.publish()
    const kept = { labels, annotations: { 'gateway.svc.dev/paused': 'true' } }
    expect(fixture.find(DOC)?.metadata).toMatchObject({ ...kept, generation: 1, uid: 'uid-a' })
    expect(fixture.find(DOC)?.metadata.annotations).toEqual(kept.annotations)
    expect(fixture.find('Namespace//shop')?.metadata.annotations).toEqual(kept.annotations)
    expect(fixture.find('Secret/shop/keys')).toMatchObject({
      data: { one: 'MQ==' },
      otherKeys: ['__proto__x'],
      metadata: { labels: {}, annotations: {}, createdAt: Date.parse('2026-01-01T00:00:00Z') },
    })
    expect(JSON.stringify([...fixture.source.current().resources.values()])).not.toMatch(
      /managedFields|c2VjcmV0|eA==/,
    )
  })

  it('reserved words as keys of a Secret are keys', async () => {
    const fixture = await aSyncedSource([withVariables('a', 'keys', 'constructor')])
    fixture.watches.of(secrets).sync(aSecret('keys', { one: 'MQ==' }))
    await fixture.publish()
    const secret = findSecret(fixture.source.current(), 'shop', 'keys')
    expect(secret).toHaveProperty('found')
    if (!('found' in secret)) return
    expect(readSecretKey(secret.found, 'constructor')).toEqual({
      missing: {
        reason: 'KeyNotFound',
        message: "Secret shop/keys has no key 'constructor'; it has one",
      },
    })
  })

  it.each([
    ['svc', { gatewayClassName: 'svc' }, true],
    ['svc', {}, true],
    ['svc', { gatewayClassName: 'other' }, false],
    ['svc', { gatewayClassName: 'other', nonsense: 1 }, false],
    ['svc', { gatewayClassName: 5 }, true],
    ['other', {}, false],
    ['other', { gatewayClassName: 'other' }, true],
  ])('operator of class %s, spec %j: kept %s', async (className, spec, isKept) => {
    const fixture = await aSyncedSource([aDocument('a', {}, spec)], { className })
    expect(fixture.keys()).toEqual(isKept ? [DOC] : [])
  })

  it.each([
    ['svc', { gatewayClassName: 'svc' }, true],
    ['svc', {}, true],
    ['svc', { gatewayClassName: 'other' }, false],
    ['svc', { gatewayClassName: 'other', nonsense: 1 }, false],
    ['svc', { gatewayClassName: 5 }, true],
    ['other', {}, false],
    ['other', { gatewayClassName: 'other' }, true],
  ])('operator of class %s, spec of a Realm %j: kept %s', async (className, spec, isKept) => {
    const fixture = await aSyncedSource([aRealm('r', {}, spec)], { className })
    expect(fixture.keys()).toEqual(isKept ? ['Realm/shop/r'] : [])
  })

  it('the Secrets of a Realm of another class are not read', async () => {
    const callbackSecret = { secretRef: { name: 'theirs', key: 'k' } }
    const theirs = aRealm('r', {}, { gatewayClassName: 'other', callbackSecret })
    const fixture = await aSyncedSource([withVariables('a', 'ours', 'k'), theirs])
    const asked = fixture.watches.all.filter(({ options }) => options.type === secrets)
    expect(asked.map(({ options }) => options.fieldSelector)).toEqual(['metadata.name=ours'])
    expect(fixture.source.synced()).toBe(false)
    fixture.watches.of(secrets).sync(aSecret('ours', { k: 'MQ==' }))
    await fixture.publish()
    expect(fixture.source.synced()).toBe(true)
  })

  it('a Realm that changes its class is gone', async () => {
    const fixture = await aSyncedSource([aRealm('r')])
    expect(fixture.keys()).toEqual(['Realm/shop/r'])
    const facts = { version: 2, generation: 2 }
    fixture.watches.of(OWN_TYPES.realms).put(aRealm('r', facts, { gatewayClassName: 'other' }))
    await fixture.publish()
    expect(fixture.keys()).toEqual([])
  })

  it('a resource that changes its class is gone', async () => {
    const fixture = await aSyncedSource([aDocument('a')])
    const other = aDocument('a', { version: 2, generation: 2 }, { gatewayClassName: 'other' })
    fixture.watches.of(apiSpecifications).put(other)
    await fixture.publish()
    expect(fixture.keys()).toEqual([])
  })

  it('what is ending counts until it is gone', async () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' }
    const fixture = await aSyncedSource([aDocument('a', { metadata })])
    expect(fixture.keys()).toEqual([DOC])
  })
})

describe('what has not changed is the same object', () => {
  const status = (lastTransitionTime: string, programmedGeneration = 1): ValueMap => ({
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime },
    ],
    programmedGeneration,
    programmedDigest: 'd',
  })

  it.each<[string, ValueMap, 'same' | 'renewed' | 'same checked' | 'other']>([
    ['nothing but the version', aDocument('a', { version: 2 }), 'same'],
    ['a status that is not read', aDocument('a', { version: 2, status: { other: 1 } }), 'same'],
    ['what was programmed', aDocument('a', { version: 2, status: status('t', 2) }), 'renewed'],
    ['a label', aDocument('a', { version: 2, metadata: { labels: { x: 'y' } } }), 'same checked'],
    ['another uid', aDocument('a', { uid: 'other' }), 'same checked'],
    [
      'another document under the same generation, as after a restored backup',
      aDocument('a', { version: 2, spec: { document: { id: 'b' } } }),
      'other',
    ],
  ])('%s', async (_, changed, expected) => {
    const fixture = await aSyncedSource([aDocument('a'), aDocument('b')])
    const [before, other] = [fixture.find(DOC), fixture.find('ApiSpecification/shop/b')]
    const { version } = fixture.source.current()
    fixture.watches.of(apiSpecifications).put(changed)
    await fixture.publish()
    const after = fixture.find(DOC)
    expect(after === before).toBe(expected === 'same')
    const hasChanged = expected !== 'same' && expected !== 'renewed'
    expect(fixture.source.current().version === version).toBe(!hasChanged)
    expect(fixture.renewed).toEqual(expected === 'renewed' ? [after] : [])
    expect(fixture.find('ApiSpecification/shop/b')).toBe(other)
    const checkedOf = (resource: Resource | undefined): unknown =>
      resource?.kind === 'ApiSpecification' ? resource.checked : undefined
    expect(checkedOf(after) === checkedOf(before)).toBe(expected !== 'other')
  })

  it('statuses make no change, and can be read', async () => {
    const fixture = await aSyncedSource([aDocument('a'), aDocument('b'), aRealm('r')])
    const { version } = fixture.source.current()
    const [changes, realm] = [fixture.changes(), fixture.find('Realm/shop/r')]
    for (const generation of [2, 3]) {
      const facts = { version: generation, status: status('t', generation) }
      fixture.watches.of(apiSpecifications).put(aDocument('a', facts))
      expect(fixture.find(DOC)).toHaveProperty('programmed.generation', generation)
    }
    await fixture.publish()
    expect(fixture.changes()).toBe(changes)
    expect(fixture.source.current().version).toBe(version)
    expect(fixture.find('Realm/shop/r')).toBe(realm)
    expect(fixture.renewed.map(({ metadata }) => metadata.resourceVersion)).toEqual(['2', '3'])

    // They come along with the next change, of whatever it is.
    fixture.watches.of(realms).put(aRealm('r', { version: 2, generation: 2 }, { more: 1 }))
    await fixture.publish()
    expect(fixture.changes()).toBe(changes + 1)
    expect(fixture.source.current().version).toBe(version + 1)
    expect(fixture.find(DOC)).toHaveProperty('programmed.generation', 3)
    expect(fixture.renewed).toHaveLength(2)
  })

  it('a status that came while none could be read makes no change either', async () => {
    const fixture = await aSyncedSource([aDocument('a'), aDocument('b')])
    const changes = fixture.changes()
    fixture.watches.of(apiSpecifications).fail(0)
    await fixture.publish()
    const before = fixture.changes()
    const { version } = fixture.source.current()
    fixture.watches
      .of(apiSpecifications)
      .hold(aDocument('a', { version: 2, status: status('t', 2) }))
      .fail(0)
    await fixture.publish()
    expect(before).toBeGreaterThan(changes)
    expect(fixture.source.current().version).toBe(version)
    expect(fixture.renewed).toHaveLength(1)
    expect(fixture.find(DOC)).toHaveProperty('programmed.generation', 2)
  })

  it('a status of a version that waits for its Secret waits with it', async () => {
    const fixture = await aSyncedSource([aDocument('a')])
    const facts = { version: 2, generation: 2 }
    const waiting = aDocument('a', facts, { variablesFrom: [{ secretRef: { name: 'keys' } }] })
    fixture.watches.of(apiSpecifications).put(waiting)
    await fixture.publish()
    const told = {
      ...waiting,
      status: status('t', 1),
      metadata: { ...(waiting['metadata'] as ValueMap), resourceVersion: '3' },
    }
    fixture.watches.of(apiSpecifications).put(told)
    await fixture.publish()
    expect(fixture.find(DOC)).toMatchObject({ metadata: { generation: 1 } })
    expect(fixture.renewed).toEqual([])
    fixture.watches.of(secrets).sync(aSecret('keys', { one: 'MQ==' }))
    await fixture.publish()
    expect(fixture.find(DOC)).toMatchObject({
      metadata: { generation: 2, resourceVersion: '3' },
      programmed: { generation: 1 },
    })
  })

  it('a Secret that was rotated is another, and only it', async () => {
    const fixture = await aSyncedSource([withVariables('a', 'keys', 'one'), aDocument('b')])
    fixture.watches.of(secrets).sync(aSecret('keys', { one: 'MQ==' }))
    await fixture.publish()
    const [before, secret] = [fixture.find(DOC), fixture.find('Secret/shop/keys')]
    fixture.watches.of(secrets).put(aSecret('keys', { one: 'Mg==' }, { version: 2 }))
    await fixture.publish()
    expect(fixture.find(DOC)).toBe(before)
    expect(fixture.find('Secret/shop/keys')).not.toBe(secret)
    expect(fixture.find('Secret/shop/keys')).toMatchObject({ data: { one: 'Mg==' } })
  })
})

describe('synced', () => {
  it('when every watch has listed and the state of every reference is known', async () => {
    const { watches, source, publish, changes } = await aSource()
    expect(source.current().version).toBe(0)
    for (const type of [apiSpecifications, realms]) {
      expect(source.synced()).toBe(false)
      watches.of(type).sync(...(type === realms ? [] : [withVariables('a', 'keys', 'one')]))
      await publish()
    }
    expect(source.synced()).toBe(false)
    watches.of(namespaces).sync()
    await publish()
    expect(source.synced()).toBe(false)
    expect(source.current().resources.size).toBe(0)
    const before = changes()
    watches.of(secrets).sync()
    await publish()
    expect(source.synced()).toBe(true)
    expect(changes()).toBeGreaterThan(before)
    expect([...source.current().resources.keys()]).toEqual([DOC])
    expect(source.current().holdDeletes).toBeUndefined()
  })

  it('also when there is nothing', async () => {
    const { source, changes } = await aSyncedSource()
    expect(source.synced()).toBe(true)
    expect(changes()).toBeGreaterThan(0)
    expect(source.current()).toMatchObject({ notes: [] })
  })

  it('is reported even where it changes nothing in the cache', async () => {
    const { watches, source, publish, changes } = await aSource()
    watches.of(apiSpecifications).sync()
    watches.of(realms).sync()
    await publish()
    const before = changes()
    watches.of(namespaces).sync()
    await publish()
    expect(source.synced()).toBe(true)
    expect(changes()).toBe(before + 1)
  })

  it.each([
    ['found', 0],
    ['forbidden', 403],
  ])('a Secret that is %s is known', async (_, status) => {
    const { watches, source, publish } = await aSyncedSource([withVariables('a', 'keys', 'one')])
    expect(source.synced()).toBe(false)
    if (status === 0) watches.of(secrets).sync(aSecret('keys', { one: 'MQ==' }))
    else watches.of(secrets).fail(status)
    await publish()
    expect(source.synced()).toBe(true)
  })

  it('one that can not be reached is waited for so long and no longer, and reported', async () => {
    const { watches, source, clock, keys } = await aSyncedSource([
      withVariables('a', 'keys', 'one'),
      withVariables('b', 'more', 'one'),
    ])
    watches.of(secrets, { name: 'more' }).sync(aSecret('more', { one: 'MQ==' }))
    watches.of(secrets, { name: 'keys' }).fail(500)
    await clock.run(9_000)
    expect(source.synced()).toBe(false)
    expect(keys()).toEqual(['ApiSpecification/shop/b', 'Secret/shop/more'])
    await clock.run(2_000)
    expect(source.synced()).toBe(true)
    expect(keys()).toContain(DOC)
    expect(source.current().notes).toEqual([
      {
        severity: 'error',
        resource: 'Secret shop/keys',
        message:
          "Secret shop/keys can't be read since 1970-01-01T00:00:01.000Z (HTTP 500): what was read before " +
          'stays in service, and the operator keeps trying',
      },
    ])
  })

  it('what is only slow, without trouble, is waited for', async () => {
    const { watches, source, clock, publish } = await aSyncedSource([
      withVariables('a', 'k', 'one'),
    ])
    await clock.run(100_000)
    expect(source.synced()).toBe(false)
    watches.of(secrets).fail(0)
    await publish()
    expect(source.synced()).toBe(true)
  })

  it('and not for longer than two minutes: one namespace may name more than can be requested in hours', async () => {
    const documents = [withVariables('a', 'k', 'one'), aDocument('b')]
    const { watches, source, clock, keys, find, publish } = await aSyncedSource(documents)
    await clock.run(121_000)
    expect(source.synced()).toBe(true)
    expect(source.current().holdDeletes).toBeUndefined()
    expect(keys()).toEqual(expect.arrayContaining([DOC, 'ApiSpecification/shop/b']))
    watches.of(secrets).sync(aSecret('k', { one: 'MQ==' }))
    await publish()
    expect(find('Secret/shop/k')).toBeDefined()
  })

  it('Namespaces may be forbidden: a note, and on it goes', async () => {
    const { watches, source, publish } = await aSource({ namespaces: ['shop'] })
    watches.of(apiSpecifications).sync(aDocument('a'))
    watches.of(realms).sync()
    watches.of(namespaces).fail(403)
    await publish()
    expect(source.synced()).toBe(true)
    expect(source.current().holdDeletes).toBeUndefined()
    const { notes } = source.current()
    expect(notes).toHaveLength(1)
    expect(notes[0]).toMatchObject({ severity: 'warning' })
    expect(notes[0]?.message).toContain('may not read Namespaces')
  })
})

describe('references that change', () => {
  it('a new version waits for what it refers to; others do not wait for it', async () => {
    const fixture = await aSyncedSource([aDocument('a'), aDocument('b')])
    const before = fixture.find(DOC)
    fixture.watches
      .of(apiSpecifications)
      .put(withVariables('a', 'keys', 'one'), aDocument('b', { metadata: { labels: { x: 'y' } } }))
    await fixture.publish()
    expect(fixture.find(DOC)).toBe(before)
    expect(fixture.find('ApiSpecification/shop/b')?.metadata.labels).toEqual({ x: 'y' })
    fixture.watches.of(secrets).sync(aSecret('keys', { one: 'MQ==' }))
    await fixture.publish()
    expect(fixture.find(DOC)).not.toBe(before)
    expect(fixture.find('Secret/shop/keys')).toMatchObject({ data: { one: 'MQ==' } })
    expect(fixture.source.synced()).toBe(true)
  })

  it('a new resource that waits holds deletes: it may be what went a moment ago', async () => {
    const fixture = await aSyncedSource()
    fixture.watches.of(apiSpecifications).put(withVariables('a', 'keys', 'one'))
    await fixture.publish()
    expect(fixture.keys()).toEqual([])
    expect(fixture.source.current().holdDeletes).toContain('have not been read yet')
    fixture.watches.of(secrets).sync()
    await fixture.publish()
    expect(fixture.keys()).toEqual([DOC])
    expect(fixture.source.current().holdDeletes).toBeUndefined()
  })

  it('new resources of one namespace hold them for ten seconds, whatever waits there then', async () => {
    const fixture = await aSyncedSource()
    const isHeld = (): boolean => fixture.source.current().holdDeletes !== undefined
    const put = (name: string, namespace: string): void => {
      const spec = { variablesFrom: [{ secretRef: { name } }] }
      fixture.watches.of(apiSpecifications).put(aDocument(name, { namespace }, spec))
    }
    const held: boolean[] = []
    for (let round = 0; round < 10; round += 1) {
      put(`d${round}`, 'hostile')
      // The one before is answered only when the next one waits.
      await fixture.publish()
      if (round > 0) fixture.watches.of(secrets, { name: `d${round - 1}` }).sync()
      await fixture.clock.run(2_950)
      held.push(isHeld())
    }
    expect(held).toEqual(held.map((_, round) => round < 3))
    put('orders', 'shop')
    await fixture.publish()
    expect(isHeld()).toBe(true)
    fixture.watches.of(secrets, { name: 'orders' }).sync()
    await fixture.publish()
    expect(isHeld()).toBe(false)
    fixture.watches.of(secrets, { name: 'd9' }).sync()
    await fixture.clock.run(120_000)
    put('later', 'hostile')
    await fixture.publish()
    expect(isHeld()).toBe(true)
    // Nothing else has to happen.
    await fixture.clock.run(10_050)
    expect(isHeld()).toBe(false)
  })

  it.each([
    ['another key', withVariables('b', 'keys', 'two'), { one: 'MQ==', two: 'Mg==' }],
    ['every key', withVariables('b', 'keys'), { one: 'MQ==', two: 'Mg==', three: 'Mw==' }],
  ])('%s of a Secret that is read already: read again, and never missing', async (_, doc, data) => {
    const fixture = await aSyncedSource([withVariables('a', 'keys', 'one')])
    const all = { one: 'MQ==', two: 'Mg==', three: 'Mw==' }
    const first = fixture.watches.of(secrets)
    first.sync(aSecret('keys', all))
    await fixture.publish()
    expect(fixture.find('Secret/shop/keys')).toMatchObject({ data: { one: 'MQ==' } })
    fixture.watches.of(apiSpecifications).put(doc)
    await fixture.publish()
    expect(fixture.keys()).toEqual([DOC, 'Secret/shop/keys'])
    expect(fixture.find('Secret/shop/keys')).toMatchObject({ data: { one: 'MQ==' } })
    const second = fixture.watches.open.find(
      (each) => each.options.type === secrets && each !== first,
    )
    second?.sync(aSecret('keys', all))
    await fixture.publish()
    expect(first.isStopped).toBe(true)
    expect(fixture.find('Secret/shop/keys')).toHaveProperty('data', data)
    expect(fixture.keys()).toContain('ApiSpecification/shop/b')
  })

  it('the old values stay while the new ones can not be read', async () => {
    const fixture = await aSyncedSource([withVariables('a', 'keys', 'one')])
    const first = fixture.watches.of(secrets)
    first.sync(aSecret('keys', { one: 'MQ==' }))
    await fixture.publish()
    fixture.watches.of(apiSpecifications).put(withVariables('b', 'keys', 'two'))
    await fixture.publish()
    const second = fixture.watches.open.find(
      (each) => each.options.type === secrets && each !== first,
    )
    second?.fail(500)
    await fixture.clock.run(20_000)
    expect(fixture.keys()).toContain('ApiSpecification/shop/b')
    expect(fixture.find('Secret/shop/keys')).toMatchObject({ data: { one: 'MQ==' } })
    expect(first.isStopped).toBe(false)
  })
})

it('of a namespace that refers to ever more Secrets a thousand are watched, and the others say why not', async () => {
  const many = Array.from({ length: 1003 }, (_, i) => withVariables(`d${i}`, `s${i}`, 'one'))
  const fixture = await aSyncedSource([...many, aDocument('last', { namespace: 'team' })])
  const watched = () => fixture.watches.open.filter(({ options }) => options.type === secrets)
  expect(watched()).toHaveLength(1000)
  for (const watch of watched()) watch.sync()
  await fixture.publish()
  expect(fixture.source.synced()).toBe(true)
  const { forbidden } = fixture.source.current()
  expect([...(forbidden?.keys() ?? [])]).toEqual(
    ['s1000', 's1001', 's1002'].map((name) => `Secret/shop/${name}`),
  )
  expect(forbidden?.get('Secret/shop/s1000')).toMatch(/refers to more than 1000 Secrets/)
  expect(fixture.find('ApiSpecification/shop/d1002')).toBeDefined()
  // Another's place becomes free.
  fixture.watches.of(apiSpecifications).remove('shop/d0')
  await fixture.publish()
  expect(fixture.source.current().forbidden?.size).toBe(2)
})

describe('a Secret that may not be read', () => {
  const remedy =
    'allow it with: kubectl create rolebinding svc-gateway-secret-reader --namespace=shop ' +
    '--clusterrole=svc-gateway-secret-reader --serviceaccount=system:operator'

  it('is forbidden, with the command that grants it; then it is seen', async () => {
    const fixture = await aSyncedSource([withVariables('a', 'keys', 'one')])
    fixture.watches.of(secrets).fail(403)
    await fixture.publish()
    expect(fixture.source.current().forbidden).toEqual(new Map([['Secret/shop/keys', remedy]]))
    expect(fixture.source.current().notes).toEqual([])
    expect(fixture.keys()).toEqual([DOC])
    fixture.watches.of(secrets).sync(aSecret('keys', { one: 'MQ==' }))
    await fixture.publish()
    expect(fixture.source.current().forbidden).toEqual(new Map())
    expect(fixture.keys()).toEqual([DOC, 'Secret/shop/keys'])
  })

  it('is tried again when who refers to it changes', async () => {
    const fixture = await aSyncedSource([withVariables('a', 'keys', 'one')])
    const watch = fixture.watches.of(secrets).fail(403)
    await fixture.publish()
    expect(watch.relists).toBe(0)
    const spec = { document: { id: 'a2' }, variablesFrom: [{ secretRef: { name: 'keys' } }] }
    const other = { name: 'x', secretRef: { name: 'keys', key: 'one' } }
    fixture.watches
      .of(apiSpecifications)
      .put(aDocument('a', { version: 2, generation: 2, spec: { ...spec, variablesFrom: [other] } }))
    await fixture.publish()
    expect(watch.relists).toBe(1)
  })

  it('once read and then taken away: reported, and not kept any more', async () => {
    const fixture = await aSyncedSource([withVariables('a', 'keys', 'one')])
    fixture.watches.of(secrets).sync(aSecret('keys', { one: 'MQ==' }))
    await fixture.publish()
    fixture.watches.of(secrets).fail(403)
    await fixture.publish()
    expect(fixture.keys()).toEqual([DOC])
    expect(fixture.source.current().forbidden?.size).toBe(1)
  })

  it('a ConfigMap is forbidden with a command of its own', async () => {
    const from = { documentFrom: { configMap: { name: 'docs', key: 'a.json' } } }
    const fixture = await aSyncedSource([aDocument('a', { spec: from })])
    fixture.watches.of(configMaps).fail(403)
    await fixture.publish()
    expect(fixture.source.synced()).toBe(true)
    expect(fixture.source.current().notes).toEqual([])
    expect(fixture.source.current().forbidden).toEqual(
      new Map([
        ['ConfigMap/shop/docs', remedy.replaceAll('svc-gateway-secret-', 'svc-gateway-configmap-')],
      ]),
    )
  })
})

describe('the API server is in trouble', () => {
  it('away: nothing changes, nothing is deleted, and it is reported since when', async () => {
    const fixture = await aSyncedSource([
      withVariables('a', 'keys', 'one'),
      withVariables('b', 'k2'),
    ])
    fixture.watches.of(secrets, { name: 'keys' }).sync(aSecret('keys', { one: 'MQ==' }))
    fixture.watches.of(secrets, { name: 'k2' }).sync(aSecret('k2', { one: 'MQ==' }))
    await fixture.publish()
    const before = fixture.source.current()
    for (const watch of fixture.watches.open) watch.fail(0)
    await fixture.publish()
    const after = fixture.source.current()
    expect([...after.resources]).toEqual([...before.resources])
    expect(after.notes.map(({ message }) => message)).toEqual([
      expect.stringContaining("the ApiSpecification resources can't be read since 1970-01-01"),
      expect.stringContaining('the Realm resources'),
      expect.stringContaining('the Namespace resources'),
      expect.stringContaining('Secret shop/keys and 1 more of its kind'),
    ])
    for (const watch of fixture.watches.open) watch.heal()
    await fixture.publish()
    expect(fixture.source.current().notes).toEqual([])
  })

  it.each<[number, readonly string[] | 'all', string]>([
    [404, ['shop', 'pets'], 'apply the CRDs'],
    [403, 'all', 'list and watch Realm resources'],
  ])('%i of %s holds every delete', async (status, of, words) => {
    const fixture = await aSyncedSource([aDocument('a')], { namespaces: of })
    expect(fixture.source.current().holdDeletes).toBeUndefined()
    const failing = (): FakeWatch =>
      fixture.watches.of(realms, of === 'all' ? {} : { namespace: 'shop' })
    failing().fail(status)
    await fixture.publish()
    expect(fixture.source.current().holdDeletes).toContain(words)
    expect(fixture.keys()).toEqual([DOC])
    failing().heal()
    await fixture.publish()
    expect(fixture.source.current().holdDeletes).toBeUndefined()
  })

  describe('one namespace of several that may not be read (any more)', () => {
    const PETS = aDocument('cat', { namespace: 'pets' })
    const both = { namespaces: ['shop', 'pets'] }
    const forbid = ({ watches }: Fixture, namespace: string): void => {
      for (const type of [apiSpecifications, realms]) watches.of(type, { namespace }).fail(403)
    }
    const listed = async (...of: readonly string[]): Promise<Fixture> => {
      const fixture = await aSource(both)
      fixture.watches.of(namespaces).sync(...of.map((name) => anObject('Namespace', name)))
      fixture.watches.of(apiSpecifications, { namespace: 'shop' }).sync(aDocument('a'))
      fixture.watches.of(realms, { namespace: 'shop' }).sync()
      await fixture.publish()
      return fixture
    }

    it('stays as it was, and holds back nothing of others, nor what confirms it', async () => {
      const fixture = await listed('shop', 'pets')
      fixture.watches.of(apiSpecifications, { namespace: 'pets' }).sync(PETS)
      fixture.watches.of(realms, { namespace: 'pets' }).sync()
      await fixture.publish()
      forbid(fixture, 'pets')
      for (const type of [apiSpecifications, realms])
        fixture.watches.of(type, { namespace: 'pets' }).onRelist = () => false
      fixture.watches.of(apiSpecifications, { namespace: 'shop' }).remove('shop/a')
      await fixture.publish()
      expect(fixture.source.current().holdDeletes).toBeUndefined()
      expect(fixture.keys()).toEqual(['ApiSpecification/pets/cat'])
      await expect(fixture.source.confirm()).resolves.toBe(true)
      expect(fixture.source.current().notes).toHaveLength(2)
    })

    it('is not waited for by others, once a right that is on its way would be there', async () => {
      const fixture = await listed('shop', 'pets')
      forbid(fixture, 'pets')
      await fixture.publish()
      expect(fixture.source.synced()).toBe(false)
      await fixture.clock.run(30_000)
      expect(fixture.source.synced()).toBe(true)
      expect(fixture.keys()).toEqual([DOC])
      // Gateways may hold what is in it.
      expect(fixture.source.current().holdDeletes).toContain('in namespace pets')
    })

    it('is over where it was deleted: nothing is in it', async () => {
      const fixture = await listed('shop')
      forbid(fixture, 'pets')
      await fixture.publish()
      expect(fixture.source.synced()).toBe(true)
      expect(fixture.source.current().holdDeletes).toBeUndefined()
    })

    it('takes along what was read of it when it is deleted', async () => {
      const fixture = await listed('shop', 'pets')
      fixture.watches.of(apiSpecifications, { namespace: 'pets' }).sync(PETS)
      fixture.watches.of(realms, { namespace: 'pets' }).sync()
      await fixture.publish()
      expect(fixture.keys()).toHaveLength(2)
      forbid(fixture, 'pets')
      fixture.watches.of(namespaces).remove('/pets')
      await fixture.publish()
      expect(fixture.keys()).toEqual([DOC])
      expect(fixture.source.current().holdDeletes).toBeUndefined()
      // Another one of that name, before and after it may be read.
      fixture.watches.of(namespaces).sync(anObject('Namespace', 'pets', { uid: 'another' }))
      await fixture.publish()
      expect(fixture.keys()).toEqual([DOC])
      for (const type of [apiSpecifications, realms]) {
        fixture.watches.of(type, { namespace: 'pets' }).fail(0)
        await fixture.publish()
        expect(fixture.keys()).toEqual([DOC])
      }
      const dog = aDocument('dog', { namespace: 'pets' })
      fixture.watches.of(apiSpecifications, { namespace: 'pets' }).remove('pets/cat').sync(dog)
      await fixture.publish()
      expect(fixture.keys()).toEqual(['ApiSpecification/pets/dog', DOC])
    })

    it('is all there is: nothing is known then', async () => {
      const fixture = await aSource({ namespaces: ['pets'] })
      fixture.watches.of(namespaces).sync(anObject('Namespace', 'pets'))
      forbid(fixture, 'pets')
      await fixture.clock.run(60_000)
      expect(fixture.source.synced()).toBe(false)
    })
  })

  it('what has not been listed holds every delete', async () => {
    const fixture = await aSource()
    fixture.watches.of(realms).sync()
    await fixture.publish()
    expect(fixture.source.current().holdDeletes).toContain('have not been listed yet')
  })
})

const anApiWithoutDefinitions = (): FakeApi => {
  const api = createFakeApi()
  for (const plural of ['apispecifications', 'realms']) api.definitions.set(plural, 403)
  return api
}

describe('deletions', () => {
  it('are believed once the CRDs have been looked at', async () => {
    const fixture = await aSyncedSource([aDocument('a'), aDocument('b')])
    const { looks } = fixture.api
    fixture.watches.of(apiSpecifications).remove('shop/a')
    await fixture.publish()
    expect(fixture.keys()).toEqual(['ApiSpecification/shop/b'])
    expect(fixture.api.looks).toBe(looks + 2)
    expect(fixture.source.current().holdDeletes).toBeUndefined()
  })

  it.each([
    ['gone', 404],
    ['being deleted', aDefinition('d1', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['not established', { metadata: { uid: 'd1' }, status: {} }],
  ])(
    'with a CRD that is %s: all stays until it is back, and for a while after',
    async (_, response) => {
      const fixture = await aSyncedSource([aDocument('a'), aDocument('b')])
      const before = fixture.find(DOC)
      fixture.api.definitions.set('apispecifications', response)
      fixture.watches.of(apiSpecifications).remove('shop/a', 'shop/b')
      await fixture.publish()
      expect(fixture.find(DOC)).toBe(before)
      expect(fixture.source.current().holdDeletes).toContain('CRD')
      expect(await fixture.source.confirm()).toBe(false)
      await fixture.clock.run(600_000)
      expect(fixture.keys()).toHaveLength(2)
      fixture.api.definitions.set('apispecifications', aDefinition('d3'))
      await fixture.clock.run(3_000)
      expect(fixture.keys()).toHaveLength(2)
      expect(fixture.source.current().holdDeletes).toContain('is back')
      expect(await fixture.source.confirm()).toBe(false)
      fixture.watches.of(apiSpecifications).put(aDocument('a', { uid: 'new' }))
      await fixture.clock.run(60_000)
      expect(fixture.keys()).toEqual([DOC])
      expect(fixture.source.current().holdDeletes).toBeUndefined()
    },
  )

  it('a listener that waits for a kind reads as soon as its CRD is back, one at a time', async () => {
    const fixture = await aSyncedSource([aDocument('a')])
    const watch = fixture.watches.of(apiSpecifications)
    const resolvers: ((isListed: boolean) => void)[] = []
    watch.onRelist = () => new Promise((resolve) => resolvers.push(resolve))
    fixture.api.definitions.set('apispecifications', 404)
    watch.remove('shop/a').fail(404)
    await fixture.clock.run(600_000)
    expect(watch.relists).toBe(0)
    fixture.api.definitions.set('apispecifications', aDefinition('d3'))
    await fixture.clock.run(10_000)
    expect(watch.relists).toBe(1)
    // The API server needs a moment more.
    resolvers.shift()?.(false)
    await fixture.clock.run(2_000)
    expect(watch.relists).toBe(2)
    watch.sync(aDocument('a', { uid: 'new' }))
    resolvers.shift()?.(true)
    await fixture.clock.run(600_000)
    expect(watch.relists).toBe(2)
    expect(fixture.watches.of(realms).relists).toBe(0)
    expect(fixture.find(DOC)?.metadata.uid).toBe('new')
  })

  it('all is applied again at once: nothing is held', async () => {
    const fixture = await aSyncedSource([aDocument('a')])
    fixture.api.definitions.set('apispecifications', 404)
    fixture.watches.of(apiSpecifications).remove('shop/a').fail(404)
    await fixture.publish()
    expect(fixture.keys()).toEqual([DOC])
    fixture.api.definitions.set('apispecifications', aDefinition('d3'))
    fixture.watches.of(apiSpecifications).sync(aDocument('a', { uid: 'new' }))
    await fixture.publish()
    expect(fixture.find(DOC)?.metadata.uid).toBe('new')
    expect(fixture.source.current().holdDeletes).toBeUndefined()
  })

  it('a CRD that was away before anything was listed: it is not known what went with it', async () => {
    const fixture = await aSource()
    for (const plural of ['apispecifications', 'realms']) fixture.api.definitions.set(plural, 404)
    for (const type of [apiSpecifications, realms]) fixture.watches.of(type).fail(404)
    fixture.watches.of(namespaces).sync()
    await fixture.clock.run(600_000)
    expect(fixture.source.synced()).toBe(false)
    for (const plural of ['apispecifications', 'realms'])
      fixture.api.definitions.set(plural, aDefinition('d1'))
    for (const type of [apiSpecifications, realms]) fixture.watches.of(type).heal()
    fixture.watches.of(realms).sync()
    fixture.watches.of(apiSpecifications).sync(aDocument('a'))
    await fixture.publish()
    expect(fixture.source.synced()).toBe(true)
    expect(fixture.source.current().holdDeletes).toContain('CRD')
    await fixture.clock.run(50_000)
    expect(fixture.source.current().holdDeletes).toContain('is back')
    expect(await fixture.source.confirm()).toBe(false)
    await fixture.clock.run(20_000)
    expect(fixture.source.current().holdDeletes).toBeUndefined()
    expect(await fixture.source.confirm()).toBe(true)
  })

  it('a CRD that was replaced between two looks is another one', async () => {
    const fixture = await aSyncedSource([aDocument('a')])
    fixture.api.definitions.set('apispecifications', aDefinition('d3'))
    fixture.watches.of(apiSpecifications).remove('shop/a')
    await fixture.publish()
    expect(fixture.keys()).toEqual([DOC])
    expect(fixture.source.current().holdDeletes).toContain('is back')
  })

  it('where CRDs may not be looked at, the watch is believed', async () => {
    const fixture = await aSyncedSource([aDocument('a')], {}, anApiWithoutDefinitions())
    fixture.watches.of(apiSpecifications).remove('shop/a')
    await fixture.publish()
    expect(fixture.keys()).toEqual([])
  })

  it('and a kind that the API does not know says enough', async () => {
    const fixture = await aSyncedSource([aDocument('a')], {}, anApiWithoutDefinitions())
    fixture.watches.of(apiSpecifications).remove('shop/a').fail(404)
    await fixture.clock.run(600_000)
    expect(fixture.keys()).toEqual([DOC])
    expect(fixture.watches.of(apiSpecifications).relists).toBe(0)
    fixture.watches.of(apiSpecifications).heal()
    await fixture.clock.run(59_000)
    expect(fixture.keys()).toEqual([DOC])
    await fixture.clock.run(5_000)
    expect(fixture.keys()).toEqual([])
  })

  it('an API server that can not say: not believed, called again', async () => {
    const fixture = await aSyncedSource([aDocument('a')])
    fixture.api.definitions.set('realms', 500)
    fixture.watches.of(apiSpecifications).remove('shop/a')
    await fixture.publish()
    expect(fixture.keys()).toEqual([DOC])
    fixture.api.definitions.set('realms', aDefinition('d2'))
    await fixture.clock.run(2_100)
    expect(fixture.keys()).toEqual([])
  })

  it('of a Realm that is to be deleted now: reported as such, and no CRD is read for it', async () => {
    const fixture = await aSyncedSource([anObject('Realm', 'a'), anObject('Realm', 'b')])
    fixture.api.definitions.set('realms', 500)
    const annotations = { 'gateway.svc.dev/delete-now': 'true' }
    fixture.watches
      .of(realms)
      .delete(anObject('Realm', 'a', { version: 2, metadata: { annotations } }))
    fixture.watches.of(realms).delete(anObject('Realm', 'b', { version: 2 }))
    await fixture.publish()
    expect(fixture.keys()).toEqual(['Realm/shop/b'])
    expect([...(fixture.source.current().deletedNow ?? [])]).toEqual(['uid-a'])
  })

  it('what stays goes on to need its Secrets', async () => {
    const fixture = await aSyncedSource([withVariables('a', 'keys', 'one')])
    fixture.watches.of(secrets).sync(aSecret('keys', { one: 'MQ==' }))
    await fixture.publish()
    fixture.api.definitions.set('apispecifications', 404)
    fixture.watches.of(apiSpecifications).remove('shop/a')
    await fixture.clock.run(10_000)
    expect(fixture.keys()).toEqual([DOC, 'Secret/shop/keys'])
  })
})

describe('confirm', () => {
  it('lists live, and takes in what is found', async () => {
    const fixture = await aSyncedSource([aDocument('a'), aDocument('b')])
    const watch = fixture.watches.of(apiSpecifications)
    watch.onRelist = () => {
      watch.remove('shop/a')
      return true
    }
    expect(await fixture.source.confirm()).toBe(true)
    expect(fixture.keys()).toEqual(['ApiSpecification/shop/b'])
    expect(watch.relists).toBe(1)
    expect(fixture.watches.of(realms).relists).toBe(1)
  })

  it.each([
    ['a list fails', (f: Fixture) => (f.watches.of(realms).onRelist = () => false)],
    ['a CRD is gone', (f: Fixture) => f.api.definitions.set('realms', 404)],
    ['a CRD can not be read', (f: Fixture) => f.api.definitions.set('realms', 500)],
    [
      'a CRD goes while it lists',
      (f: Fixture) =>
        (f.watches.of(realms).onRelist = () => {
          f.api.definitions.set('realms', aDefinition('d2', { deletionTimestamp: 'now' }))
          return true
        }),
    ],
    [
      'a CRD is replaced while it lists',
      (f: Fixture) =>
        (f.watches.of(realms).onRelist = () => {
          f.api.definitions.set('realms', aDefinition('d9'))
          return true
        }),
    ],
    ['a watch is in trouble', (f: Fixture) => f.watches.of(realms).fail(403)],
  ])('false where %s', async (_, break_) => {
    const fixture = await aSyncedSource([aDocument('a')])
    break_(fixture)
    expect(await fixture.source.confirm()).toBe(false)
    expect(fixture.keys()).toEqual([DOC])
  })

  it('without the right to see CRDs the lists are the proof', async () => {
    const fixture = await aSyncedSource([aDocument('a')], {}, anApiWithoutDefinitions())
    expect(await fixture.source.confirm()).toBe(true)
  })

  it('who asks while one is under way gets one that began after', async () => {
    const fixture = await aSyncedSource()
    const watch = fixture.watches.of(apiSpecifications)
    const asked = [1, 2, 3, 4].map(() => fixture.source.confirm())
    expect(await Promise.all(asked)).toEqual([true, true, true, true])
    expect(watch.relists).toBe(2)
    expect(await fixture.source.confirm()).toBe(true)
    expect(watch.relists).toBe(3)
  })
})
