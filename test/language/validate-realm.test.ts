import { describe, expect, it } from '@jest/globals'
import type { ValueMap } from '../../language/expression/value.ts'
import { validateNewerRealm, validateRealm } from '../../language/validate-realm.ts'
import { createCertificateAuthority } from '../support/certificates.ts'
import { caseRealms } from './case-documents.ts'

const hash = '$scrypt$ln=14,r=8,p=1$c2FsdA$aGFzaA'
const provider = {
  issuer: 'https://idp.test',
  client_id: 'gw',
  client_secret: 'cs',
  redirect_uri: 'https://api.test/v1/oidc/corp/callback',
}

const realmWith = (more: ValueMap): ValueMap => ({ uri: 'com.acme', ...more })
const faults = (record: unknown): readonly string[] => {
  const validation = validateRealm(record)
  return validation.ok ? [] : validation.problems.map(({ path, code }) => `${path} ${code}`)
}

describe('validateRealm accepts', () => {
  it.each<[string, ValueMap]>([
    ['a uri alone', realmWith({})],
    ['a uri that is a URL', realmWith({ uri: 'https://example.com/realm?a=b;c,d' })],
    ...[
      'ws://router.test',
      'wss://me:secret@router.test:8443/ws?token=1',
      'ws://[::1]:8080/ws',
      'rs://router.test:9000',
      'rss://[::1]:9000/',
      'rs+unix:/run/router.sock',
      'unix:/run/router%20one.sock',
      'unix:///run/router.sock',
    ].map((url): [string, ValueMap] => [`the address ${url}`, realmWith({ router: { url } })]),
    [
      'everything',
      realmWith({
        description: '',
        authmethods: ['oidcrp', 'cookie'],
        router: {
          urls: ['ws://127.0.0.1:8080/ws', 'rs://127.0.0.1:8081'],
          serializers: ['msgpack', 'json', 'cbor'],
          auth: { method: 'wampcra', authid: 'gw', secret: 's' },
          pool: 2,
          keepalive: 10,
          call_timeout_unit: 's',
        },
        call_timeout: 20_000,
        users: [{ username: 'alice', password_hash: hash, groups: ['staff'], meta: { a: [{}] } }],
        groups: ['staff'],
        api_keys: [
          { key_sha256: 'a'.repeat(64), username: 'alice' },
          {
            key_sha256: 'b'.repeat(64),
            username: 'alice',
            expires_at: '2027-05-01T00:00:00.5+02:00',
            meta: { plan: 'gold' },
          },
        ],
        trusted_issuers: [
          { issuer: 'x', jwks_uri: 'https://x.test/jwks', audience: 'api', algorithms: ['ES256'] },
          { issuer: 'y', jwks_uri: 'https://y.test/jwks', audience: 'api', require_typ: 'at+jwt' },
        ],
        callback_origins: ['http://127.0.0.1:9000'],
        callback_secret: 's',
        allowed_origins: [
          'https://app.test',
          'null',
          'capacitor://localhost',
          'http://[::1]:8080/',
        ],
        oauth2: { grants: ['password'] },
        info: {
          oidc_providers: {
            corp: {
              ...provider,
              allowed_redirect_origins: ['*', 'http://a.test:80/', 'https://[::1]'],
            },
          },
          anything: 1,
        },
        signing_keys: ['-----BEGIN PRIVATE KEY-----', { kty: 'EC', d: 'x' }],
      }),
    ],
    [
      'a router without credentials',
      realmWith({ router: { url: 'ws://a', auth: { method: 'anonymous' } } }),
    ],
  ])('%s', (_name, record) => {
    expect(faults(record)).toEqual([])
  })

  it.each(caseRealms())('the realm of %s', (_file, record) => {
    expect(faults(record)).toEqual([])
  })
})

