import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { settleConditions, type NewCondition } from '../../../operator/resource/condition.ts'
import { selects } from '../../../operator/resource/label-selector.ts'
import { readResource } from '../../../operator/resource/read-resource.ts'
import {
  realmRecord,
  secretReferences,
  schemaAt,
  specPointer,
} from '../../../operator/resource/realm-record.ts'
import { checkRealmSpec, snakeCase } from '../../../operator/resource/realm-spec-schema.ts'
import {
  byAge,
  keyOf,
  type RealmResource,
  type RealmSpec,
  type SecretResource,
} from '../../../operator/resource/resource.ts'
import {
  findSecret,
  readConfigMapKey,
  readSecretKey,
} from '../../../operator/resource/secret-value.ts'
import { realmWithEverything } from '../../support/realm-with-everything.ts'
import { cacheOf, resourceOf } from '../../support/resources.ts'

const KNOWN = { uid: 'u', resourceVersion: '1', generation: 1, createdAt: 5 }
const HEAD = {
  apiVersion: 'gateway.svc.dev/v1alpha1',
  kind: 'ApiSpecification',
  metadata: { name: 'a' },
}

const problemsOf = (value: unknown): readonly (readonly [string, string])[] => {
  const read = readResource(value, KNOWN)
  if (read.result === 'error') return read.problems.map(({ path, code }) => [path, code])
  if (read.result !== 'resource' || !('checked' in read.resource)) return []
  const { checked } = read.resource
  return 'problems' in checked ? checked.problems.map(({ path, code }) => [path, code]) : []
}

