import { describe, expect, it } from '@jest/globals'
import { diagnosticLine } from '../../../cli/validate/validation-diagnostic.ts'
import { validateFiles } from '../../../cli/validate/validate-files.ts'
import { aSpecification } from '../../support/resources.ts'

const REALM =
  'apiVersion: gateway.svc.dev/v1alpha1\nkind: Realm\nmetadata: {name: shop}\nspec: {uri: com.shop}\n'
const spec = (body: object, more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    metadata: { name: 'a' },
    spec: { document: body, ...more },
  })

const OTHER = { gatewayClassName: 'other' }

const lines = (...texts: readonly string[]): readonly string[] =>
  validateFiles(texts.map((text, i) => ({ name: `f${i}`, text }))).diagnostics.map(diagnosticLine)

describe('what validate says', () => {
  it.each([
    ['a good set', [REALM, spec(aSpecification('a'))], []],
    ['a good plain document', [REALM, JSON.stringify(aSpecification('a'))], []],
    ['kinds of others', ['apiVersion: apps/v1\nkind: Deployment'], []],
    [
      'another class',
      [spec({ id: 'a' }, { gatewayClassName: 'other' })],
      [
        /^f0:1:\d+ ApiSpecification default\/a \/spec\/document\/host missing_required_value/,
        /realm_uri/,
        /versions/,
      ],
    ],
    [
      'another class, where not even the spec can be read',
      [spec(aSpecification('a'), { gatewayClassName: 'other', nope: 1 })],
      [/^f0:1:\d+ ApiSpecification default\/a \/spec\/nope invalid_value/],
    ],
    [
      'a document and a realm of another class',
      [
        REALM.replace('com.shop', 'com.shop, gatewayClassName: other'),
        spec(aSpecification('a'), OTHER),
      ],
      [],
    ],
    [
      'a realm of each class, of one uri',
      [
        REALM,
        REALM.replace('name: shop', 'name: other').replace(
          'com.shop',
          'com.shop, gatewayClassName: other',
        ),
        spec(aSpecification('a')),
      ],
      [],
    ],
    [
      'a realm of another class than its document',
      [REALM, spec(aSpecification('a'), OTHER)],
      [
        /^f1:1:\d+ .* RealmNotFound notice: the Realm with uri 'com.shop' \(f0:4:13\) is of another class/,
      ],
    ],
    [
      'a realm of another class that is wrong',
      [REALM.replace('com.shop', 'com.shop, gatewayClassName: other, nope: 1')],
      [/^f0:4:\d+ Realm default\/shop \/spec\/nope invalid_value/],
    ],
    [
      'a plain document without realm',
      [JSON.stringify(aSpecification('a'))],
      [/^f0:1:\d+ a \/realm_uri RealmNotFound notice: no Realm with uri 'com.shop' in these files/],
    ],
    [
      'a plain document that is wrong',
      ['id: a\nrealm_uri: com.shop\nversions: {v1: {base_path: /v1, paths: {}}}\nhost: 5', REALM],
      [/^f0:4:\d+ a \/host invalid_datatype/],
    ],
    [
      'a plain document without an id',
      ['host: a.test'],
      [/^f0:1:\d+ \/id missing_required_value/, /realm_uri/, /versions/],
    ],
    ['no YAML', ['a: ['], [/^f0:1:\d+ invalid_yaml/]],
    [
      'no name',
      ['apiVersion: v1\nkind: Secret\nmetadata: {}'],
      [/^f0:3:\d+ \/metadata\/name missing_required_value/],
    ],
    [
      'twice',
      [REALM, REALM],
      [/^f1:1:\d+ Realm default\/shop conflict Realm default\/shop stands in f0:1 already/],
    ],
    [
      'a scalar that changes its type',
      [
        REALM,
        'id: a\nhost: a.test\nrealm_uri: com.shop\nmeta: {x: on}\nversions: {v1: {base_path: /v1, paths: {/a: {get: {action: {type: static, body: x}, response: {}}}}}}',
      ],
      [/^f1:4:\d+ a \/meta\/x YamlType warning: on is read as true/],
    ],
    [
      'an unknown property',
      [REALM, spec(aSpecification('a', { surprise: 1 }))],
      [/^f1:1:\d+ ApiSpecification default\/a \/spec\/document\/surprise UnknownProperty warning:/],
    ],
    [
      'an unknown property beside an error',
      [REALM, spec(aSpecification('a', { surprise: 1, meta: 5 }))],
      [
        /^f1:1:\d+ ApiSpecification default\/a \/spec\/document\/surprise UnknownProperty warning:/,
        /^f1:1:\d+ ApiSpecification default\/a \/spec\/document\/meta invalid_datatype/,
      ],
    ],
    [
      'not permitted',
      [REALM.replace('{name: shop}', '{name: shop, namespace: other}'), spec(aSpecification('a'))],
      [/RefNotPermitted the Realm with uri 'com.shop' \(f0:4:13\) is of another namespace/],
    ],
    [
      'a realm whose Secret is elsewhere',
      [
        REALM.replace('com.shop}', 'com.shop, callbackSecret: {secretRef: {name: s, key: k}}}'),
        spec(aSpecification('a')),
      ],
      [
        /^f0:4:\d+ Realm default\/shop \/spec\/callbackSecret\/secretRef\/name SecretNotFound notice:/,
      ],
    ],
    [
      'a realm with errors whose Secret is elsewhere',
      [
        REALM.replace(
          'com.shop}',
          'com.shop, callbackSecret: {secretRef: {name: s, key: k}}, router: {url: ftp://x}}',
        ),
        spec(aSpecification('a')),
      ],
      [
        /^f0:4:\d+ Realm default\/shop \/spec\/callbackSecret\/secretRef\/name SecretNotFound notice:/,
        /^f0:4:\d+ Realm default\/shop \/spec\/router\/url invalid_value/,
        /^f1:1:\d+ .* RealmNotFound notice: the Realm with uri 'com.shop' \(f0:4:13\) has errors/,
      ],
    ],
    [
      'an issuer without TLS, a relative redirect URI',
      [
        [
          REALM.replace('spec: {uri: com.shop}', 'spec:'),
          '  uri: com.shop',
          '  info:',
          '    oidcProviders:',
          '      a:',
          '        issuer: http://id.test',
          '        clientId: gateway',
          '        clientSecret: {secretRef: {name: s, key: k}}',
          '        redirectUri: https://a.test/v1/oidc/a/callback',
        ].join('\n'),
        [
          REALM.replace('spec: {uri: com.shop}', 'spec:').replace('shop', 'other'),
          '  uri: com.other',
          '  info:',
          '    oidcProviders:',
          '      a:',
          '        issuer: https://id.test',
          '        clientId: gateway',
          '        clientSecret: {secretRef: {name: s, key: k}}',
          '        redirectUri: /cb',
        ].join('\n'),
      ],
      [
        /^f0:10:17 Realm default\/shop \/spec\/info\/oidcProviders\/a\/issuer AlwaysFails every login/,
        /^f0:12:\d+ Realm default\/shop \/spec\/info\/oidcProviders\/a\/clientSecret\/secretRef\/name SecretNotFound notice:/,
        /^f1:12:\d+ Realm default\/other \/spec\/info\/oidcProviders\/a\/clientSecret\/secretRef\/name SecretNotFound notice:/,
        /^f1:13:\d+ Realm default\/other \/spec\/info\/oidcProviders\/a\/redirectUri invalid_value .*Absolute URL/,
      ],
    ],
    [
      'a realm whose uri is misspelt',
      [REALM, JSON.stringify(aSpecification('a', { realm_uri: 'com.shpo' }))],
      [/^f1:1:\d+ a \/realm_uri RealmNotFound notice: .*\(Nearest: 'com.shop', f0:4:13\)/],
    ],
    [
      'a kind that is misspelt',
      [REALM.replace('Realm', 'Raelm')],
      [/^f0:2:\d+ \/kind invalid_value there is no kind 'Raelm' in .*; did you mean 'Realm'\?/],
    ],
    [
      'a kind that is none of ours',
      [REALM.replace('Realm', 'Gateway')],
      [/^f0:2:\d+ \/kind invalid_value .*; there are ApiSpecification and Realm/],
    ],
    [
      'a group that is misspelt',
      [REALM.replace('gateway.svc.dev', 'gateway.svc.de')],
      [/^f0:1:\d+ \/apiVersion invalid_value .*did you mean gateway.svc.dev\/v1alpha1\?/],
    ],
    ['an empty list of ours', [REALM.replace('Realm', 'RealmList')], []],
    ["another's Realm", [REALM.replace('gateway.svc.dev', 'keycloak.test')], []],
    [
      'variables whose Secret is elsewhere',
      [
        REALM,
        spec(
          aSpecification('a', { host: '{{variables.h}}.test'.replace('{{variables.h}}', 'h') }),
          { variablesFrom: [{ name: 'h', secretRef: { name: 's', key: 'k' } }] },
        ),
      ],
      [
        /variablesFrom\/0\/secretRef\/name SecretNotFound notice: no Secret 's' of namespace default/,
      ],
    ],
    [
      'all variables of a Secret elsewhere',
      [REALM, spec(aSpecification('a'), { variablesFrom: [{ secretRef: { name: 's' } }] })],
      [/SecretNotFound notice:/],
    ],
    [
      'two that want one route',
      [
        REALM,
        spec(aSpecification('a')),
        JSON.stringify({ ...aSpecification('b'), host: 'a.test' }),
      ],
      [/\/versions\/v1\/paths\/~1a\/get conflict GET a.test/],
    ],
    [
      'a Secret that lacks a key',
      [
        REALM,
        'apiVersion: v1\nkind: Secret\nmetadata: {name: s}',
        spec(aSpecification('a'), {
          variablesFrom: [{ name: 'h', secretRef: { name: 's', key: 'k' } }],
        }),
      ],
      [/KeyNotFound Secret default\/s has no key 'k'/],
    ],
  ] as const)('%s', (_name, texts, expected) => {
    const found = lines(...texts)
    expect(found).toHaveLength(expected.length)
    expected.forEach((pattern, i) => {
      expect(found[i]).toMatch(pattern)
    })
  })
})