describe('validateRealm rejects', () => {
  it.each<[string, unknown, ...string[]]>([
    ['null', null, ' invalid_datatype'],
    ['no uri', {}, '/uri missing_required_value'],
    ['an empty uri', { uri: '' }, '/uri invalid_value'],
    ['a uri with a control character', { uri: 'a\nb' }, '/uri invalid_value'],
    ['a long uri', { uri: 'a'.repeat(256) }, '/uri invalid_value'],
    [
      'an unknown property',
      realmWith({ user: [], constructor: 1 }),
      '/user invalid_value',
      '/constructor invalid_value',
    ],
    [
      'an unknown property of a user',
      realmWith({ users: [{ username: 'a', password: 'x' }] }),
      '/users/0/password invalid_value',
    ],
    [
      'a user without a name',
      realmWith({ users: [{}, 1] }),
      '/users/0/username missing_required_value',
      '/users/1 invalid_datatype',
    ],
    [
      'a plain password',
      realmWith({ users: [{ username: 'a', password_hash: 'x' }] }),
      '/users/0/password_hash invalid_value',
    ],
    [
      'a plain key',
      realmWith({ api_keys: [{ username: 'a', key_sha256: 'A'.repeat(64) }] }),
      '/api_keys/0/key_sha256 invalid_value',
    ],
    ...['2027-05-01', '2027-02-30T00:00:00Z', '2027-05-01T00:00:00', 'soon', ''].map(
      (time): [string, ValueMap, string] => [
        `a key that ends at '${time}'`,
        realmWith({
          api_keys: [{ username: 'a', key_sha256: 'a'.repeat(64), expires_at: time }],
        }),
        '/api_keys/0/expires_at invalid_value',
      ],
    ),
    [
      'a router without an address',
      realmWith({ router: {} }),
      '/router/url missing_required_value',
    ],
    [
      'a router address without a scheme',
      realmWith({ router: { url: 'localhost' } }),
      '/router/url invalid_value',
    ],
    ...[
      'http://router.test/ws',
      'WS://router.test/ws',
      'ws:router.test',
      'ws:////me:secret@router.test',
      'ws:\\\\me:secret@router.test',
      'ws://router.test/ws#part',
      'ws:// router.test',
      'rs://router.test',
      'rs://me@router.test:9000',
      'rs://router.test:9000/path',
      'unix:run/router.sock',
      'unix://host/run/router.sock',
    ].flatMap((url): [string, ValueMap, ...string[]][] => [
      [`the address ${url}`, realmWith({ router: { url } }), '/router/url invalid_value'],
      [
        `${url} among addresses`,
        realmWith({ router: { urls: ['ws://a', url] } }),
        '/router/urls/1 invalid_value',
      ],
    ]),
    [
      'credentials without a secret',
      realmWith({ router: { url: 'ws://a', auth: { method: 'ticket' } } }),
      '/router/auth/secret missing_required_value',
    ],
    [
      'an unknown method',
      realmWith({ router: { url: 'ws://a', auth: { method: 'x' } } }),
      '/router/auth/method invalid_value',
    ],
    [
      'a symmetric algorithm',
      realmWith({
        trusted_issuers: [
          { issuer: 'x', jwks_uri: 'file:/x', audience: 'a', algorithms: ['HS256'] },
        ],
      }),
      '/trusted_issuers/0/jwks_uri invalid_value',
      '/trusted_issuers/0/algorithms/0 invalid_value',
    ],
    [
      'types that no token has',
      realmWith({
        trusted_issuers: ['', 'at jwt', 5].map((type) => ({
          issuer: 'x',
          jwks_uri: 'https://x.test/jwks',
          audience: 'a',
          require_typ: type,
        })),
      }),
      '/trusted_issuers/0/require_typ invalid_value',
      '/trusted_issuers/1/require_typ invalid_value',
      '/trusted_issuers/2/require_typ invalid_datatype',
    ],
    [
      'an unknown grant',
      realmWith({ oauth2: { grants: ['implicit'], x: 1 } }),
      '/oauth2/x invalid_value',
      '/oauth2/grants/0 invalid_value',
    ],
    [
      'a provider with nothing in it',
      realmWith({ info: { oidc_providers: { __proto: {} } } }),
      ...['issuer', 'client_id', 'client_secret', 'redirect_uri'].map(
        (name) => `/info/oidc_providers/__proto/${name} missing_required_value`,
      ),
    ],
    [
      'a provider with a wrong SameSite',
      realmWith({ info: { oidc_providers: { a: { ...provider, cookie_same_site: 'Lax' } } } }),
      '/info/oidc_providers/a/cookie_same_site invalid_value',
    ],
    ...[
      '',
      'https://example.com',
      'a;b',
      '*.example.com',
      'a..b',
      'x\r\nset-cookie: a=b',
      'a'.repeat(254),
    ].map((domain): [string, ValueMap, string] => [
      `a provider with '${domain}' as the domain of its cookies`,
      realmWith({ info: { oidc_providers: { a: { ...provider, cookie_domain: domain } } } }),
      '/info/oidc_providers/a/cookie_domain invalid_value',
    ]),
    ...['private_key_jwt', 'constructor', ''].map((method): [string, ValueMap, string] => [
      `a provider that is shown who we are by '${method}'`,
      realmWith({
        info: { oidc_providers: { a: { ...provider, token_endpoint_auth_method: method } } },
      }),
      '/info/oidc_providers/a/token_endpoint_auth_method invalid_value',
    ]),
    [
      'origins of any page',
      realmWith({ allowed_origins: ['https://app.test', '*', 'https://*.app.test', ''] }),
      '/allowed_origins/1 invalid_value',
      '/allowed_origins/2 invalid_value',
      '/allowed_origins/3 invalid_value',
    ],
    ...[
      'app.test',
      'https://app.test/path',
      'https://me@app.test',
      'https://*.app.test',
      'https:app.test',
      'capacitor://localhost/x',
      ' https://app.test',
      '',
    ].map((origin): [string, ValueMap, string] => [
      `'${origin}' as the origin of pages`,
      realmWith({ allowed_origins: [origin] }),
      '/allowed_origins/0 invalid_value',
    ]),
    ...[
      'app.acme.test',
      'https://*.acme.test',
      '*.acme.test',
      '.acme.test',
      'null',
      'ftp://acme.test',
      'com.acme.app:/',
      'https://app.acme.test/safe',
      'https://app.acme.test?a',
      'https://me@app.acme.test',
      'https://app.acme.test:99999',
      'https:/app.acme.test',
      'https:\\\\app.acme.test',
      '**',
      '',
    ].map((origin): [string, ValueMap, string] => [
      `a provider whose logins return to '${origin}'`,
      realmWith({
        info: { oidc_providers: { a: { ...provider, allowed_redirect_origins: ['*', origin] } } },
      }),
      '/info/oidc_providers/a/allowed_redirect_origins/1 invalid_value',
    ]),
    ...[
      'cookie_httponly',
      'allowed_redirect_origin',
      'ticket_expiry',
      'roleClaim',
      'x',
      '__proto__x',
    ].map((name): [string, ValueMap, string] => [
      `the member ${name} of a provider`,
      realmWith({ info: { oidc_providers: { a: { ...provider, [name]: true } } } }),
      `/info/oidc_providers/a/${name} invalid_value`,
    ]),
    [
      'null for what is optional',
      realmWith({ description: null, router: null }),
      '/description invalid_datatype',
      '/router invalid_datatype',
    ],
    [
      '101 providers',
      realmWith({
        info: {
          oidc_providers: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, {}])),
        },
      }),
      '/info/oidc_providers invalid_value',
    ],
  ])('%s', (_name, record, ...expected) => {
    expect(faults(record)).toEqual(expected)
  })

  it('a misspelt member of a provider with the name that was meant', () => {
    const a = { ...provider, cookie_httponly: true }
    expect(validateRealm(realmWith({ info: { oidc_providers: { a }, free: 1 } }))).toMatchObject({
      problems: [
        { message: expect.stringContaining("Did you mean 'cookie_http_only'?") as unknown },
      ],
    })
  })

  it('at most 1000 problems, fairly between its members', () => {
    const users = Array.from({ length: 1500 }, (_, i) => ({ username: `user-${i}`, groups: i }))
    const found = faults(realmWith({ users, api_keys: [{ username: 'user-1' }] }))
    expect(found).toHaveLength(1000)
    expect(found).toContain('/api_keys/0/key_sha256 missing_required_value')
  })

  it('in words that say which addresses there are', () => {
    const validation = validateRealm(realmWith({ router: { url: 'http://router.test/ws' } }))
    expect(validation).toMatchObject({
      problems: [{ message: expect.stringMatching(/ws:\/\/.*rs:\/\/.*unix:/) }],
    })
  })

  it('without showing a value', () => {
    const secret = 'hunter2'
    const validation = validateRealm({
      uri: 5,
      users: [{ username: 'a', password_hash: secret }],
      callback_secret: { secret },
      router: { url: secret, auth: { method: secret, secret: [secret] } },
      signing_keys: secret,
      call_timeout: secret,
    })
    expect(validation.ok).toBe(false)
    expect(JSON.stringify(validation)).not.toContain(secret)
    expect(JSON.stringify(validation)).toContain('got a text')
  })
})

