// Who may have which host: grants of namespaces, owners of patterns.

import { describe, expect, it } from '@jest/globals'
import { coversHosts, listEntries } from '../../../operator/reconcile/claims/host-entries.ts'
import { Reconciler, type ReconcilerOptions } from '../../../operator/reconcile/reconciler.ts'
import type { ResourceResult } from '../../../operator/reconcile/resource-result.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { hostKey, parseHost } from '../../../language/routes/host-pattern.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const STRICT = { className: 'svc', hostOwnership: 'strict', wildcardNamespaces: [] } as const

const realm = resourceOf(
  'Realm',
  'shop',
  { spec: { uri: 'com.shop', allowedNamespaces: { from: 'All' } } },
  { namespace: 'realms' },
)

interface Place {
  readonly namespace?: string
  readonly createdAt?: number
  readonly generation?: number
  readonly uid?: string
}

const specification = (
  name: string,
  host: string,
  place: Place & { readonly path?: string } = {},
): Resource => {
  const { path = '/a', ...known } = place
  const operation = { get: { action: { type: 'static', body: name }, response: {} } }
  const versions = { v1: { base_path: `/${name}`, paths: { [path]: operation } } }
  const document = aSpecification(name, { host, versions })
  return resourceOf('ApiSpecification', name, { spec: { document } }, known)
}

/** `base_path` is `/`: documents may want one path. */
const onPath = (name: string, host: string, path: string, place: Place): Resource => {
  const operation = { get: { action: { type: 'static', body: name }, response: {} } }
  const versions = { v1: { base_path: '/', paths: { [path]: operation } } }
  const document = aSpecification(name, { host, versions })
  return resourceOf('ApiSpecification', name, { spec: { document } }, place)
}

const namespace = (name: string, annotations: object = {}): Resource =>
  resourceOf('Namespace', name, {}, { annotations })

const shown = (results: ReadonlyMap<string, ResourceResult>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...results].flatMap(([key, { resource, accepted, resolvedRefs }]) => {
      if (resource.kind === 'Realm') return []
      const bad = [accepted, resolvedRefs].find(({ status }) => status !== 'True')
      return [[key.slice('ApiSpecification/'.length), bad?.reason ?? 'good']]
    }),
  )

const validate = (
  resources: readonly Resource[],
  options: ReconcilerOptions = STRICT,
): Readonly<Record<string, string>> =>
  shown(new Reconciler(options).reconcile(cacheOf([realm, ...resources])).results)

describe('entries of lists of hosts', () => {
  it.each([
    ['a.test', 'a.test', true],
    ['A.Test', 'a.test', true],
    ['a.test', 'b.test', false],
    ['a.test', 'x.a.test', false],
    ['a.test', ':_.test', false],
    ['*', '_', true],
    ['_', 'any.test', true],
    ['*', '[...].a.test', true],
    ['*.a.test', 'x.a.test', true],
    ['*.a.test', 'x.y.a.test', true],
    ['*.a.test', 'a.test', false],
    ['*.A.test', ':_.a.test', true],
    ['*.a.test', '[...].a.test', true],
    ['*.a.test', '_', false],
    ['*.a.test', '[...]test', false],
    [':_.a.test', ':tenant.a.test', true],
    [':_.a.test', 'x.a.test', false],
    ['[...].a.test', ':_.a.test', false],
    ['', 'a.test', false],
    ['*.', 'a.test', false],
    ['**', 'a.test', false],
    ['constructor', 'a.test', false],
    ['https://a.test', 'a.test', false],
  ])('%s covers %s: %s', (entry, host, expected) => {
    const parsed = parseHost(host)
    const hosts = parsed.ok ? parsed.hosts : []
    expect(hosts.length).toBeGreaterThan(0)
    expect(coversHosts([entry], hosts)).toBe(expected)
  })

  it('are read once, however many documents they are compared with', () => {
    let reads = 0
    const entries = new Proxy(['b.test', '*.a.test'], {
      get: (list, member, receiver) => {
        reads += 1
        return Reflect.get(list, member, receiver) as unknown
      },
    })
    const parsed = parseHost('x.a.test')
    const hosts = parsed.ok ? parsed.hosts : []
    expect(coversHosts(entries, hosts)).toBe(true)
    reads = 0
    expect(coversHosts(entries, hosts)).toBe(true)
    expect(reads).toBe(0)
  })

  it.each([
    ['none', [], ''],
    ['a few', ['a.test', '*.b.test'], 'a.test, *.b.test'],
    ['many', new Array<string>(12).fill('a.test'), `${'a.test, '.repeat(9)}a.test and 2 more`],
    ['a long one', ['a'.repeat(300)], `${'a'.repeat(255)}…`],
  ])('are listed in a message: %s', (_name, entries, expected) => {
    expect(listEntries(entries)).toBe(expected)
  })
})