describe('reading a resource', () => {
  it.each([
    ['no map', 5, [['', 'invalid_datatype']]],
    ['nothing', null, [['', 'invalid_datatype']]],
    ['no kind', { apiVersion: 'v1' }, [['/kind', 'missing_required_value']]],
    ['no apiVersion', { kind: 'Secret' }, [['/apiVersion', 'missing_required_value']]],
    [
      'a bare document',
      { id: 'a', host: 'b', versions: {} },
      [['/kind', 'missing_required_value']],
    ],
    [
      'another version',
      { ...HEAD, apiVersion: 'gateway.svc.dev/v9' },
      [['/apiVersion', 'invalid_value']],
    ],
    ['no name', { ...HEAD, metadata: {} }, [['/metadata/name', 'missing_required_value']]],
    ['metadata no map', { ...HEAD, metadata: 'x' }, [['/metadata', 'invalid_datatype']]],
    ['a bad name', { ...HEAD, metadata: { name: 'A_b' } }, [['/metadata/name', 'invalid_value']]],
    ['a number as name', { ...HEAD, metadata: { name: 8 } }, [['/metadata/name', 'invalid_value']]],
    [
      'a bad namespace',
      { ...HEAD, metadata: { name: 'a', namespace: '/' } },
      [['/metadata/namespace', 'invalid_value']],
    ],
    [
      'a bad time',
      { ...HEAD, metadata: { name: 'a', creationTimestamp: 'noon' } },
      [['/metadata/creationTimestamp', 'invalid_value']],
    ],
    ['no spec', HEAD, [['/spec', 'missing_required_value']]],
    ['an empty spec', { ...HEAD, spec: {} }, [['/spec/document', 'missing_required_value']]],
    ['spec no map', { ...HEAD, spec: [] }, [['/spec', 'invalid_datatype']]],
    [
      'a misspelt field',
      { ...HEAD, spec: { documnet: {}, document: {} } },
      [['/spec/documnet', 'invalid_value']],
    ],
    [
      '__proto__ as a field',
      JSON.parse(
        '{"apiVersion":"gateway.svc.dev/v1alpha1","kind":"ApiSpecification","metadata":{"name":"a"},"spec":{"document":{},"__proto__":1}}',
      ),
      [['/spec/__proto__', 'invalid_value']],
    ],
    [
      'both documents',
      { ...HEAD, spec: { document: {}, documentFrom: { configMap: { name: 'a', key: 'b' } } } },
      [['/spec/documentFrom', 'invalid_value']],
    ],
    [
      'a variable without its name',
      { ...HEAD, spec: { document: {}, variablesFrom: [{ secretRef: { name: 's', key: 'k' } }] } },
      [['/spec/variablesFrom/0/name', 'missing_required_value']],
    ],
    [
      'a variable without its key',
      { ...HEAD, spec: { document: {}, variablesFrom: [{ name: 'v', secretRef: { name: 's' } }] } },
      [['/spec/variablesFrom/0/secretRef/key', 'missing_required_value']],
    ],
    [
      'too many variables',
      {
        ...HEAD,
        spec: { document: {}, variablesFrom: new Array(65).fill({ secretRef: { name: 's' } }) },
      },
      [['/spec/variablesFrom', 'invalid_value']],
    ],
    [
      'a label without a value',
      { ...HEAD, spec: { document: {}, dataPlaneSelector: { matchLabels: { edge: '' } } } },
      [],
    ],
    [
      'a selector of too many labels',
      {
        ...HEAD,
        spec: {
          document: {},
          dataPlaneSelector: {
            matchLabels: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`l${i}`, ''])),
            matchExpressions: [
              { key: 'a', operator: 'In', values: new Array(257).fill('') },
              ...Array.from({ length: 63 }, () => ({ key: 'a', operator: 'Exists' })),
            ],
          },
        },
      },
      [
        ['/spec/dataPlaneSelector/matchLabels', 'invalid_value'],
        ['/spec/dataPlaneSelector/matchExpressions/0/values', 'invalid_value'],
      ],
    ],
    ['good', { ...HEAD, spec: { document: {}, gatewayClassName: 'x' } }, []],
    ['a null counts as absent', { ...HEAD, spec: { document: {}, documentFrom: null } }, []],
  ])('%s', (_name, value, expected) => {
    expect(problemsOf(value)).toEqual(expected)
  })

  it('leaves other kinds to others', () => {
    expect(readResource({ apiVersion: 'apps/v1', kind: 'Deployment' }, KNOWN).result).toBe(
      'foreign',
    )
    expect(readResource({ apiVersion: 'v1', kind: 'constructor' }, KNOWN).result).toBe('foreign')
    expect(readResource({ apiVersion: 'apps/v1', kind: 'Secret' }, KNOWN).result).toBe('foreign')
  })

  it('metadata: the age of a file, the identity of its reader', () => {
    const metadata = {
      name: 'a',
      creationTimestamp: '2026-01-31T08:00:00Z',
      uid: 'forged',
      resourceVersion: 'forged',
      labels: { tier: 'edge', odd: 5 },
    }
    const read = readResource({ ...HEAD, metadata, spec: { document: {} } }, KNOWN)
    if (read.result !== 'resource') throw new Error('unread')
    expect(read.resource.metadata).toEqual({
      ...KNOWN,
      name: 'a',
      namespace: 'default',
      createdAt: Date.parse('2026-01-31T08:00:00Z'),
      labels: { tier: 'edge' },
      annotations: {},
    })
  })

  it('the key of a Namespace has no namespace', () => {
    expect(keyOf(resourceOf('Namespace', 'shop', {}))).toBe('Namespace//shop')
  })

  it('older first, then by name', () => {
    const [a, b, c] = [
      resourceOf('Secret', 'a', {}, { createdAt: 2 }),
      resourceOf('Secret', 'b', {}, { createdAt: 1 }),
      resourceOf('Secret', 'c', {}, { createdAt: 2 }),
    ]
    expect([c, a, b].sort(byAge).map(({ metadata }) => metadata.name)).toEqual(['b', 'a', 'c'])
    expect(byAge(a, a)).toBe(0)
  })
})

