// Where in the cluster documents may lead: the policy of their namespace, and what becomes of documents as it changes.

import { describe, expect, it } from '@jest/globals'
import { compileDocument } from '../../../operator/reconcile/documents/compile-document.ts'
import { type Reconciliation, Reconciler } from '../../../operator/reconcile/reconciler.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const DESTINATIONS = 'gateway.svc.dev/destinations'
const KEY = 'ApiSpecification/shop/d'
const OWN = { className: 'svc', destinations: 'own' } as const
const ANY = { className: 'svc' } as const

const realm = resourceOf(
  'Realm',
  'shop',
  { spec: { uri: 'com.shop', allowedNamespaces: { from: 'All' } } },
  { namespace: 'realms' },
)

const namespace = (name: string, destinations?: string): Resource =>
  resourceOf(
    'Namespace',
    name,
    {},
    { annotations: destinations === undefined ? {} : { [DESTINATIONS]: destinations } },
  )

interface More {
  readonly generation?: number
  readonly spec?: object
  readonly status?: object
  readonly annotations?: object
}

const forwarding = (host: unknown, { spec = {}, status, ...known }: More = {}): Resource => {
  const get = { action: { type: 'forward', host, path: '/' }, response: {} }
  const versions = { v1: { base_path: '/v1', paths: { '/a': { get } } } }
  const document = aSpecification('d', { versions })
  return resourceOf(
    'ApiSpecification',
    'd',
    { spec: { document, ...spec }, ...(status && { status }) },
    { namespace: 'shop', ...known },
  )
}

const shown = (at: Reconciliation): readonly unknown[] => {
  const result = at.results.get(KEY)
  const document = at.desired.documents.get('d')
  return [result?.resolvedRefs.reason, document?.confinedTo]
}

