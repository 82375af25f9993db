// Which documents may use a credential of a Realm, what becomes of those that may no longer, and what of a credential
// reaches gateways.

import { describe, expect, it } from '@jest/globals'
import { criticalMembers } from '../../../language/wire/members.ts'
import { mayHoldRealm } from '../../../operator/data-plane.ts'
import { type Reconciliation, Reconciler } from '../../../operator/reconcile/reconciler.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

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
    { namespace: 'realms' },
  )

const forwarding = (credential: string, { host = HOST, namespace = 'shop' } = {}): Resource => {
  const get = { action: { type: 'forward', host, path: '/', credential }, response: {} }
  const versions = { v1: { base_path: '/v1', paths: { '/a': { get } } } }
  return resourceOf(
    'ApiSpecification',
    'd',
    { spec: { document: aSpecification('d', { versions }) } },
    { namespace },
  )
}

const namespaceOf = (name: string, labels: object = {}): Resource =>
  resourceOf('Namespace', name, {}, { labels })

const PARTNERS = { from: 'Selector', selector: { matchLabels: { billing: 'yes' } } }

const verdictOf = (at: Reconciliation, namespace = 'shop') =>
  at.verdicts.get(`ApiSpecification/${namespace}/d`)

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
    expect(verdictOf(at, document.metadata.namespace)?.resolvedRefs.reason).toBe('ResolvedRefs')
    expect(at.desired.documents.get('d')).toMatchObject({ credentials: ['billing'] })
  })

  it.each<[string, Resource]>([
    ['that selects others', realmOf(PARTNERS)],
    ['of its own namespace alone', realmOf({ from: 'Same' })],
  ])('may not: %s', (_, realm) => {
    const at = validate(realm, forwarding('billing'))
    expect(verdictOf(at)).toMatchObject({
      resolvedRefs: { reason: 'RefNotPermitted' },
      errors: [{ path: '/spec/document/versions/v1/paths/~1a/get/action/credential' }],
    })
    expect(at.desired.documents.has('d')).toBe(false)
  })

  it.each<[string, Resource, string]>([
    ['a name that is not there', forwarding('biling'), "did you mean 'billing'?"],
    [
      'a host that it is not for',
      forwarding('billing', { host: 'https://evil.example' }),
      'not an origin',
    ],
  ])('is not valid with %s', (_, document, words) => {
    const verdict = verdictOf(validate(realmOf(), document))
    expect(verdict?.accepted.reason).toBe('Invalid')
    expect(verdict?.accepted.message).toContain(words)
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
    const closed = at(realmOf(undefined, { from: 'Same' })).desired.documents.get('d')
    expect(closed).toMatchObject({ withheld: ['billing'] })
    expect(at(realmOf()).desired.documents.get('d')).toMatchObject({ digest: before?.digest })
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
    expect(at.verdicts.get('Realm/realms/shop')?.resolvedRefs.reason).toBe('SecretNotFound')
  })

  it('is not a Realm with a fault, which names its place in the resource', () => {
    const at = new Reconciler({ className: 'svc' }).reconcile(
      cacheOf([secretOf('x\n'), realmOf(undefined, { from: 'All' }, { origins: ['https://a/b'] })]),
    )
    expect(at.verdicts.get('Realm/realms/shop')?.errors.map(({ path }) => path)).toEqual([
      '/spec/credentials/billing/origins/0',
      '/spec/credentials/billing/bearer/token',
    ])
  })
})