describe('the schema of a realm', () => {
  it.each([
    [
      'good',
      {
        uri: 'a',
        router: {
          url: 'ws://r',
          auth: { method: 'ticket', secret: { secretRef: { name: 's', key: 'k' } } },
        },
      },
      [],
    ],
    ['no uri', {}, ['/spec/uri']],
    ['a secret in clear', { uri: 'a', callbackSecret: 'hush' }, ['/spec/callbackSecret']],
    ['a secret that is a number', { uri: 'a', callbackSecret: 5 }, ['/spec/callbackSecret']],
    [
      'a hash may stand there',
      { uri: 'a', users: [{ username: 'u', passwordHash: '$scrypt$x' }] },
      [],
    ],
    [
      'half a reference',
      { uri: 'a', signingKeys: [{ secretRef: { name: 's' } }] },
      ['/spec/signingKeys/0/secretRef/key'],
    ],
    ['one of', { uri: 'a', router: { serializers: ['xml'] } }, ['/spec/router/serializers/0']],
    ['too long', { uri: 'x'.repeat(256) }, ['/spec/uri']],
    ['empty', { uri: '' }, ['/spec/uri']],
    ['an integer', { uri: 'a', callTimeout: 1.5 }, ['/spec/callTimeout']],
    ['too small', { uri: 'a', callTimeout: 0 }, ['/spec/callTimeout']],
    [
      'a switch',
      {
        uri: 'a',
        info: {
          oidcProviders: {
            p: {
              issuer: 'i',
              clientId: 'c',
              clientSecret: { secretRef: { name: 's', key: 'k' } },
              redirectUri: 'r',
              allowUnsafeHttp: 'no',
            },
          },
        },
      },
      ['/spec/info/oidcProviders/p/allowUnsafeHttp'],
    ],
    [
      'lists and maps',
      { uri: 'a', groups: 'x', info: [], users: [{ username: 'u', meta: 5 }] },
      ['/spec/users/0/meta', '/spec/groups', '/spec/info'],
    ],
    ['a map of what', { uri: 'a', info: { oidcProviders: 7 } }, ['/spec/info/oidcProviders']],
    ['an unknown field', { uri: 'a', allowedNamespacs: {} }, ['/spec/allowedNamespacs']],
    [
      'a selector that nothing asks for',
      { uri: 'a', allowedNamespaces: { selector: { matchLabels: { tier: 'edge' } } } },
      ['/spec/allowedNamespaces/selector'],
    ],
    [
      'a selector that is left out',
      { uri: 'a', allowedNamespaces: { from: 'Selector' } },
      ['/spec/allowedNamespaces/selector'],
    ],
    [
      'a selector of too many expressions',
      {
        uri: 'a',
        allowedNamespaces: {
          from: 'Selector',
          selector: { matchExpressions: new Array(65).fill({ key: 'a', operator: 'Exists' }) },
        },
      },
      ['/spec/allowedNamespaces/selector/matchExpressions'],
    ],
    [
      'a selector',
      {
        uri: 'a',
        allowedNamespaces: { from: 'Selector', selector: { matchLabels: { tier: '' } } },
      },
      [],
    ],
  ])('%s', (_name, spec, pointers) => {
    expect(checkRealmSpec(spec).map(({ path }) => path)).toEqual(pointers)
  })
})

