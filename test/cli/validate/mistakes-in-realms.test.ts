// The mistakes that people make in Realms and references, and what `validate` says of each, although Secrets are not among
// the files.

import { describe, expect, it } from '@jest/globals'
import { DOCUMENT, diagnosticsOf, REALM, withMistake } from '../../support/mistakes.ts'

type RealmMistake = readonly [
  title: string,
  /** A member of the spec. */
  member: string,
  /** Replaced in the document. */
  edit: readonly [right: string, wrong: string] | undefined,
  diagnostics: readonly string[],
]

describe('a realm', () => {
  it.each<RealmMistake>([
    [
      'a key in snake_case',
      'call_timeout: 5',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        "realm.yaml:6:17 error invalid_value /spec/call_timeout is not a known field; did you mean 'callTimeout'? Known fields are uri, description, authmethods, router, callTimeout, users, groups, apiKeys, trustedIssuers, signatures, credentials, callbackOrigins, callbackSecret, allowedOrigins, oauth2, info, signingKeys, allowedNamespaces, allowedHosts, gatewayClassName",
      ],
    ],
    [
      'a password in clear',
      'users: [{username: bob, passwordHash: secret}]',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        'realm.yaml:6:41 error invalid_value This text does not fit here: Hash of the password, as svc hash-password writes it: $scrypt$ln=14,r=8,p=1$salt$hash, base64 without padding.',
      ],
    ],
    [
      'a password under another name',
      'users: [{username: bob, password: secret}]',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        "realm.yaml:6:37 error invalid_value /spec/users/0/password is not a known field; did you mean 'passwordHash'? Known fields are username, passwordHash, groups, meta",
      ],
    ],
    [
      'an API key in clear',
      'apiKeys: [{keySha256: secret, username: bob}]',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        'realm.yaml:6:25 error invalid_value This text does not fit here: SHA-256 of the whole header value, lower-case hex, as printf %s KEY | sha256sum writes it.',
      ],
    ],
    [
      'a secret in clear',
      'callbackSecret: secret',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        'realm.yaml:6:19 error invalid_datatype /spec/callbackSecret must not stand here in clear: put it into a Secret and write {secretRef: {name, key}}',
      ],
    ],
    [
      'a router over http',
      'router: {url: http://router.test}',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        'realm.yaml:6:17 error invalid_value This text does not fit here: Address of the router, ws://host:port/path or wss:// (WebSocket), rs://host:port or rss:// (RawSocket), unix:/path (RawSocket over a Unix socket).',
      ],
    ],
    [
      'a call timeout in words',
      'callTimeout: 5s',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        'realm.yaml:6:16 error invalid_datatype /spec/callTimeout must be a whole number, not a text. It is in milliseconds: write 5000.',
      ],
    ],
    [
      'an issuer without TLS',
      'authmethods: [oidcrp, cookie]\n  info:\n    oidcProviders:\n      login: {issuer: "http://idp.test", clientId: a, redirectUri: "https://a.test/v1/oidc/login/callback", clientSecret: {secretRef: {name: idp, key: secret}}}',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        'realm.yaml:9:23 error AlwaysFails every login at this provider fails, as its issuer is not https: write https://…, or, to try things out, set allow_unsafe_http (allowUnsafeHttp in a Realm resource)',
        "realm.yaml:9:142 notice SecretNotFound no Secret 'idp' of namespace default in these files. What it holds is not validated",
      ],
    ],
    [
      'a relative redirect URI',
      'authmethods: [oidcrp, cookie]\n  info:\n    oidcProviders:\n      login: {issuer: "https://idp.test", clientId: a, redirectUri: "/v1/oidc/login/callback", clientSecret: {secretRef: {name: idp, key: secret}}}',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        'realm.yaml:9:69 error invalid_value This text does not fit here: Absolute URL of the callback endpoint, such as https://api.example.com/v1/oidc/PROVIDER/callback.',
        "realm.yaml:9:129 notice SecretNotFound no Secret 'idp' of namespace default in these files. What it holds is not validated",
      ],
    ],
    [
      'a provider without its secret',
      'authmethods: [oidcrp, cookie]\n  info:\n    oidcProviders:\n      login: {issuer: "https://idp.test", clientId: a, redirectUri: "https://a.test/v1/oidc/login/callback"}',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        'realm.yaml:9:14 error missing_required_value /spec/info/oidcProviders/login/clientSecret is missing',
      ],
    ],
    [
      'a provider that is misspelt, of a realm whose Secret is elsewhere',
      'authmethods: [oidcrp, cookie]\n  info:\n    oidcProviders:\n      login: {issuer: "https://idp.test", clientId: a, redirectUri: "https://a.test/v1/oidc/login/callback", clientSecret: {secretRef: {name: idp, key: secret}}}',
      ['        get:', '        security: {type: oidc, provider: logn}\n        get:'],
      [
        "12:42 warning UnsatisfiedSecurity the realm has no OpenID provider named 'logn'; did you mean 'login'? No login is possible until it has one",
        "realm.yaml:9:143 notice SecretNotFound no Secret 'idp' of namespace default in these files. What it holds is not validated",
      ],
    ],
    [
      'a pattern of origins',
      'allowedOrigins: ["*"]',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        'realm.yaml:6:20 error invalid_value This text does not fit here: the origin of a page with its scheme and without a path, such as https://app.example.com (allowed_origins left out takes any page)',
      ],
    ],
    [
      'an unknown grant',
      'oauth2: {grants: [implicit]}',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        "realm.yaml:6:21 error invalid_value /spec/oauth2/grants/0 is 'implicit'; it may be password, client_credentials, refresh_token",
      ],
    ],
    [
      'from: All with a selector',
      'allowedNamespaces: {from: All, selector: {}}',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        'realm.yaml:6:44 error invalid_value /spec/allowedNamespaces/selector has no effect without from: Selector',
      ],
    ],
    [
      'an unknown value of from',
      'allowedNamespaces: {from: all}',
      undefined,
      [
        "3:12 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) has errors: what this document needs of it is validated once they are corrected",
        "realm.yaml:6:29 error invalid_value /spec/allowedNamespaces/from is 'all'; it may be Same, All, Selector",
      ],
    ],
  ])('%s', (_, member, edit, expected) => {
    const document = edit === undefined ? DOCUMENT : withMistake(...edit)
    expect(diagnosticsOf(document, `${REALM}  ${member}\n`)).toEqual(expected)
  })
})

