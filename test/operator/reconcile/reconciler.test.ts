import { describe, expect, it } from '@jest/globals'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { Settlement } from '../../../operator/reconcile/claims/settlement.ts'
import { StatusRegistry } from '../../../operator/reconcile/status/status-registry.ts'
import { describeProblem } from '../../../operator/reconcile/conditions.ts'
import type { DesiredDocument } from '../../../operator/desired-set.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { aDocument, claim } from '../../support/desired.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const realm = resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' } })
const specification = (id: string, more: object = {}, generation = 1): Resource =>
  resourceOf(
    'ApiSpecification',
    id,
    { spec: { document: aSpecification(id, more) } },
    { generation },
  )

const many = (count: number): readonly Resource[] =>
  Array.from({ length: count }, (_, i) => specification(`d${i}`))

describe('the cost of a change', () => {
  it('nothing changed: the very same desired set and results', () => {
    const reconciler = new Reconciler({ className: 'svc' })
    const resources = [realm, ...many(20)]
    const first = reconciler.reconcile(cacheOf(resources))
    const second = reconciler.reconcile(cacheOf(resources))
    expect(second.desired).toBe(first.desired)
    for (const [key, result] of second.results) expect(result).toBe(first.results.get(key))
  })

  it('one changed: every other entry and result is the same object', () => {
    const reconciler = new Reconciler({ className: 'svc' })
    const before = many(20)
    const first = reconciler.reconcile(cacheOf([realm, ...before]))
    const changed = specification('d7', { name: 'new' }, 2)
    const after = before.map((resource) => (resource.metadata.name === 'd7' ? changed : resource))
    const second = reconciler.reconcile(cacheOf([realm, ...after]))
    const others = [...second.desired.documents].filter(([id]) => id !== 'd7')
    expect(others.every(([id, document]) => first.desired.documents.get(id) === document)).toBe(
      true,
    )
    expect(second.desired.documents.get('d7')).not.toBe(first.desired.documents.get('d7'))
    const results = [...second.results].filter(([key, result]) => first.results.get(key) !== result)
    expect(results.map(([key]) => key)).toEqual(['ApiSpecification/default/d7'])
    expect(second.desired.realms).toBe(first.desired.realms)
    expect(second.desired.version).toBe(first.desired.version + 1)
  })

  it('a status that does not change is the same object', () => {
    const { results } = new Reconciler({ className: 'svc' }).reconcile(cacheOf([realm, ...many(3)]))
    const book = new StatusRegistry()
    const first = book.update(results, [], 1_000)
    const second = book.update(results, [], 99_000)
    for (const [key, status] of second) expect(status).toBe(first.get(key))
    expect(book.isWaiting).toBe(false)
  })
})

describe('ids that are names of prototype members', () => {
  it.each(['hasOwnProperty', 'constructor', 'toString'])('%s', (id) => {
    const document = resourceOf('ApiSpecification', 'odd', {
      spec: { document: aSpecification(id) },
    })
    const { desired } = new Reconciler({ className: 'svc' }).reconcile(cacheOf([realm, document]))
    expect([...desired.documents.keys()]).toEqual([id])
  })
})

describe('documents beyond all bounds', () => {
  it('larger than 4 MiB: TooLarge', () => {
    const large = specification('large', { meta: { text: 'x'.repeat(4 * 1024 * 1024) } })
    const { results } = new Reconciler({ className: 'svc' }).reconcile(cacheOf([realm, large]))
    expect(results.get('ApiSpecification/default/large')?.accepted).toMatchObject({
      reason: 'TooLarge',
    })
  })

  it('larger than 4 MiB in a ConfigMap: Invalid, in words', () => {
    const resources = [
      realm,
      resourceOf('ConfigMap', 'docs', { data: { key: ' '.repeat(4 * 1024 * 1024 + 1) } }),
      resourceOf('ApiSpecification', 'a', {
        spec: { documentFrom: { configMap: { name: 'docs', key: 'key' } } },
      }),
    ]
    const { results } = new Reconciler({ className: 'svc' }).reconcile(cacheOf(resources))
    expect(results.get('ApiSpecification/default/a')?.errors[0]?.message).toContain('4 MiB')
  })
})

describe('settling claims', () => {
  const settle = (
    settlement: Settlement,
    ...applicants: readonly (readonly [DesiredDocument, DesiredDocument?])[]
  ): readonly [readonly string[], readonly string[]] => {
    const before = [...settlement.documents.keys(), ...settlement.conflicts.keys()]
    settlement.settle(
      new Map([
        ...before.map((id) => [id, undefined] as const),
        ...applicants.map(
          ([candidate, lastGood]) =>
            [candidate.id, { id: candidate.id, candidate, lastGood, isHeld: false }] as const,
        ),
      ]),
    )
    const { documents, conflicts: clashes } = settlement
    return [
      [...documents.values()].map(({ id, digest }) => `${id}:${digest}`).sort(),
      [...clashes.keys()].sort(),
    ]
  }
  const doc = (id: string, since: number, keys: readonly string[], digest = '1'): DesiredDocument =>
    aDocument(id, { since, digest, claims: keys.map(claim) })

  it('a document that is refused blocks no other', () => {
    const settlement = new Settlement()
    const result = settle(
      settlement,
      [doc('a', 1, ['x'])],
      [doc('b', 2, ['x', 'y'])],
      [doc('c', 3, ['y'])],
    )
    expect(result).toEqual([['a:1', 'c:1'], ['b']])
  })

  it('an older one that comes to want a claim shadows the younger, which stays', () => {
    const settlement = new Settlement()
    const young = doc('young', 2, ['x'])
    settle(settlement, [doc('old', 1, ['z'])], [young])
    const result = settle(settlement, [doc('old', 1, ['z', 'x'], '2')], [young, young])
    expect(result).toEqual([['old:2', 'young:1'], ['young']])
  })

  it('a new version that loses leaves its last good one', () => {
    const settlement = new Settlement()
    const good = doc('young', 2, ['y'])
    settle(settlement, [doc('old', 1, ['x'])], [good])
    const result = settle(
      settlement,
      [doc('old', 1, ['x'])],
      [doc('young', 2, ['x', 'y'], '2'), good],
    )
    expect(result).toEqual([['old:1', 'young:1'], ['young']])
    expect(settle(settlement, [doc('young', 2, ['x', 'y'], '2'), good])).toEqual([['young:2'], []])
  })

  it('nothing new: the same maps', () => {
    const settlement = new Settlement()
    const applicants = new Map([
      ['a', { id: 'a', candidate: doc('a', 1, ['x']), lastGood: undefined, isHeld: false }],
    ])
    settlement.settle(applicants)
    const { documents } = settlement
    settlement.settle(applicants)
    expect(settlement.documents).toBe(documents)
  })

  it('a last good version of another id is no fallback', () => {
    const settlement = new Settlement()
    settle(settlement, [doc('old', 1, ['x'])])
    expect(
      settle(settlement, [doc('old', 1, ['x'])], [doc('new', 2, ['x']), doc('other', 2, ['q'])]),
    ).toEqual([['old:1'], ['new']])
  })
})