describe('a host that a document writes out', () => {
  const validate = (host: unknown, more: More = {}): Reconciliation =>
    new Reconciler(OWN).reconcile(
      cacheOf([realm, namespace('shop'), namespace('bank'), forwarding(host, more)]),
    )

  it.each([
    'orders.shop',
    'http://orders.shop:8080',
    'https://Orders.Shop.svc',
    'orders.shop.svc.cluster.local',
    'pod-0.orders.shop.svc.cluster.local.',
    'api.example.com',
    'example.com',
    'bank.example',
    'api.bank.',
    'www.api.bank',
    '203.0.113.7',
    // Gateways know which addresses are of the cluster.
    '10.1.2.3',
    '[fd00::1]:80',
    // And what a request makes of it.
    'http://{{request.query_params.x}}',
  ])('%s is good', (host) => {
    expect(shown(validate(host))).toEqual(['ResolvedRefs', 'shop'])
  })

  it.each([
    ['vault.bank', 'namespace bank'],
    ['http://vault.bank:8200', "write 'vault.bank.'"],
    ['VAULT.Bank.svc', 'namespace bank'],
    ['vault.bank.svc.cluster.local', 'namespace bank'],
    ['vault.nowhere.svc', 'namespace nowhere'],
    ['pod-0.vault.bank.svc.cluster.local', 'namespace bank'],
    ['10-0-0-1.shop.pod.cluster.local', 'not a Service'],
    ['cluster.local', 'not a Service'],
    ['orders', "write 'orders.shop'"],
    ['localhost:8080', 'the gateway itself'],
    ['127.0.0.1', 'the gateway itself'],
    ['http://0x7f.1', 'the gateway itself'],
    ['[::1]:8080', 'the gateway itself'],
  ])('%s is not: %s', (host, says) => {
    const at = validate(host)
    expect(shown(at)).toEqual(['RefNotPermitted', undefined])
    const { resolvedRefs, accepted, errors } = at.results.get(KEY) ?? {}
    const pointer = '/spec/document/versions/v1/paths/~1a/get/action/host'
    expect(resolvedRefs?.message).toContain(pointer)
    expect(resolvedRefs?.message).toContain(says)
    expect(resolvedRefs?.message).toContain(DESTINATIONS)
    expect(errors).toMatchObject([{ path: pointer }])
    expect(accepted?.status).toBe('True')
  })

  it('is validated where it is one of several, whatever its weight', () => {
    const get = {
      action: {
        type: 'forward',
        hosts: [
          { host: 'orders.shop', weight: 1 },
          { host: 'vault.bank', weight: 0 },
          { host: '{{request.bindings.x}}', weight: 1 },
          { host: 'localhost', weight: '{{request.bindings.x}}' },
        ],
        path: '/',
      },
    }
    const versions = { v1: { base_path: '/v1', paths: { '/a/:x': { get } } } }
    const document = aSpecification('d', { versions })
    const resource = resourceOf(
      'ApiSpecification',
      'd',
      { spec: { document } },
      { namespace: 'shop' },
    )
    const cache = cacheOf([realm, namespace('shop'), namespace('bank'), resource])
    const at = new Reconciler(OWN).reconcile(cache)
    expect(shown(at)).toEqual(['RefNotPermitted', undefined])
    const pointer = '/spec/document/versions/v1/paths/~1a~1:x/get/action/hosts'
    expect(at.results.get(KEY)?.errors).toMatchObject([
      { path: `${pointer}/1/host` },
      { path: `${pointer}/3/host` },
    ])
  })

  it('may be the application beside a sidecar, for a document that says which gateways it is for', () => {
    const spec = { dataPlaneSelector: { matchLabels: { app: 'a' } } }
    expect(shown(validate('localhost:8080', { spec }))).toEqual(['ResolvedRefs', 'shop'])
    expect(shown(validate('vault.bank', { spec }))).toEqual(['RefNotPermitted', undefined])
  })

  it('goes by the domain of the cluster', () => {
    const reconciler = new Reconciler({ ...OWN, clusterDomain: 'k8s.corp' })
    const at = (host: string) => shown(reconciler.reconcile(cacheOf([realm, forwarding(host)])))
    expect(at('vault.bank.svc.k8s.corp')[0]).toBe('RefNotPermitted')
    expect(at('vault.bank.svc.cluster.local')[0]).toBe('ResolvedRefs')
  })

  it('is looked at again when a namespace comes that it would lead to', () => {
    const reconciler = new Reconciler(OWN)
    const document = forwarding('vault.bank')
    expect(shown(reconciler.reconcile(cacheOf([realm, document])))[0]).toBe('ResolvedRefs')
    const after = reconciler.reconcile(cacheOf([realm, document, namespace('bank')]))
    // What served serves on; the gateway does not let it there.
    expect(shown(after)).toEqual(['RefNotPermitted', 'shop'])
  })
})

describe('hosts that a document writes out', () => {
  it.each([
    ['a name', 'api.example.com', ['api.example.com']],
    ['the longest name', `${'a.'.repeat(126)}b`, [`${'a.'.repeat(126)}b`]],
    ['longer than any name', 'a'.repeat(100_000), []],
  ])('are kept where they are %s', (_name, host, kept) => {
    const get = { action: { type: 'forward', host: '{{variables.host}}', path: '/' }, response: {} }
    const versions = { v1: { base_path: '/v1', paths: { '/a': { get } } } }
    const outcome = compileDocument(
      {
        document: aSpecification('d', { versions }),
        realm: { authmethods: [], oidcProviders: [] },
        variables: { host: `http://${host}` },
      },
      { maxRoutes: 10 },
    )
    if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
    expect(outcome.compiled.forwardHosts.map((each) => each.host)).toEqual(kept)
  })
})