describe('the record of a realm', () => {
  const spec = {
    uri: 'com.shop',
    callTimeout: 100,
    allowedHosts: ['a.test'],
    users: [
      {
        username: 'u',
        passwordHash: { secretRef: { name: 's', key: 'hash' } },
        meta: { keepMe: 1 },
      },
    ],
    apiKeys: [{ keySha256: 'ab', username: 'u' }],
    info: {
      oidcProviders: {
        my_Provider: {
          issuer: 'i',
          clientId: 'c',
          clientSecret: { secretRef: { name: 's', key: 'oidc' } },
          redirectUri: 'r',
          roleMapping: { adminRole: 'x' },
        },
      },
    },
    signingKeys: [
      { secretRef: { name: 's', key: 'jwk' } },
      { secretRef: { name: 's', key: 'pem' } },
      { secretRef: { name: 's', key: 'odd' } },
    ],
  } satisfies RealmSpec
  const texts: Readonly<Record<string, string>> = {
    hash: '$scrypt$',
    oidc: 'hush',
    jwk: '{"kty":"EC"}',
    pem: '-----BEGIN',
    odd: '{no json',
  }

  it('is the spec in snake_case with its secrets in place', () => {
    expect(realmRecord(spec, ({ key }) => texts[key] ?? '')).toEqual({
      uri: 'com.shop',
      call_timeout: 100,
      users: [{ username: 'u', password_hash: '$scrypt$', meta: { keepMe: 1 } }],
      api_keys: [{ key_sha256: 'ab', username: 'u' }],
      info: {
        oidc_providers: {
          my_Provider: {
            issuer: 'i',
            client_id: 'c',
            client_secret: 'hush',
            redirect_uri: 'r',
            role_mapping: { adminRole: 'x' },
          },
        },
      },
      signing_keys: [{ kty: 'EC' }, '-----BEGIN', '{no json'],
    })
  })

  it.each<[string, object, object]>([
    ['of none', {}, {}],
    ['of one', { gatewayClassName: 'b' }, { className: 'b' }],
    ['told where the rest is wrong', { gatewayClassName: 'b', nope: 1 }, { className: 'b' }],
    ['that is no text', { gatewayClassName: 5 }, {}],
  ])('a class: %s', (_name, more, expected) => {
    const resource = resourceOf('Realm', 'shop', { spec: { uri: 'com.shop', ...more } })
    const { className } = resource as RealmResource
    expect(className === undefined ? {} : { className }).toEqual(expected)
  })

  it('its class stays out of the record', () => {
    const classed: RealmSpec = { uri: 'com.shop', gatewayClassName: 'b' }
    expect(checkRealmSpec(classed)).toEqual([])
    expect(realmRecord(classed, () => '')).toEqual({ uri: 'com.shop' })
  })

  it('names its secrets', () => {
    expect(secretReferences(spec).map(({ key }) => key)).toEqual([
      'hash',
      'oidc',
      'jwk',
      'pem',
      'odd',
    ])
  })

  it.each([
    ['', '/spec'],
    ['/users/0/password_hash', '/spec/users/0/passwordHash'],
    ['/info/oidc_providers/my_name/client_id', '/spec/info/oidcProviders/my_name/clientId'],
    ['/nobody/knows_this', '/spec/nobody/knows_this'],
  ])('pointer %s', (record, expected) => {
    expect(specPointer(record)).toBe(expected)
  })

  it('has a place for every value of the record', () => {
    const lost = realmWithEverything().leaves.filter(({ pointer }) => {
      const schema = schemaAt(pointer)
      return schema === undefined || snakeCase(specPointer(pointer)) !== `/spec${pointer}`
    })
    expect(lost).toEqual([])
  })

  const issuer = { issuer: 'i', jwksUri: 'https://i', audience: 'a' }
  it.each([
    [{ trustedIssuers: [{ ...issuer, algorithms: ['HS256'] }] }, /'HS256'; it may be RS256/],
    [{ trustedIssuers: [{ ...issuer, requireTyp: 'x'.repeat(101) }] }, /longer than 100 char/],
    [{ oauth2: { grants: ['implicit'] } }, /'implicit'; it may be password, client_credentials/],
    [{ callTimeout: 0 }, /the least is 1/],
  ])('knows the choices and bounds of the schema: %#', (more, message) => {
    const messages = checkRealmSpec({ uri: 'a', ...more }).map((problem) => problem.message)
    expect(messages).toEqual([expect.stringMatching(message)])
  })
})