describe('what can only fail', () => {
  const answering = (body: string, generation: number): Resource => {
    const get = { action: { type: 'static', body } }
    const other = { action: { type: 'static', body: 'good' } }
    const paths = { '/a/:id': { get }, '/b': { get: other } }
    return specification('d', { versions: { v1: { base_path: '/v1', paths } } }, generation)
  }
  const secret = resourceOf('Secret', 'idp', { data: { k: 'YWJj' } })
  const provider = (issuer: string): object => ({
    issuer,
    clientId: 'gateway',
    clientSecret: { secretRef: { name: 'idp', key: 'k' } },
    redirectUri: 'https://a.test/v1/oidc/login/callback',
  })
  const realmWith = (issuer: string, generation: number): Resource =>
    resourceOf(
      'Realm',
      'shop',
      { spec: { uri: 'com.shop', info: { oidcProviders: { login: provider(issuer) } } } },
      { generation },
    )

  it.each([
    ['a binding that the path lacks', answering('{{request.bindings.name}}', 2)],
    [
      'a host that is none',
      specification(
        'd',
        {
          versions: {
            v1: {
              base_path: '/v1',
              paths: {
                '/a': { get: { action: { type: 'forward', host: 'http://a b', path: '/' } } },
              },
            },
          },
        },
        2,
      ),
    ],
  ])('does not replace a version that works: %s', (_, changed) => {
    const reconciler = new Reconciler({ className: 'svc' })
    const first = reconciler.reconcile(cacheOf([realm, answering('{{request.bindings.id}}', 1)]))
    const second = reconciler.reconcile(cacheOf([realm, changed]))
    const result = second.results.get('ApiSpecification/default/d')
    expect(result?.accepted).toMatchObject({ status: 'False', reason: 'Invalid' })
    expect(result?.errors.map(({ code }) => code)).toEqual(['AlwaysFails'])
    expect(second.desired.documents.get('d')).toBe(first.desired.documents.get('d'))
    expect(first.desired.documents.get('d')).toBeDefined()
  })

  it('does not replace a Realm that works: every login at a provider fails', () => {
    const reconciler = new Reconciler({ className: 'svc' })
    const first = reconciler.reconcile(cacheOf([secret, realmWith('https://idp.test', 1)]))
    const second = reconciler.reconcile(cacheOf([secret, realmWith('http://idp.test', 2)]))
    const result = second.results.get('Realm/default/shop')
    expect(result?.errors.map(({ code }) => code)).toEqual(['AlwaysFails'])
    expect(first.desired.realms.get('com.shop')).toBeDefined()
    expect(second.desired.realms.get('com.shop')).toBe(first.desired.realms.get('com.shop'))
  })
})

describe('words', () => {
  it.each([
    [{ code: 'invalid_value', path: '', message: 'm' }, 'm'],
    [{ code: 'invalid_value', path: '/a', message: '/a is bad' }, '/a is bad'],
    [{ code: 'invalid_value', path: '/a', message: 'bad' }, '/a: bad'],
  ] as const)('%j', (problem, expected) => {
    expect(describeProblem(problem)).toBe(expected)
  })
})

it('a path is free for an older document once a younger one has the id of the document that had it', () => {
  const at = (name: string, id: string, host: string, createdAt: number): Resource =>
    resourceOf(
      'ApiSpecification',
      name,
      { spec: { document: aSpecification(id, { host }) } },
      { uid: name, createdAt },
    )
  const first = at('first', 'orders', 'y.test', 1)
  const waiting = at('waiting', 'stock', 'y.test', 2)
  const next = at('next', 'orders', 'x.test', 3)
  const reconciler = new Reconciler({ className: 'svc' })
  reconciler.reconcile(cacheOf([realm, first]))
  const before = reconciler.reconcile(cacheOf([realm, first, waiting, next]))
  expect([...before.desired.documents.keys()]).toEqual(['orders'])
  const after = reconciler.reconcile(cacheOf([realm, waiting, next]))
  expect([...after.desired.documents.keys()].sort()).toEqual(['orders', 'stock'])
  const reasons = [...after.results.values()].map(({ accepted }) => accepted.reason)
  expect(reasons).toEqual(['Accepted', 'Accepted', 'Accepted'])
})
