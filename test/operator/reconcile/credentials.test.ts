// Which documents may use a credential of a Realm, what becomes of those that may no longer, and what of a credential
// reaches gateways.

import { describe, expect, it } from '@jest/globals'
import { criticalMembers } from '../../../language/wire/members.ts'
import { mayHoldRealm } from '../../../operator/data-plane.ts'
import type { DesiredDocument } from '../../../operator/desired-set.ts'
import { type Reconciliation, Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { StatusRegistry } from '../../../operator/reconcile/status/status-registry.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'
import { syncedReport } from '../../support/synced-report.ts'

const HOST = 'https://billing.example'

const secretOf = (token: string, version = '1'): Resource =>
  resourceOf(
    'Secret',
    'billing',
    { data: { token: Buffer.from(token).toString('base64') } },
    { namespace: 'realms', resourceVersion: version },
  )

const realmOf = (
  allowedNamespaces?: object,
  ofRealm: object = { from: 'All' },
  more: object = {},
  known: object = {},
): Resource =>
  resourceOf(
    'Realm',
    'shop',
    {
      spec: {
        uri: 'com.shop',
        allowedNamespaces: ofRealm,
        credentials: {
          billing: {
            origins: [HOST],
            bearer: { token: { secretRef: { name: 'billing', key: 'token' } } },
            ...(allowedNamespaces && { allowedNamespaces }),
            ...more,
          },
        },
      },
    },
    { namespace: 'realms', ...known },
  )

const KEY = 'ApiSpecification/shop/d'

interface Place {
  readonly host?: unknown
  readonly namespace?: string
}

const forwarding = (
  credential: string,
  { host = HOST, namespace = 'shop' }: Place = {},
  { generation = 1, ...recorded }: { readonly generation?: number } = {},
): Resource => {
  const get = { action: { type: 'forward', host, path: '/', credential }, response: {} }
  const versions = { v1: { base_path: '/v1', paths: { '/a': { get } } } }
  return resourceOf(
    'ApiSpecification',
    'd',
    { spec: { document: aSpecification('d', { versions }) }, ...recorded },
    { namespace, generation },
  )
}

const namespaceOf = (name: string, labels: object = {}): Resource =>
  resourceOf('Namespace', name, {}, { labels })

const PARTNERS = { from: 'Selector', selector: { matchLabels: { billing: 'yes' } } }

const resultOf = (at: Reconciliation, namespace = 'shop') =>
  at.results.get(`ApiSpecification/${namespace}/d`)

describe('a document that names a credential', () => {
  const validate = (realm: Resource, document: Resource, labels: object = {}): Reconciliation =>
    new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([
        secretOf('s3cret'),
        realm,
        document,
        namespaceOf('shop', labels),
        namespaceOf('realms'),
      ]),
    )

  it.each<[string, Resource, Resource, object]>([
    ['of a Realm that admits its namespace', realmOf(), forwarding('billing'), {}],
    ['that admits its namespace too', realmOf({ from: 'All' }), forwarding('billing'), {}],
    ['that selects its namespace', realmOf(PARTNERS), forwarding('billing'), { billing: 'yes' }],
    [
      'in the namespace of the Realm',
      realmOf({ from: 'Same' }),
      forwarding('billing', { namespace: 'realms' }),
      {},
    ],
  ])('may: %s', (_, realm, document, labels) => {
    const at = validate(realm, document, labels)
    expect(resultOf(at, document.metadata.namespace)?.resolvedRefs.reason).toBe('ResolvedRefs')
    expect(at.desired.documents.get('d')).toMatchObject({ credentials: ['billing'] })
  })

  it.each<[string, Resource]>([
    ['that selects others', realmOf(PARTNERS)],
    ['of its own namespace alone', realmOf({ from: 'Same' })],
  ])('may not: %s', (_, realm) => {
    const at = validate(realm, forwarding('billing'))
    expect(resultOf(at)).toMatchObject({
      resolvedRefs: { reason: 'RefNotPermitted' },
      errors: [{ path: '/spec/document/versions/v1/paths/~1a/get/action/credential' }],
    })
    expect(at.desired.documents.has('d')).toBe(false)
  })

  it.each<[string, Resource, string]>([
    ['a name like it', forwarding('biling'), "the realm has no credential 'biling'"],
    [
      'a host that it is not for',
      forwarding('billing', { host: 'https://evil.example' }),
      "the credential 'billing' is not for documents of shop: its allowedNamespaces in the Realm do not admit them",
    ],
  ])('receives nothing of a credential that is not for it by %s', (_, document, message) => {
    const errors = resultOf(validate(realmOf({ from: 'Same' }), document))?.errors
    expect(errors?.map((each) => each.message)).toEqual([message])
  })

  it.each<[string, Resource, string]>([
    ['a name that is not there', forwarding('biling'), "did you mean 'billing'?"],
    [
      'a host that it is not for',
      forwarding('billing', { host: 'https://evil.example' }),
      'not an origin',
    ],
  ])('is not valid with %s', (_, document, words) => {
    const result = resultOf(validate(realmOf(), document))
    expect(result?.accepted.reason).toBe('Invalid')
    expect(result?.accepted.message).toContain(words)
  })
})