describe('Secrets and ConfigMaps', () => {
  const secret = resourceOf('Secret', 'keys', {
    stringData: { a: 'plain' },
    data: { b: 'YmluYXJ5', odd: '/w==' },
  }) as SecretResource
  const cache = cacheOf(
    [
      secret,
      resourceOf('ConfigMap', 'docs', {
        data: { text: '{}' },
        binaryData: {
          packed: gzipSync('{"a":1}').toString('base64'),
          bomb: gzipSync(Buffer.alloc(5 * 1024 * 1024)).toString('base64'),
          raw: 'AAAA',
        },
      }),
      resourceOf('ConfigMap', 'empty', {}),
    ],
    {
      forbidden: new Map([
        ['Secret/default/locked', 'allow it with: kubectl create rolebinding …'],
        ['ConfigMap/default/locked', 'allow it with: kubectl create rolebinding …'],
      ]),
    },
  )

  it.each([
    ['a', { found: { text: 'plain', version: 'uid-keys@1#a' } }],
    ['b', { found: { text: 'binary', version: 'uid-keys@1#b' } }],
  ])('key %s', (key, expected) => {
    expect(readSecretKey(secret, key)).toEqual(expected)
  })

  it.each([
    ['odd', /not UTF-8/],
    ['constructor', /no key 'constructor'; it has b, odd, a/],
  ])('key %s is missing', (key, words) => {
    const read = readSecretKey(secret, key)
    expect('missing' in read ? read.missing : {}).toMatchObject({
      reason: 'KeyNotFound',
      message: expect.stringMatching(words) as unknown,
    })
  })

  it.each([
    ['keys', undefined],
    ['nobody', 'SecretNotFound'],
    ['locked', 'SecretForbidden'],
  ])('Secret %s', (name, reason) => {
    const found = findSecret(cache, 'default', name)
    expect('missing' in found ? found.missing.reason : undefined).toBe(reason)
  })

  it.each([
    ['docs', 'text', '{}'],
    ['docs', 'packed', '{"a":1}'],
  ])('ConfigMap %s %s', (name, key, text) => {
    expect(readConfigMapKey(cache, 'default', { name, key })).toEqual({ found: text })
  })

  it.each([
    ['docs', 'bomb', 'TooLarge'],
    ['docs', 'raw', 'KeyNotFound'],
    ['docs', 'nope', 'KeyNotFound'],
    ['empty', 'nope', 'KeyNotFound'],
    ['nope', 'text', 'ConfigMapNotFound'],
    ['keys', 'a', 'ConfigMapNotFound'],
    ['locked', 'a', 'ConfigMapForbidden'],
  ])('ConfigMap %s %s: %s', (name, key, reason) => {
    const found = readConfigMapKey(cache, 'default', { name, key })
    const other = 'tooLarge' in found ? 'TooLarge' : 'found'
    expect('missing' in found ? found.missing.reason : other).toBe(reason)
  })
})

describe('label selectors', () => {
  const labels = { tier: 'edge', zone: 'a' }
  it.each([
    [{}, true],
    [{ matchLabels: { tier: 'edge' } }, true],
    [{ matchLabels: { tier: 'core' } }, false],
    [{ matchLabels: { constructor: 'x' } }, false],
    [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['edge'] }] }, true],
    [{ matchExpressions: [{ key: 'nope', operator: 'In', values: ['edge'] }] }, false],
    [{ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['edge'] }] }, false],
    [{ matchExpressions: [{ key: 'nope', operator: 'NotIn' }] }, true],
    [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
    [{ matchExpressions: [{ key: 'toString', operator: 'DoesNotExist' }] }, true],
  ] as const)('%j: %s', (selector, expected) => {
    expect(selects(selector, labels)).toBe(expected)
  })
})

describe('conditions', () => {
  const accepted: NewCondition = {
    type: 'Accepted',
    status: 'True',
    reason: 'Accepted',
    message: 'valid',
  }
  const invalid: NewCondition = {
    type: 'Accepted',
    status: 'False',
    reason: 'Invalid',
    message: 'x',
  }
  const first = settleConditions([], [accepted], 1, 1_000_500)

  it('carry whole seconds', () => {
    expect(first[0]?.lastTransitionTime).toBe('1970-01-01T00:16:40Z')
  })

  it('are the same object while nothing changes', () => {
    expect(settleConditions(first, [accepted], 1, 9_000_000)).toBe(first)
  })

  it('move their time with the status only', () => {
    const again = settleConditions(first, [{ ...accepted, message: 'other' }], 2, 9_000_000)
    expect(again[0]).toMatchObject({
      observedGeneration: 2,
      lastTransitionTime: '1970-01-01T00:16:40Z',
    })
    expect(settleConditions(first, [invalid], 2, 9_000_000)[0]?.lastTransitionTime).toBe(
      '1970-01-01T02:30:00Z',
    )
  })

  it('go when they are not found any more', () => {
    expect(settleConditions(first, [], 1, 0)).toEqual([])
  })

  it('have messages of at most 1 KiB', () => {
    const long = settleConditions([], [{ ...accepted, message: 'é'.repeat(2000) }], 1, 0)
    const message = long[0]?.message ?? ''
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1024)
    expect(message.endsWith('é…')).toBe(true)
  })
})