const resource = (more: string): string =>
  'apiVersion: gateway.svc.dev/v1alpha1\nkind: ApiSpecification\nmetadata: {name: orders}\nspec:\n' +
  more +
  '  document:\n' +
  DOCUMENT.replace(/^(?=.)/gm, '    ')

describe('a reference', () => {
  const listed = (text: string): string =>
    `apiVersion: v1\nkind: List\nitems:\n- ${text.trimEnd().replaceAll('\n', '\n  ')}\n`
  const VARIABLE = '  variablesFrom: [{name: limit, secretRef: {name: vars, key: limit}}]\n'
  const SECRET =
    'apiVersion: v1\nkind: Secret\nmetadata: {name: vars}\nstringData: {limits: x}\n---\n'

  it.each<readonly [title: string, text: string, realm: string, diagnostics: readonly string[]]>([
    [
      'variables whose Secret is elsewhere',
      resource(VARIABLE),
      REALM,
      [
        "5:51 notice SecretNotFound no Secret 'vars' of namespace default in these files. What it holds is not validated",
      ],
    ],
    [
      'every key of a Secret that is elsewhere, which may override a variable',
      resource('  variablesFrom: [{secretRef: {name: vars}}]\n').replace('http:', 'ftp:'),
      REALM,
      [
        "5:38 notice SecretNotFound no Secret 'vars' of namespace default in these files. What it holds is not validated",
      ],
    ],
    [
      'a Secret without that key',
      `${SECRET}${resource(VARIABLE)}`,
      REALM,
      ["10:62 error KeyNotFound Secret default/vars has no key 'limit'; it has limits"],
    ],
    [
      'a variable without a name',
      resource(VARIABLE.replace('name: limit, ', '')),
      REALM,
      [
        '5:19 error missing_required_value /spec/variablesFrom/0/name is missing: give name and secretRef.key, or neither to take every key',
      ],
    ],
    [
      'a ConfigMap that is elsewhere',
      resource('  documentFrom: {configMap: {name: api, key: api.json}}\n').replace(
        / {2}document:[^]*/,
        '',
      ),
      REALM,
      [
        '5:36 notice ConfigMapNotFound there is no ConfigMap default/api among these files. If it is deployed elsewhere, ignore this; otherwise add it.',
      ],
    ],
    [
      'a document and documentFrom',
      resource('  documentFrom: {configMap: {name: api, key: api.json}}\n'),
      REALM,
      [
        '5:17 error invalid_value /spec/document and /spec/documentFrom exclude each other: keep one',
      ],
    ],
    ...['host', 'realm_uri', 'versions', 'variables'].map(
      (name): readonly [string, string, string, readonly string[]] => [
        `${name} beside the document`,
        resource('').replace('  document:', `  ${name}: a\n  document:`),
        REALM,
        [
          `5:${name.length + 5} error invalid_value /spec/${name} is not a known field: ${name} belongs under /spec/document`,
        ],
      ],
    ),
    [
      'a key of the resource that is misspelt',
      resource('').replace('  document:', '  documnet:'),
      REALM,
      [
        "5:3 error invalid_value /spec/documnet is not a known field; did you mean 'document'? Known fields are document, documentFrom, dataPlaneSelector, variablesFrom, gatewayClassName",
      ],
    ],
    [
      'a Realm of another namespace',
      resource(''),
      REALM.replace('name: acme', 'name: acme, namespace: other'),
      [
        "8:16 error RefNotPermitted the Realm with uri 'com.acme' (realm.yaml:5:8) is of another namespace: its allowedNamespaces must admit default",
      ],
    ],
    [
      'a Realm of another class',
      resource(''),
      `${REALM}  gatewayClassName: other\n`,
      [
        "8:16 notice RealmNotFound the Realm with uri 'com.acme' (realm.yaml:5:8) is of another class: an operator serves those of its own gatewayClassName, which is svc here and other there",
      ],
    ],
    [
      'a host that the Realm does not allow',
      resource(''),
      `${REALM}  allowedHosts: [b.test]\n`,
      [
        "7:11 error RefNotPermitted the realm 'com.acme' does not allow the host 'api.test': its allowedHosts are b.test",
      ],
    ],
    [
      'a mistake in a document that is part of a resource',
      resource('').replace('bindings.id', 'bindings.ix'),
      REALM,
      [
        "21:49 error AlwaysFails {{request.bindings.ix}} fails for every GET /v1/items/:id: the path /v1/items/:id has no binding 'ix'; did you mean 'id'?",
      ],
    ],
    [
      'a mistake in an item of a list',
      listed(resource('').replace('bindings.id', 'bindings.ix')),
      REALM,
      [
        "24:51 error AlwaysFails {{request.bindings.ix}} fails for every GET /v1/items/:id: the path /v1/items/:id has no binding 'ix'; did you mean 'id'?",
      ],
    ],
  ])('%s', (_, text, realm, expected) => {
    expect(diagnosticsOf(text, realm)).toEqual(expected)
  })
})