describe('a credential that its document may no longer use', () => {
  it('is taken from what serves at once, and given back with the right', () => {
    const reconciler = new Reconciler({ className: 'svc' })
    let version = 0
    const at = (realm: Resource): Reconciliation =>
      reconciler.reconcile(
        cacheOf([secretOf('s3cret'), realm, forwarding('billing'), namespaceOf('shop')], {
          version: ++version,
        }),
      )
    const before = at(realmOf()).desired.documents.get('d')
    expect(before).toMatchObject({ credentials: ['billing'] })
    expect(before).not.toHaveProperty('withheld')
    const after = at(realmOf(PARTNERS)).desired.documents.get('d')
    expect(after).toMatchObject({ credentials: ['billing'], withheld: ['billing'] })
    expect(after?.digest).not.toBe(before?.digest)
    const closed = at(realmOf(undefined, { from: 'Same' })).desired
    expect([closed.documents.get('d'), closed.revokedDocuments]).toEqual([undefined, new Set('d')])
    expect(at(realmOf()).desired.documents.get('d')).toMatchObject({ digest: before?.digest })
  })
})

describe('a credential of a Realm that admits namespaces by a label', () => {
  it('is taken from what serves on, as the Namespace with its labels is not known', () => {
    const reconciler = new Reconciler({ className: 'svc' })
    const [secret, document] = [secretOf('s3cret'), forwarding('billing')]
    reconciler.reconcile(cacheOf([secret, realmOf(), document]))
    const { desired } = reconciler.reconcile(
      cacheOf([secret, realmOf(undefined, PARTNERS), document]),
    )
    expect(desired.revokedDocuments).toBeUndefined()
    expect(desired.documents.get('d')).toMatchObject({ withheld: ['billing'] })
  })
})

describe('a credential of a realm that its document is about to leave', () => {
  it('is taken from what serves at once too', () => {
    const reconciler = new Reconciler({ className: 'svc' })
    const secret = secretOf('t')
    // It serves with com.shop until there is a com.next.
    const leaving = resourceOf(
      'ApiSpecification',
      'd',
      { spec: { document: aSpecification('d', { realm_uri: 'com.next' }) } },
      { namespace: 'shop', generation: 2 },
    )
    reconciler.reconcile(cacheOf([realmOf({ from: 'All' }), secret, forwarding('billing')]))
    const allowed = cacheOf([realmOf({ from: 'All' }), secret, leaving])
    // Once more, as what has changed is looked at again.
    reconciler.reconcile(allowed)
    expect(reconciler.reconcile(allowed).desired.documents.get('d')?.withheld).toBeUndefined()
    const { desired } = reconciler.reconcile(cacheOf([realmOf({ from: 'Same' }), secret, leaving]))
    expect(desired.documents.get('d')?.withheld).toEqual(['billing'])
  })
})