describe('which hosts a namespace may claim', () => {
  const HOSTS = 'gateway.svc.dev/hosts'
  it.each<[string, string, readonly [ReconcilerOptions, ...Resource[]], string]>([
    ['exact', 'a.test', [STRICT], 'good'],
    ['everything', '_', [STRICT], 'RefNotPermitted'],
    ['one label', ':_.a.test', [STRICT], 'RefNotPermitted'],
    ['a named label', ':tenant.a.test', [STRICT], 'RefNotPermitted'],
    ['a tail', '[...].a.test', [STRICT], 'RefNotPermitted'],
    ['an optional label is no wildcard', '[www.]a.test', [STRICT], 'good'],
    ['by default', '_', [{ className: 'svc' }], 'good'],
    ['a listed namespace', '_', [{ ...STRICT, wildcardNamespaces: ['shop'] }], 'good'],
    ['another', '_', [{ ...STRICT, wildcardNamespaces: ['x'] }], 'RefNotPermitted'],
    ['annotated', '_', [STRICT, namespace('shop', { [HOSTS]: '_' })], 'good'],
    ['below', ':_.a.test', [STRICT, namespace('shop', { [HOSTS]: 'b.test, *.a.test ' })], 'good'],
    ['not named', 'c.test', [STRICT, namespace('shop', { [HOSTS]: 'b.test' })], 'RefNotPermitted'],
    ['empty', 'a.test', [STRICT, namespace('shop', { [HOSTS]: '' })], 'RefNotPermitted'],
    [
      'the annotation decides also where all may',
      'c.test',
      [{ className: 'svc' }, namespace('shop', { [HOSTS]: 'b.test' })],
      'RefNotPermitted',
    ],
    [
      'of another namespace',
      '_',
      [STRICT, namespace('other', { [HOSTS]: '*' })],
      'RefNotPermitted',
    ],
    ['not annotated', 'a.test', [STRICT, namespace('shop')], 'good'],
  ])('%s: %s', (_name, host, [options, ...resources], expected) => {
    const document = specification('d', host, { namespace: 'shop' })
    expect(validate([...resources, document], options)['shop/d']).toBe(expected)
  })

  it('words say what to do; an annotation that comes later helps; one that goes takes it out', () => {
    const reconciler = new Reconciler(STRICT)
    const document = specification('d', '_', { namespace: 'shop' })
    const step = (...resources: readonly Resource[]): ReturnType<Reconciler['reconcile']> =>
      reconciler.reconcile(cacheOf([realm, document, ...resources]))
    const message = (at: ReturnType<typeof step>): string | undefined =>
      at.results.get('ApiSpecification/shop/d')?.resolvedRefs.message
    const first = step(namespace('shop'))
    expect(message(first)).toContain('--wildcard-namespaces')
    expect(first.desired.documents.size).toBe(0)
    expect(step(namespace('shop', { [HOSTS]: '*' })).desired.documents.size).toBe(1)
    const last = step(namespace('shop', { [HOSTS]: 'a.test,b.test' }))
    expect(message(last)).toContain('allows a.test, b.test')
    expect([...last.desired.documents.keys()]).toEqual([])
  })
})