const BEARER = 'bearer: {token: {secretRef: {name: a, key: b}}}'

describe('a credential', () => {
  it('is refused for a host that it is not for, at the variable that has it', () => {
    const said = diagnosticsOf(
      withMistake('type: forward', 'type: forward\n            credential: billing'),
      `${REALM}  credentials: {billing: {origins: ['http://backend.tst:8080'], ${BEARER}}}\n`,
    )
    expect(said).toContain(
      "5:12 error invalid_value http://backend.test:8080 is not an origin of the credential 'billing', which is for http://backend.tst:8080; did you mean 'http://backend.tst:8080'? (for /versions/v1/paths/~1items~1:id/get/action/host)",
    )
  })

  const withCredential = (action: string, credential: string): readonly string[] =>
    diagnosticsOf(
      withMistake('type: forward', `type: forward\n            ${action}`),
      `${REALM}  credentials: {billing: {origins: ['http://backend.test:8080'], ${credential}}}\n`,
    )

  it('that is there is good', () => {
    const said = withCredential('credential: billing', BEARER)
    expect(said.filter((line) => line.includes(' error '))).toEqual([])
  })

  it.each<[string, string, string, string]>([
    [
      'of another name',
      'credential: biling',
      BEARER,
      "15:25 error invalid_value the realm has no credential 'biling'; did you mean 'billing'?",
    ],
    [
      'beside a header of the document',
      'headers: {Authorization: x}\n            credential: billing',
      BEARER,
      '15:38 error invalid_value the credential of this action sets the header authorization: leave out one of the two',
    ],
    [
      'whose caller has no token',
      'credential: billing',
      'tokenExchange: {tokenEndpoint: https://i.test/t, clientId: a, clientSecret: {secretRef: {name: a, key: b}}}',
      '15:25 error invalid_value this credential exchanges the token of the caller (token_exchange), so the path needs security of type oauth2 or oidc',
    ],
  ])('%s is an error where it stands', (_, action, credential, expected) => {
    expect(withCredential(action, credential)).toContain(expected)
  })
})