describe('a credential that was taken away before the operator restarted', () => {
  const SAME = { from: 'Same' }
  const PAUSED = { annotations: { 'gateway.svc.dev/paused': 'true' }, generation: 2 }
  const cacheAt = (version: number, ...resources: readonly Resource[]) =>
    cacheOf([...resources, namespaceOf('shop')], { version })

  /** What served last, and the status that was written of it. */
  const before = (realms: readonly Resource[]) => {
    const reconciler = new Reconciler({ className: 'svc' })
    const statuses = new StatusRegistry()
    let recorded: object = {}
    let served: DesiredDocument | undefined
    for (const [i, realm] of realms.entries()) {
      const cache = cacheAt(i + 1, secretOf('s3cret'), realm, forwarding('billing'))
      const { desired, results } = reconciler.reconcile(cache)
      const status = statuses.update(results, [syncedReport(desired)], 1000 * (i + 1)).get(KEY)
      served = desired.documents.get('d')
      const { programmed, conditions = [] } = status ?? {}
      recorded = {
        status: {
          conditions,
          programmedGeneration: programmed?.generation,
          programmedDigest: programmed?.digest,
        },
      }
    }
    if (served === undefined) throw new Error('nothing was put')
    return { served, recorded }
  }

  const roundsOf = (...resources: readonly Resource[]) => {
    const reconciler = new Reconciler({ className: 'svc' })
    return [1, 2, 3].map((version) => reconciler.reconcile(cacheAt(version, ...resources)))
  }

  const TAKEN = [realmOf(), realmOf(SAME)]
  const BACK = [...TAKEN, realmOf()]

  it.each<[string, readonly Resource[], readonly Resource[]]>([
    ['all is well', TAKEN, [secretOf('s3cret'), realmOf(SAME)]],
    ['the Secret is not there', TAKEN, [realmOf(SAME)]],
    [
      'the Realm is paused and has changed',
      TAKEN,
      [secretOf('s3cret'), realmOf(SAME, { from: 'All' }, {}, PAUSED)],
    ],
    ['the Realm is gone', TAKEN, [secretOf('s3cret')]],
    ['it was given back: all is well', BACK, [secretOf('s3cret'), realmOf()]],
    ['it was given back: the Secret is not there', BACK, [realmOf()]],
    ['it never was: the Secret is not there', [realmOf()], [realmOf()]],
  ])('what serves stays as it was in each round: %s', (_, realms, resources) => {
    const { served, recorded } = before(realms)
    for (const { desired } of roundsOf(...resources, forwarding('billing', {}, recorded)))
      expect(desired.documents.get('d')).toEqual(served)
  })

  it.each([
    ['and the credential before', TAKEN],
    ['not the credential', [realmOf()]],
  ])('is taken with its document, where the namespace has lost the Realm, %s', (_, realms) => {
    const { recorded } = before(realms)
    const document = forwarding('billing', {}, recorded)
    for (const { desired } of roundsOf(secretOf('s3cret'), realmOf(undefined, SAME), document))
      expect([desired.documents.has('d'), desired.revokedDocuments]).toEqual([false, new Set('d')])
  })

  it('is given back where the namespace may use it again', () => {
    const { recorded } = before(TAKEN)
    const document = forwarding('billing', {}, recorded)
    for (const { desired } of roundsOf(secretOf('s3cret'), realmOf(), document))
      expect(desired.documents.get('d')).toEqual(before([realmOf()]).served)
  })

  it('has its document held by a Realm that is not good, as what serves', () => {
    const { served, recorded } = before(TAKEN)
    const [at] = roundsOf(realmOf(SAME), forwarding('billing', {}, recorded))
    expect(at && resultOf(at)).toMatchObject({ servesOn: true, digest: served.digest })
  })

  it.each<[string, readonly Resource[]]>([
    ['the Secret is not there', [realmOf(SAME)]],
    ['all is well', [secretOf('s3cret'), realmOf(SAME)]],
  ])('stays withheld from a version that a gateway gives back: %s', async (_, resources) => {
    const { served, recorded } = before(TAKEN)
    const broken = forwarding('billing', { host: 7 }, { ...recorded, generation: 2 })
    const reconciler = new Reconciler({ className: 'svc' })
    const [missing] = reconciler.reconcile(cacheAt(1, ...resources, broken)).missing
    if (missing === undefined) throw new Error('nothing is missing')
    expect(missing.digest).toBe(served.digest)
    expect(await reconciler.recover(missing, served.spec)).toBe(true)
    const { desired } = reconciler.reconcile(cacheAt(1, ...resources, broken))
    expect(desired.documents.get('d')).toEqual(served)
  })
})

describe('what gateways get', () => {
  it('is the record with the secret, under a digest that tells nothing of it and changes with it', () => {
    const realmAt = (secret: Resource) =>
      new Reconciler({ className: 'svc' })
        .reconcile(
          cacheOf([
            secret,
            realmOf(PARTNERS),
            forwarding('billing'),
            namespaceOf('shop', { billing: 'yes' }),
          ]),
        )
        .desired.realms.get('com.shop')
    const one = realmAt(secretOf('one'))
    expect(one?.record.credentials).toEqual({
      billing: { origins: [HOST], bearer: { token: 'one' } },
    })
    expect(realmAt(secretOf('two', '2'))?.digest).not.toBe(one?.digest)
  })

  it('is nothing for sidecars of other namespaces', () => {
    const sidecar = (namespace: string) => ({ name: 'p', url: '', labels: {}, namespace })
    expect([
      mayHoldRealm(sidecar('shop'), 'realms'),
      mayHoldRealm(sidecar('realms'), 'realms'),
    ]).toEqual([false, true])
  })

  it('is refused by those that are older', () => {
    const put = { id: 'd', digest: '', since: 0, spec: {}, credentials: [] }
    expect(criticalMembers('spec', put)).toEqual(['/credentials'])
  })

  it('waits for a Secret that is missing', () => {
    const at = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([realmOf(), forwarding('billing'), namespaceOf('shop')]),
    )
    expect(at.results.get('Realm/realms/shop')?.resolvedRefs.reason).toBe('SecretNotFound')
  })

  it('is not a Realm with a fault, which names its place in the resource', () => {
    const at = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([secretOf('x\n'), realmOf(undefined, { from: 'All' }, { origins: ['https://a/b'] })]),
    )
    expect(at.results.get('Realm/realms/shop')?.errors.map(({ path }) => path)).toEqual([
      '/spec/credentials/billing/origins/0',
      '/spec/credentials/billing/bearer/token',
    ])
  })
})