describe('a host belongs to the namespace of its oldest accepted document', () => {
  const a = { namespace: 'a', createdAt: 1000 }
  const b = { namespace: 'b', createdAt: 2000 }
  const shared = { ...STRICT, hostOwnership: 'shared' } as const

  it.each<[string, readonly Resource[], Readonly<Record<string, string>>, ReconcilerOptions]>([
    [
      'the younger of another namespace is refused',
      [specification('y', 'h.test', b), specification('x', 'h.test', a)],
      { 'a/x': 'good', 'b/y': 'Conflicted' },
      STRICT,
    ],
    [
      'but for shared ownership',
      [specification('y', 'h.test', b), specification('x', 'h.test', a)],
      { 'a/x': 'good', 'b/y': 'good' },
      shared,
    ],
    [
      'neighbours share it',
      [specification('x', 'h.test', a), specification('y', 'h.test', { ...a, createdAt: 9000 })],
      { 'a/x': 'good', 'a/y': 'good' },
      STRICT,
    ],
    [
      'three spellings are one host',
      [specification('x', '.H.test.', a), specification('y', 'h.test', b)],
      { 'a/x': 'good', 'b/y': 'Conflicted' },
      STRICT,
    ],
    [
      'one of several hosts is enough',
      [specification('x', 'www.h.test', a), specification('y', '[www.]h.test', b)],
      { 'a/x': 'good', 'b/y': 'Conflicted' },
      STRICT,
    ],
    [
      'a document that is refused owns none of its other hosts',
      [
        specification('x', 'www.h.test', a),
        specification('y', '[www.]h.test', b),
        specification('z', 'h.test', { namespace: 'c', createdAt: 3000 }),
      ],
      { 'a/x': 'good', 'b/y': 'Conflicted', 'c/z': 'good' },
      STRICT,
    ],
    [
      'overlapping patterns are two hosts',
      [specification('x', ':_.h.test', a), specification('y', 'x.h.test', b)],
      { 'a/x': 'good', 'b/y': 'good' },
      { ...STRICT, wildcardNamespaces: 'all' },
    ],
    [
      'who is not accepted owns nothing',
      [specification('x', 'h.test', { ...a, path: 'nope' }), specification('y', 'h.test', b)],
      { 'a/x': 'Invalid', 'b/y': 'good' },
      STRICT,
    ],
    [
      'who may not use its realm owns nothing',
      [
        resourceOf(
          'ApiSpecification',
          'x',
          { spec: { document: aSpecification('x', { host: 'h.test', realm_uri: 'com.none' }) } },
          a,
        ),
        specification('y', 'h.test', b),
      ],
      { 'a/x': 'RealmNotFound', 'b/y': 'good' },
      STRICT,
    ],
    [
      'of one age, by namespace',
      [specification('y', 'h.test', { ...b, createdAt: 1000 }), specification('x', 'h.test', a)],
      { 'a/x': 'good', 'b/y': 'Conflicted' },
      STRICT,
    ],
  ])('%s', (_name, resources, expected, options) => {
    expect(validate(resources, options)).toEqual(expected)
  })

  /** Of two hosts, and of one path of both. */
  const both = (name: string, place: Place): Resource => onPath(name, '[www.]h.test', '/p', place)

  it('a document that lost a path owns no host; the younger has it, and keeps it', () => {
    const reconciler = new Reconciler(STRICT)
    const first = onPath('w', 'h.test', '/p', { namespace: 'a', createdAt: 1 })
    const loser = both('x', { namespace: 'a', createdAt: 2 })
    const younger = onPath('z', 'www.h.test', '/q', { namespace: 'b', createdAt: 3 })
    const step = (...resources: readonly Resource[]): Readonly<Record<string, string>> =>
      shown(reconciler.reconcile(cacheOf([realm, ...resources])).results)
    const expected = { 'a/w': 'good', 'a/x': 'Conflicted', 'b/z': 'good' }
    expect(step(first, loser, younger)).toEqual(expected)
    expect(step(younger, loser, first)).toEqual(expected)
    // The path is free again, the host is not.
    expect(step(loser, younger)).toEqual({ 'a/x': 'Conflicted', 'b/z': 'good' })
    expect(step(loser)).toEqual({ 'a/x': 'good' })
  })

  it('a document that serves and loses a path with its next version keeps the hosts that serve', () => {
    const reconciler = new Reconciler(STRICT)
    const first = onPath('w', 'h.test', '/p', { namespace: 'a', createdAt: 1 })
    const before = onPath('x', 'own.test', '/p', { namespace: 'a', createdAt: 2 })
    reconciler.reconcile(cacheOf([realm, first, before]))
    const after = both('x', { namespace: 'a', createdAt: 2, generation: 2 })
    const own = onPath('y', 'own.test', '/q', { namespace: 'b', createdAt: 3 })
    const freed = onPath('z', 'www.h.test', '/q', { namespace: 'b', createdAt: 4 })
    const { results } = reconciler.reconcile(cacheOf([realm, first, after, own, freed]))
    expect(shown(results)).toEqual({
      'a/w': 'good',
      'a/x': 'Conflicted',
      'b/y': 'Conflicted',
      'b/z': 'good',
    })
  })

  it('is settled the same way again, and refuses none for one that is not accepted: random documents', () => {
    const hosts = ['h.test', 'www.h.test', '[www.]h.test', 'own.test', '[www.]own.test']
    for (let seed = 1; seed <= 150; seed += 1) {
      const random = seededRandom(seed)
      const pick = <T>(list: readonly [T, ...T[]] | readonly T[]): T =>
        list[Math.floor(random() * list.length)] as T
      const reconciler = new Reconciler(STRICT)
      const documents = Array.from({ length: 6 }, (_, i) => `d${i}`)
      const make = (name: string, generation: number): Resource =>
        onPath(name, pick(hosts), pick(['/p', '/q']), {
          namespace: ['a', 'b', 'c'][Number(name.slice(1)) % 3] ?? 'a',
          createdAt: ((Number(name.slice(1)) * 7) % 5) + 1,
          generation,
        })
      let resources = new Map(documents.map((name) => [name, make(name, 1)]))
      for (let step = 2; step < 6; step += 1) {
        const cache = cacheOf([realm, ...resources.values()])
        const first = reconciler.reconcile(cache)
        const again = reconciler.reconcile(cacheOf([realm, ...[...resources.values()].reverse()]))
        expect({ seed, step, ...shown(again.results) }).toEqual({
          seed,
          step,
          ...shown(first.results),
        })
        expect(again.desired.documents).toEqual(first.desired.documents)
        expectOwned(seed, first)
        const edited = pick(documents)
        resources = new Map(resources).set(edited, make(edited, step))
      }
    }
  })

  /** A namespace for each host that serves; and who lost a host lost it to one that serves. */
  const expectOwned = (seed: number, { results, desired }: ReturnType<Reconciler['reconcile']>) => {
    const owners = new Map<string, string>()
    for (const { namespace, claims } of desired.documents.values()) {
      for (const { key } of claims) {
        const host = key.slice(0, key.indexOf('\t'))
        expect({ seed, host, namespace }).toEqual({
          seed,
          host,
          namespace: owners.get(host) ?? namespace,
        })
        owners.set(host, namespace)
      }
    }
    for (const { resource, errors, host = '' } of results.values()) {
      if (!errors.some(({ message }) => message.includes('another namespace: take'))) continue
      const parsed = parseHost(host)
      const wanted = parsed.ok ? parsed.hosts.map(hostKey) : []
      const { namespace } = resource.metadata
      const taken = wanted.filter((each) => (owners.get(each) ?? namespace) !== namespace)
      expect({ seed, host, isTaken: taken.length > 0 }).toEqual({ seed, host, isTaken: true })
    }
  }

  it('the words tell nothing of the winner', () => {
    const resources = [specification('secret', 'h.test', a), specification('y', 'h.test', b)]
    const { results } = new Reconciler(STRICT).reconcile(cacheOf([realm, ...resources]))
    const result = results.get('ApiSpecification/b/y')
    expect(result?.errors).toEqual([
      {
        code: 'conflict',
        path: '/spec/document/host',
        message: "the host 'h.test' belongs to documents of another namespace: take another host",
      },
    ])
    expect(JSON.stringify(result)).not.toContain('secret')
  })

  it('an older document that comes to want a host takes it from no other, and stays as it was', () => {
    const reconciler = new Reconciler(STRICT)
    const young = specification('y', 'h.test', b)
    reconciler.reconcile(cacheOf([realm, specification('x', 'own.test', a), young]))
    const thief = specification('x', 'h.test', { ...a, generation: 2 })
    const { results, desired } = reconciler.reconcile(cacheOf([realm, thief, young]))
    expect(shown(results)).toEqual({ 'a/x': 'Conflicted', 'b/y': 'good' })
    expect(desired.documents.get('x')?.spec['host']).toBe('own.test')
  })

  it('what it could not leave stays its own; what it could is free', () => {
    const reconciler = new Reconciler(STRICT)
    const x = specification('x', 'own.test', a)
    const y = specification('y', 'h.test', b)
    reconciler.reconcile(cacheOf([realm, x, y]))
    const moving = specification('x', 'h.test', { ...a, generation: 2 })
    const third = specification('z', 'own.test', { namespace: 'c', createdAt: 1 })
    const step = (...resources: readonly Resource[]): Readonly<Record<string, string>> =>
      shown(reconciler.reconcile(cacheOf([realm, ...resources])).results)
    expect(step(moving, y, third)).toMatchObject({ 'a/x': 'Conflicted', 'c/z': 'Conflicted' })
    expect(step(moving, third)).toEqual({ 'a/x': 'good', 'c/z': 'good' })
  })

  it('strict from now on takes nothing out: the younger serves on and says Conflicted', () => {
    const digests: Readonly<Record<string, string>> = Object.fromEntries(
      ['x', 'y'].map((name) => {
        const { desired } = new Reconciler(shared).reconcile(
          cacheOf([realm, specification(name, 'h.test', name === 'x' ? a : b)]),
        )
        return [name, desired.documents.get(name)?.digest ?? '']
      }),
    )
    const served = (name: string, place: typeof a): Resource => {
      const { spec } = { spec: specOf(specification(name, 'h.test', place)) }
      const status = { programmedGeneration: 1, programmedDigest: digests[name] }
      return resourceOf('ApiSpecification', name, { spec, status }, place)
    }
    const { results, desired } = new Reconciler(STRICT).reconcile(
      cacheOf([realm, served('x', a), served('y', b)]),
    )
    expect(shown(results)).toEqual({ 'a/x': 'good', 'b/y': 'Conflicted' })
    expect([...desired.documents.keys()].sort()).toEqual(['x', 'y'])
  })
})

const specOf = (resource: Resource): object =>
  'checked' in resource && 'spec' in resource.checked ? resource.checked.spec : {}

describe('a crowd that is in the way of others', () => {
  it('is refused in few turns, however large it is', () => {
    const crowd = Array.from({ length: 400 }, (_, i) =>
      onPath(`a-${i}`, 'h.test', '/x', { namespace: 'a', createdAt: 1000 + i }),
    )
    const waiting = onPath('b', 'h.test', '/y', { namespace: 'b', createdAt: 9000 })
    const { metadata } = waiting
    let looks = 0
    Object.defineProperty(waiting, 'metadata', {
      get: () => {
        looks += 1
        return metadata
      },
    })
    const results = validate([...crowd, waiting])
    expect(Object.values(results).filter((result) => result === 'good')).toEqual(['good'])
    expect(results['a/a-0']).toBe('good')
    // Each turn looks at each a few times.
    expect(looks).toBeLessThan(400)
  })
})