describe('an unknown member of a provider', () => {
  const withMember = (name: string): ValueMap => {
    const corp = JSON.parse(
      JSON.stringify(provider).replace('{', `{${JSON.stringify(name)}:{"deep":[1]},`),
    ) as ValueMap
    return realmWith({
      info: { oidc_providers: { 'a/b~c': corp, corp }, more: { corp: { x: 1 } } },
    })
  }

  it.each(['pkce', 'constructor', '__proto__', 'a/b'])(
    '%s is ignored in what a newer operator sends, and kept in the record',
    (name) => {
      const record = withMember(name)
      expect(validateNewerRealm(record)).toEqual({ ok: true, realm: record })
      expect(validateRealm(record).ok).toBe(false)
    },
  )

  it('does not hide a fault of another member', () => {
    const corp = { ...provider, pkce: 'S256', issuer: 'ftp://idp.test' }
    expect(validateNewerRealm(realmWith({ info: { oidc_providers: { corp } } }))).toMatchObject({
      problems: [{ path: '/info/oidc_providers/corp/issuer' }],
    })
  })
})

describe('what stands at the ends of a text', () => {
  const secrets = { method: 'ticket', authid: 'gw', secret: 's' }
  const client = {
    token_endpoint: 'https://idp.test/token',
    client_id: 'c',
    client_secret: 's',
    audience: 'a',
    resource: 'r',
    scopes: ['s'],
  }
  const whole = realmWith({
    authmethods: ['cookie'],
    router: { url: 'ws://r', auth: secrets },
    users: [{ username: 'u', groups: ['g'] }],
    groups: ['g'],
    api_keys: [{ key_sha256: 'a'.repeat(64), username: 'u' }],
    trusted_issuers: [{ issuer: 'i', jwks_uri: 'https://i.test/jwks', audience: 'a' }],
    callback_origins: ['https://c.test'],
    callback_secret: 's',
    allowed_origins: ['https://p.test'],
    credentials: {
      c: { origins: ['https://a.test'], client_credentials: client },
      e: {
        origins: ['https://a.test'],
        token_exchange: { ...client, subject_token_type: 't', requested_token_type: 't' },
      },
      b: { origins: ['https://a.test'], basic: { username: 'u', password: 'p' } },
    },
    info: {
      oidc_providers: {
        corp: {
          ...provider,
          scopes: ['openid'],
          authid_claim: 'sub',
          role_claim: 'roles',
          role_claim_fallback: 'role',
          cookie_domain: 'api.test',
          allowed_redirect_origins: ['https://p.test'],
          end_session_endpoint: 'https://idp.test/logout',
        },
      },
    },
  })

  const places = (value: unknown, pointer = ''): readonly string[] => {
    if (typeof value === 'string') return [pointer]
    return Object.entries(value as object).flatMap(([key, member]) =>
      places(member, `${pointer}/${key}`),
    )
  }

  const placesOfMembers = (value: unknown, pointer = ''): readonly string[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, member]) => [
          `${pointer}/${key}`,
          ...placesOfMembers(member, `${pointer}/${key}`),
        ])
      : []

  /** A closed list, and passwords, which may have a blank at their ends. */
  const OTHERS = ['/router/auth/method', '/credentials/b/basic/password']
  const PLACES = places(whole).filter((place) => !OTHERS.includes(place))

  const changedAt = (place: string, change: (value: unknown) => unknown): unknown =>
    place
      .split('/')
      .slice(1)
      .reduceRight<(value: unknown) => unknown>(
        (inner, key) => (value) =>
          Array.isArray(value)
            ? value.map((item: unknown, i) => (String(i) === key ? inner(item) : item))
            : { ...(value as object), [key]: inner((value as Record<string, unknown>)[key]) },
        change,
      )(whole)
  const withEnds = (place: string, before: string, after: string): unknown =>
    changedAt(place, (value) => `${before}${String(value)}${after}`)

  it('is nothing, at first', () => {
    expect(faults(whole)).toEqual([])
    expect(PLACES.length).toBeGreaterThan(35)
  })

  it.each(
    PLACES.flatMap((place) =>
      [
        ['', '\n'],
        ['', '\r\n'],
        ['', '\t'],
        ['', ' '],
        [' ', ''],
        ['\uFEFF', ''],
      ].map(([before = '', after = '']) => [place, before, after] as const),
    ),
  )('%s refuses what stands around it: %j, %j', (place, before, after) => {
    expect(faults(withEnds(place, before, after))).toEqual([`${place} invalid_value`])
  })

  it.each(placesOfMembers(whole))('is not null, which is refused at %s', (place) => {
    const found = faults(changedAt(place, () => null))
    expect(found).toHaveLength(1)
    expect([`${place} invalid_datatype`, `${place} invalid_value`]).toContain(found[0])
  })

  it('is reported in words that help, and without the value', () => {
    const validation = validateRealm(
      withEnds('/info/oidc_providers/corp/client_secret', 'hush', '\n'),
    )
    expect(validation).toMatchObject({
      problems: [
        { message: expect.stringContaining('is there a line break at its end') as unknown },
      ],
    })
    expect(JSON.stringify(validation)).not.toContain('hush')
  })
})