describe('the policy of a namespace', () => {
  it.each<[string, ConstructorParameters<typeof Reconciler>[0], readonly Resource[], string]>([
    ['any, by default', ANY, [], 'any'],
    ['any, without an annotation', ANY, [namespace('shop')], 'any'],
    ['as the settings of the operator say', OWN, [namespace('shop')], 'own'],
    ['also where there is no Namespace', OWN, [], 'own'],
    ['own, by annotation', ANY, [namespace('shop', 'own')], 'own'],
    ['any, by annotation', OWN, [namespace('shop', ' any ')], 'any'],
    ['of another namespace', ANY, [namespace('other', 'own')], 'any'],
    ['misspelt', ANY, [namespace('shop', 'Any')], 'own'],
    ['empty', ANY, [namespace('shop', '')], 'own'],
    ['a reserved word', ANY, [namespace('shop', 'constructor')], 'own'],
  ])('%s', (_what, options, namespaces, expected) => {
    const at = new Reconciler(options).reconcile(
      cacheOf([realm, ...namespaces, forwarding('orders.shop')]),
    )
    expect(shown(at)).toEqual(['ResolvedRefs', expected === 'own' ? 'shop' : undefined])
  })

  it('that is misspelt says so', () => {
    const at = new Reconciler(ANY).reconcile(
      cacheOf([realm, namespace('shop', 'onw'), forwarding('vault.bank.svc')]),
    )
    expect(at.results.get(KEY)?.resolvedRefs.message).toContain("the annotation says 'onw'")
  })
})

describe('when the policy changes', () => {
  const document = forwarding('vault.bank')
  const digests = new Set<string | undefined>()
  const reconciler = new Reconciler(ANY)
  const step = (destinations?: string, resource = document): readonly unknown[] => {
    const at = reconciler.reconcile(
      cacheOf([realm, namespace('bank'), namespace('shop', destinations), resource]),
    )
    digests.add(at.desired.documents.get('d')?.digest)
    return shown(at)
  }

  it('documents are validated again, and what serves follows it, good or not', () => {
    expect(step()).toEqual(['ResolvedRefs', undefined])
    expect(step('own')).toEqual(['RefNotPermitted', 'shop'])
    expect(step('any')).toEqual(['ResolvedRefs', undefined])
    expect(step('own')).toEqual(['RefNotPermitted', 'shop'])
    expect(step()).toEqual(['ResolvedRefs', undefined])
    expect(digests.size).toBe(2)
  })

  it('so does what a broken document has in service, and a paused one', () => {
    const broken = forwarding(7, { generation: 2 })
    expect(step('own', broken)).toEqual(['ResolvedRefs', 'shop'])
    expect(step('any', broken)).toEqual(['ResolvedRefs', undefined])
    const paused = forwarding('orders.shop', {
      generation: 3,
      annotations: { 'gateway.svc.dev/paused': 'true' },
    })
    expect(step('own', paused)).toEqual(['ResolvedRefs', 'shop'])
    expect(step('any', paused)).toEqual(['ResolvedRefs', undefined])
  })
})

describe('an operator that restarts', () => {
  const first = new Reconciler(ANY).reconcile(
    cacheOf([realm, namespace('bank'), forwarding('vault.bank')]),
  )
  const before = first.desired.documents.get('d')
  const recorded = (digest: string | undefined): More => ({
    status: { programmedGeneration: 1, programmedDigest: digest },
  })

  it('serves on what served, within the policy as it is now', () => {
    const at = new Reconciler(OWN).reconcile(
      cacheOf([realm, namespace('bank'), forwarding('vault.bank', recorded(before?.digest))]),
    )
    expect(shown(at)).toEqual(['RefNotPermitted', 'shop'])
    expect(at.desired.documents.get('d')?.digest).toBe(`${before?.digest ?? ''}@shop`)
  })

  it.each(['', '@shop'])(
    'recovers a version with the digest …%s and confines it',
    async (suffix) => {
      const reconciler = new Reconciler(OWN)
      const status = recorded(`${before?.digest ?? ''}${suffix}`)
      const broken = forwarding(7, { ...status, generation: 2 })
      const cache = cacheOf([realm, namespace('bank'), broken])
      const [missing] = reconciler.reconcile(cache).missing
      if (missing === undefined || before === undefined) throw new Error('nothing is missing')
      expect(await reconciler.recover(missing, before.spec)).toBe(true)
      expect(reconciler.reconcile(cache).desired.documents.get('d')?.confinedTo).toBe('shop')
    },
  )
})
