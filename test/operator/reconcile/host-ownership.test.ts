// A host belongs to the namespace whose document names it first, whatever that document has there.

import { describe, expect, it } from '@jest/globals'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const STRICT = { className: 'svc', hostOwnership: 'strict', wildcardNamespaces: [] } as const
const SHARED = { ...STRICT, hostOwnership: 'shared' } as const

const aRealm = (uri: string, namespace: string, router: object = {}): Resource =>
  resourceOf(
    'Realm',
    uri,
    { spec: { uri, allowedNamespaces: { from: 'All' }, ...router } },
    { namespace },
  )

const ROUTER = { router: { url: 'wss://router.test/ws' } }
const REALMS = [
  aRealm('com.bank', 'bank', ROUTER),
  aRealm('com.mallory', 'mallory', ROUTER),
  aRealm('com.silent', 'mallory'),
]

const operation = { get: { action: { type: 'static', body: 'x' }, response: {} } }
const paths = { '/p': operation }
const login = { type: 'oauth2', flow: 'client_credentials' }

/** What a document has at its hosts. */
const CONTENTS = {
  paths: { realm: 'com.silent', version: { base_path: '/m', paths } },
  'the root': { realm: 'com.silent', version: { base_path: '/', paths } },
  endpoints: { realm: 'com.silent', version: { base_path: '/m', paths: {}, security: login } },
  '/ws': { realm: 'com.mallory', version: { base_path: '/support', paths: {} } },
  '/ws of the realm of the bank': { realm: 'com.bank', version: { base_path: '/s', paths: {} } },
  'an optional segment': { realm: 'com.mallory', version: { base_path: '/[v1]', paths: {} } },
  nothing: { realm: 'com.silent', version: { base_path: '/m', paths: {} } },
  'an inactive version': {
    realm: 'com.mallory',
    version: { base_path: '/m', paths, is_active: false },
  },
} as const

interface Place {
  readonly namespace: string
  readonly createdAt: number
}

const aDocument = (
  id: string,
  host: string,
  content: { readonly realm: string; readonly version: object },
  place: Place,
): Resource =>
  resourceOf(
    'ApiSpecification',
    id,
    {
      spec: {
        document: aSpecification(id, {
          host,
          realm_uri: content.realm,
          versions: { v1: content.version },
        }),
      },
    },
    place,
  )

const shown = (resources: readonly Resource[], options: typeof STRICT | typeof SHARED = STRICT) => {
  const { results, desired } = new Reconciler(options).reconcile(cacheOf(resources))
  const reasons = [...results.values()].flatMap(({ resource, accepted, resolvedRefs }) => {
    if (resource.kind === 'Realm') return []
    const bad = [accepted, resolvedRefs].find(({ status }) => status !== 'True')
    return [[resource.metadata.name, bad?.reason ?? 'good']]
  })
  return {
    reasons: Object.fromEntries(reasons) as Readonly<Record<string, string>>,
    served: [...desired.documents.keys()].sort(),
    warnings: [...results.values()].flatMap(({ warnings }) => warnings.map(({ code }) => code)),
  }
}

const BANK = { realm: 'com.bank', version: { base_path: '/chat', paths } }

const ROWS = Object.entries(CONTENTS).flatMap(([name, content]) =>
  ['bank.test', '[www.]bank.test', '.Bank.test.'].flatMap((host) =>
    (['older', 'younger'] as const).map((age) => ({ name, content, host, age })),
  ),
)

describe('a host of several namespaces', () => {
  it.each(ROWS)(
    'belongs to the oldest document: another one with $name at $host that is $age',
    ({ content, host, age }) => {
      const createdAt = age === 'older' ? 500 : 2000
      const bank = aDocument('bank', 'bank.test', BANK, { namespace: 'bank', createdAt: 1000 })
      const other = aDocument('other', host, content, { namespace: 'mallory', createdAt })
      const { reasons, served } = shown([...REALMS, bank, other])
      expect([reasons, served]).toEqual(
        age === 'older'
          ? [{ bank: 'Conflicted', other: 'good' }, ['other']]
          : [{ bank: 'good', other: 'Conflicted' }, ['bank']],
      )
    },
  )

  it.each(Object.entries(CONTENTS))(
    'does not keep a neighbour from it: %s of its own namespace',
    (_name, content) => {
      const bank = aDocument('bank', 'bank.test', BANK, { namespace: 'bank', createdAt: 1000 })
      const other = aDocument('other', 'bank.test', content, { namespace: 'bank', createdAt: 2000 })
      expect(shown([...REALMS, bank, other]).reasons).toEqual({ bank: 'good', other: 'good' })
    },
  )
})

describe('/ws of a host', () => {
  const atChat = (realm: string, content: object = {}) => ({
    realm,
    version: { base_path: '/chat', paths: {}, ...content },
  })
  it.each([
    ['another realm', atChat('com.mallory'), 'Conflicted'],
    [
      'another realm, beside a path',
      atChat('com.mallory', { paths: { '/q': operation } }),
      'Conflicted',
    ],
    ['the same realm', atChat('com.bank'), 'good'],
    ['another realm without a router', atChat('com.silent'), 'good'],
    ['another realm, inactive', atChat('com.mallory', { is_active: false }), 'good'],
    ['another realm and base_path', CONTENTS['/ws'], 'good'],
    [
      'a path in its place',
      { realm: 'com.mallory', version: { base_path: '/', paths: { '/chat/ws': operation } } },
      'good',
    ],
  ])('belongs to the realm of the oldest document: one of %s', (_name, content, expected) => {
    const bank = aDocument('bank', 'h.test', BANK, { namespace: 'bank', createdAt: 1000 })
    for (const namespace of ['bank', 'mallory']) {
      const other = aDocument('other', 'h.test', content, { namespace, createdAt: 2000 })
      // Namespaces that share hosts share no `/ws`.
      const options = namespace === 'bank' ? STRICT : SHARED
      const { reasons } = shown([...REALMS, bank, other], options)
      expect(reasons).toEqual({ bank: 'good', other: expected })
    }
  })

  it('is warned of where there is none and no path either', () => {
    const place = { namespace: 'bank', createdAt: 1 }
    const codes = (content: { readonly realm: string; readonly version: object }) =>
      shown([...REALMS, aDocument('a', 'a.test', content, place)]).warnings
    expect(codes(CONTENTS.nothing)).toEqual(['ServesNothing'])
    expect(codes(CONTENTS['/ws'])).toEqual([])
  })
})