describe('a CA', () => {
  const { cert: certificate, issue } = createCertificateAuthority('CA')
  const { cert, key } = issue('gw')
  const broken = certificate.replace(/\n[A-Za-z0-9+/]{20}/, '\nAAAAAAAAAAAAAAAAAAAA')
  const client = { token_endpoint: 'https://i.test/t', client_id: 'c', client_secret: 's' }
  const origins = ['https://a.test']
  const pem = { certificate: cert, private_key: key }
  const PLACES: readonly (readonly [string, (ca: string) => ValueMap])[] = [
    [
      '/info/oidc_providers/a/ca',
      (ca) => ({ info: { oidc_providers: { a: { ...provider, ca } } } }),
    ],
    [
      '/credentials/c/client_credentials/ca',
      (ca) => ({ credentials: { c: { origins, client_credentials: { ...client, ca } } } }),
    ],
    [
      '/credentials/c/token_exchange/ca',
      (ca) => ({ credentials: { c: { origins, token_exchange: { ...client, ca } } } }),
    ],
    [
      '/credentials/c/certificate/ca',
      (ca) => ({ credentials: { c: { origins, certificate: { ...pem, ca } } } }),
    ],
  ]

  it.each(PLACES)('at %s is read', (place, realm) => {
    const windows = certificate.replaceAll('\n', '\r\n')
    for (const good of [certificate, windows, `# ours\n${certificate}\n${certificate}`])
      expect(faults(realmWith(realm(good)))).toEqual([])
    for (const bad of [
      'any text',
      broken,
      `${certificate}${broken}`,
      certificate.slice(0, -30),
      certificate.replace('\n', 'A'.repeat(12_000_000)),
      '\n',
    ])
      expect(faults(realmWith(realm(bad)))).toEqual([`${place} invalid_value`])
  })
})
