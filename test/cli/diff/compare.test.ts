// Tests which differences between documents are found, and what each means for callers and owners.

import { describe, expect, it } from '@jest/globals'
import { type Change, compare } from '../../../cli/diff/compare.ts'
import { entriesOfDocuments } from '../../../cli/diff/document-entries.ts'
import { changesText } from '../../../cli/diff/difference-text.ts'
import type { Entry } from '../../../cli/diff/entry.ts'
import { foldDocument } from '../../../language/explain/fold-document.ts'

type Members = Readonly<Record<string, unknown>>

const GET = { action: { type: 'static', body: { sku: 'a' } } }

const document = (version: Members, api: Members = {}): Members => ({
  id: 'com.example.orders',
  host: 'api.example.com',
  realm_uri: 'com.example',
  versions: { v1: { base_path: '/v1', paths: { '/orders': { get: GET } }, ...version } },
  ...api,
})

/** A document whose only path is `/orders`. */
const withPath = (path: Members): Members =>
  document({ paths: { '/orders': { get: GET, ...path } } })

const withGet = (get: Members): Members => withPath({ get: { ...GET, ...get } })

const withAction = (action: Members): Members => withGet({ action })

const entriesOf = (documents: readonly Members[], hasRouter = false): readonly Entry[] =>
  entriesOfDocuments(
    documents.map((each) => {
      const folding = foldDocument(each, ['key'])
      if ('problems' in folding) throw new Error(JSON.stringify(folding.problems))
      return { ...folding, placeOf: (pointer: string) => `a.yaml:1:1${pointer}` }
    }),
    () => hasRouter,
  )

const changesOf = (before: readonly Members[], after: readonly Members[]): readonly Change[] =>
  compare(entriesOf(before), entriesOf(after))

const lines = (before: readonly Members[], after: readonly Members[]): readonly string[] =>
  changesText(changesOf(before, after)).split('\n').slice(0, -1)

const ORDERS = 'GET api.example.com/v1/orders'

describe('routes, hosts and versions', () => {
  const two = { '/orders': { get: GET }, '/items': { get: GET } }
  it.each<[string, readonly Members[], readonly Members[], readonly string[]]>([
    ['nothing', [document({})], [document({})], []],
    [
      'another name of a version',
      [document({})],
      [document({}, { versions: { w: { base_path: '/v1', paths: { '/orders': { get: GET } } } } })],
      [],
    ],
    [
      'another name of a binding, which clients do not see',
      [document({ paths: { '/orders/:id': { get: GET } } })],
      [document({ paths: { '/orders/:sku': { get: GET } } })],
      [],
    ],
    [
      'a value that moves from the operation to its path, or to the defaults',
      [withGet({ timeout: 5000 })],
      [document({ defaults: { timeout: 5000 } })],
      [],
    ],
    [
      'a new route',
      [document({})],
      [document({ paths: two })],
      ['changed   + GET api.example.com/v1/items  action static, security none'],
    ],
    [
      'a route that goes',
      [document({ paths: two })],
      [document({})],
      ['breaking  - GET api.example.com/v1/items  action static, security none'],
    ],
    [
      'a version that is turned off',
      [document({}), document({ base_path: '/v2' }, { id: 'b' })],
      [document({}), document({ base_path: '/v2', is_active: false }, { id: 'b' })],
      ['breaking  - GET api.example.com/v2/orders  action static, security none'],
    ],
    [
      'another host',
      [document({})],
      [document({}, { host: 'b.test' })],
      [
        'breaking  - host api.example.com',
        'changed   + host b.test',
        `breaking  - ${ORDERS}  action static, security none`,
        'changed   + GET b.test/v1/orders  action static, security none',
      ],
    ],
    [
      'a route that moves to another document',
      [document({})],
      [document({}, { id: 'b' })],
      [`changed   ~ ${ORDERS}  document com.example.orders → b`],
    ],
    [
      'a version that is deprecated',
      [document({})],
      [document({ is_deprecated: true })],
      [
        'changed   ~ version v1 of com.example.orders  is_deprecated unset → true',
        'changed   ~ version v1 of com.example.orders  deprecation_headers unset → {"deprecation":"true"}',
      ],
    ],
    [
      'the date of a deprecation',
      [document({ is_deprecated: true, meta: { sunset_at: '2030-01-01' } })],
      [document({ is_deprecated: true, meta: { sunset_at: '2031-01-01' } })],
      [
        'changed   ~ version v1 of com.example.orders  deprecation_headers.sunset Tue, 01 Jan 2030 00:00:00 GMT → Wed, 01 Jan 2031 00:00:00 GMT',
      ],
    ],
    [
      'the status of an error',
      [document({ status_codes: { 'com.example.gone': 404 } })],
      [document({ status_codes: { 'com.example.gone': 410 } })],
      ['breaking  ~ version v1 of com.example.orders  status_codes.com.example.gone 404 → 410'],
    ],
    [
      'what answers where no path matches',
      [document({})],
      [document({ defaults: { on_refusal: { body: 'no' } } })],
      [
        'may break ~ version v1 of com.example.orders  on_refusal unset → {"headers":{},"body":"no"}',
        `may break ~ ${ORDERS}  on_refusal unset → {"headers":{},"body":"no"}`,
      ],
    ],
    [
      'a smaller pool and a language less',
      [document({ pool_size: 9, languages: ['en', 'de'] })],
      [document({ pool_size: 8, languages: ['en'] })],
      [
        'may break ~ version v1 of com.example.orders  pool_size 9 → 8',
        'breaking  ~ version v1 of com.example.orders  languages ["en","de"] → ["en"]',
      ],
    ],
  ])('%s', (_, before, after, wanted) => {
    expect(lines(before, after)).toEqual(wanted)
  })
})

describe('members of an operation', () => {
  const forward = (more: Members = {}): Members =>
    withAction({ type: 'forward', host: 'http://a.test', ...more })
  const onResult = (on_result: Members): Members => withGet({ response: { on_result } })

  it.each<[string, Members, Members, readonly string[]]>([
    [
      'another body',
      withAction({ type: 'static', body: { sku: 'a' } }),
      withAction({ type: 'static', body: { sku: 'b' } }),
      [`may break ~ ${ORDERS}  action.body.sku a → b`],
    ],
    [
      'a member more in a body',
      withAction({ type: 'static', body: { sku: 'a' } }),
      withAction({ type: 'static', body: { sku: 'a', price: 1 } }),
      [`changed   ~ ${ORDERS}  action.body.price unset → 1`],
    ],
    [
      'a member less in a body',
      withAction({ type: 'static', body: { sku: 'a', price: 1 } }),
      withAction({ type: 'static', body: { sku: 'a' } }),
      [`may break ~ ${ORDERS}  action.body.price 1 → unset`],
    ],
    [
      'another upstream',
      forward(),
      forward({ host: 'http://b.test' }),
      [`changed   ~ ${ORDERS}  action.host http://a.test → http://b.test`],
    ],
    [
      'another path at the upstream',
      forward(),
      forward({ path: '/x' }),
      [`may break ~ ${ORDERS}  action.path unset → /x`],
    ],
    [
      'a shorter time',
      withGet({ timeout: 5000 }),
      withGet({ timeout: 4000 }),
      [`may break ~ ${ORDERS}  limits.timeout 5000 → 4000`],
    ],
    [
      'a longer time',
      withGet({ timeout: 4000 }),
      withGet({ timeout: 5000 }),
      [`changed   ~ ${ORDERS}  limits.timeout 4000 → 5000`],
    ],
    [
      'another status',
      onResult({ status_code: 200 }),
      onResult({ status_code: 201 }),
      [`breaking  ~ ${ORDERS}  on_result.status_code 200 → 201`],
    ],
    [
      'a header more and a header less',
      onResult({ headers: { 'x-a': '1' } }),
      onResult({ headers: { 'x-b': '1' } }),
      [
        `may break ~ ${ORDERS}  response_headers.x-a 1 → unset`,
        `changed   ~ ${ORDERS}  response_headers.x-b unset → 1`,
      ],
    ],
    [
      'a media type less',
      withPath({ provides: ['application/json', 'application/msgpack'] }),
      withPath({ provides: ['application/json'] }),
      [
        `breaking  ~ ${ORDERS}  provides ["application/json","application/msgpack"] → ["application/json"]`,
      ],
    ],
    [
      'a range of media types around those before',
      withPath({ accepts: ['text/plain', 'application/json'] }),
      withPath({ accepts: ['text/*', 'application/json'] }),
      [
        `changed   ~ ${ORDERS}  accepts ["text/plain","application/json"] → ["text/*","application/json"]`,
      ],
    ],
    [
      'http where there was none',
      withPath({ schemes: ['https'] }),
      withPath({ schemes: ['http', 'https'] }),
      [`loosened  ~ ${ORDERS}  schemes ["https"] → ["http","https"]`],
    ],
    ['schemes in another order', withPath({ schemes: ['https', 'http'] }), withPath({}), []],
    [
      'http that is redirected',
      withPath({}),
      withPath({ redirect_http: true }),
      [`breaking  ~ ${ORDERS}  schemes ["http","https"] → ["https","redirect_http"]`],
    ],
    [
      'pages that read fewer headers',
      withPath({ cors: { origins: ['https://a.test'], exposed_headers: ['x-a'] } }),
      withPath({ cors: { origins: ['https://a.test'] } }),
      [
        `breaking  ~ ${ORDERS}  cors {"origins":["https://a.test"],"allowed_headers":[],"exposed_headers":["x-a"],"credentials":false} → {"origins":["https://a.test"],"allowed_headers":[],"exposed_headers":[],"credentials":false}`,
      ],
    ],
  ])('%s', (_, before, after, wanted) => {
    expect(lines([before], [after])).toEqual(wanted)
  })

  it('says that a secret which stands in a document has changed, and never shows it', () => {
    const withSecret = (secret: string): Members => forward({ headers: { 'x-api-key': secret } })
    const changes = changesOf([withSecret('s3cr3t-1')], [withSecret('s3cr3t-2')])
    expect(changesText(changes)).toBe(
      `may break ~ ${ORDERS}  action.headers.x-api-key (hidden) has changed\n`,
    )
    expect(JSON.stringify(changes)).not.toContain('s3cr3t')
  })

  it('shows long texts from where they differ', () => {
    const [before, after] = ['a', 'b'].map((end) =>
      withAction({ type: 'static', body: `${'x'.repeat(1000)}${end}` }),
    )
    expect(lines([before ?? {}], [after ?? {}])).toEqual([
      `may break ~ ${ORDERS}  action.body …${'x'.repeat(30)}a → …${'x'.repeat(30)}b`,
    ])
  })

  it('judges a member that it does not know as one that may break a caller', () => {
    const [entry] = entriesOf([document({})]).filter(({ kind }) => kind === 'route')
    if (entry === undefined) throw new Error('there is no route')
    const after = {
      ...entry,
      full: { ...entry.full, quota: 1 },
      shown: { ...entry.shown, quota: 1 },
    }
    expect(compare([entry], [after])).toMatchObject([
      { effects: ['may break'], differences: [{ what: 'quota', after: 1 }] },
    ])
  })
})

describe('rate limits', () => {
  const FAIR = { requests: 10, seconds: 60, burst: 20, cost: 2 }
  const limited = (more: Members): Members => ({ fair: { ...FAIR, ...more } })

  it.each<[string, Members | undefined, Members | undefined, readonly string[]]>([
    ['come', undefined, limited({}), ['breaking']],
    ['are more', limited({}), { ...limited({}), more: FAIR }, ['breaking']],
    ['go', limited({}), undefined, ['loosened']],
    ['are fewer', { ...limited({}), more: FAIR }, limited({}), ['loosened']],
    ['let more requests through', limited({}), limited({ requests: 11 }), ['loosened']],
    ['let fewer requests through', limited({}), limited({ requests: 9 }), ['breaking']],
    ['are refilled within less time', limited({}), limited({ seconds: 59 }), ['loosened']],
    ['are refilled within more time', limited({}), limited({ seconds: 61 }), ['breaking']],
    ['let more come at once', limited({}), limited({ burst: 21 }), ['loosened']],
    ['count a request less', limited({}), limited({ cost: 1 }), ['loosened']],
    ['count a request more', limited({}), limited({ cost: 3 }), ['breaking']],
    ['count by something else', limited({}), limited({ by: '{{request.host}}' }), ['may break']],
    [
      'depend on the request',
      limited({}),
      limited({ requests: '{{request.headers.x}}' }),
      ['may break'],
    ],
  ])('%s', (_, before, after, effects) => {
    const [left, right] = [before, after].map((limits) =>
      withGet(limits === undefined ? {} : { rate_limits: limits }),
    )
    expect(changesOf([left ?? {}], [right ?? {}]).flatMap((each) => each.effects)).toEqual(effects)
  })
})

describe('schemas', () => {
  const BODY = { type: 'object', required: ['sku'] }
  const REPORTED = { schema: { result: { properties: { body: BODY } } } }
  it.each<[string, Members, Members, readonly string[]]>([
    ['come', {}, { schema: { body: BODY } }, ['breaking']],
    ['go', { schema: { body: BODY } }, {}, ['loosened']],
    [
      'of one more part come',
      { schema: { body: BODY } },
      { schema: { body: BODY, headers: {} } },
      ['breaking'],
    ],
    [
      'of one part go',
      { schema: { body: BODY, headers: {} } },
      { schema: { body: BODY } },
      ['loosened'],
    ],
    [
      'have another keyword',
      { schema: { body: BODY } },
      { schema: { body: { ...BODY, maxProperties: 3 } } },
      ['may break'],
    ],
    ['hold results back', REPORTED, { ...REPORTED, schema_mode: 'enforce' }, ['may break']],
    ['report them alone', { ...REPORTED, schema_mode: 'enforce' }, REPORTED, ['loosened']],
    ['name the default', REPORTED, { ...REPORTED, schema_mode: 'report' }, []],
  ])('%s', (_, before, after, effects) => {
    const changes = changesOf([withGet(before)], [withGet(after)])
    expect(changes.flatMap((each) => each.effects)).toEqual(effects)
  })
})

describe('the OpenAPI description of a version', () => {
  const described = (more: Members): Members => document({ openapi: '/openapi.json', ...more })
  const PLACE = 'GET api.example.com/v1/openapi.json'

  it('is no difference of its own where its text follows another one', () => {
    const changed = { '/orders': { get: GET, post: GET } }
    expect(lines([described({})], [described({ paths: changed })])).toEqual([
      'changed   + POST api.example.com/v1/orders  action static, security none',
    ])
  })

  it('nor is its page', () => {
    const paged = (more: Members): Members => document({ docs_page: '/docs', ...more })
    const changed = { '/orders': { get: GET, post: GET } }
    expect(lines([paged({})], [paged({ paths: changed })])).toEqual([
      'changed   + POST api.example.com/v1/orders  action static, security none',
    ])
  })

  it('is one where it comes, or others may read it', () => {
    expect(lines([document({})], [described({})])).toEqual([
      `changed   + ${PLACE}  action static, security none`,
    ])
    const guarded = described({ openapi: { path: '/openapi.json', security: basic() } })
    expect(lines([guarded], [described({})])).toEqual([
      `loosened  ~ ${PLACE}  security basic → none`,
    ])
  })
})

const basic = (more: Members = {}): Members => ({ type: 'basic', ...more })
const KEY = { type: 'api_key', header_name: 'x-key' }

describe('security', () => {
  it.each<[string, unknown, unknown, readonly string[]]>([
    ['is taken away', basic(), {}, ['loosened']],
    ['is added', {}, basic(), ['breaking']],
    ['gets a requirement', basic(), basic({ groups: ['staff'] }), ['breaking']],
    ['loses a requirement', basic({ groups: ['staff'] }), basic(), ['loosened']],
    ['has other groups', basic({ groups: ['a'] }), basic({ groups: ['a', 'b'] }), ['loosened']],
    ['has fewer groups', basic({ groups: ['a', 'b'] }), basic({ groups: ['a'] }), ['breaking']],
    ['has them in another order', basic({ groups: ['a', 'b'] }), basic({ groups: ['b', 'a'] }), []],
    [
      'needs one scope more',
      { type: 'oauth2', flow: 'client_credentials', scopes: ['a'] },
      { type: 'oauth2', flow: 'client_credentials', scopes: ['a', 'b'] },
      ['breaking'],
    ],
    ['is another scheme', basic(), KEY, ['loosened', 'breaking']],
    ['has another header', KEY, { ...KEY, header_name: 'x-other' }, ['loosened', 'breaking']],
    ['gets an alternative', basic(), [basic(), KEY], ['loosened']],
    ['becomes optional', basic(), [basic(), {}], ['loosened']],
    ['loses an alternative', [basic(), KEY], KEY, ['breaking']],
    ['was optional', [basic(), {}], [KEY, {}], ['may break']],
    [
      'lets a network in without credentials',
      basic(),
      [basic(), { networks: ['10.0.0.0/8'] }],
      ['loosened'],
    ],
    [
      'is for one network',
      [basic(), KEY],
      [basic({ networks: ['10.0.0.0/8'] }), { ...KEY, networks: ['10.0.0.0/8'] }],
      ['breaking'],
    ],
    [
      'is for a wider network',
      { networks: ['10.0.0.0/16'] },
      { networks: ['10.0.0.0/8'] },
      ['loosened'],
    ],
    [
      'is for a narrower network',
      { networks: ['2001:db8::/32'] },
      { networks: ['2001:db8::1'] },
      ['breaking'],
    ],
    [
      'is taken away from a group whose name looks like an alternative',
      basic({ groups: ['a) or none (networks: 10.0.0.0/8'] }),
      { networks: ['10.0.0.0/8'] },
      ['loosened', 'breaking'],
    ],
    [
      'redirects who is not logged in',
      { type: 'oidc' },
      { type: 'oidc', unauthenticated: 'redirect' },
      ['may break'],
    ],
  ])('%s', (_, before, after, effects) => {
    const [left, right] = [before, after].map((security) => withPath({ security }))
    const differences = changesOf([left ?? {}], [right ?? {}])
      .flatMap((change) => change.differences)
      .filter(({ what }) => what === 'security')
    expect(differences.flatMap((each) => each.effects)).toEqual(effects)
  })

  it.each<[string, unknown, readonly string[]]>([
    ['may let in others where it asks for credentials', basic(), ['loosened', 'breaking']],
    ['may break a caller where it asks for none', {}, ['may break']],
  ])('another realm %s', (_, security, effects) => {
    const before = document({ security })
    const after = document({ security }, { realm_uri: 'com.other' })
    expect(changesOf([before], [after]).map((each) => each.effects)).toEqual([effects])
  })
})

describe('pages of other origins', () => {
  const [A, B] = ['https://a.test', 'https://b.test']
  it.each<[string, unknown, unknown, readonly string[]]>([
    ['come', undefined, { origins: [A] }, ['loosened']],
    ['are more', { origins: [A] }, { origins: [A, B] }, ['loosened']],
    ['are all', { origins: [A] }, { origins: ['*'] }, ['loosened']],
    ['are fewer', { origins: [A, B] }, { origins: [A] }, ['breaking']],
    ['are named', { origins: ['*'] }, { origins: [A] }, ['breaking']],
    ['go', { origins: [A] }, undefined, ['breaking']],
    ['get cookies', { origins: [A] }, { origins: [A], credentials: true }, ['loosened']],
    ['are in another order', { origins: [A, B] }, { origins: [B, A] }, []],
    ['ask less often', { origins: [A] }, { origins: [A], max_age_seconds: 5 }, ['changed']],
    [
      'may use fewer methods',
      { origins: [A] },
      { origins: [A], allowed_methods: ['GET'] },
      ['breaking'],
    ],
  ])('%s', (_, before, after, effects) => {
    const [left, right] = [before, after].map((cors) =>
      cors === undefined ? withPath({}) : withPath({ cors }),
    )
    expect(changesOf([left ?? {}], [right ?? {}]).flatMap((each) => each.effects)).toEqual(effects)
  })
})

describe('a WebSocket to the router, beside a path', () => {
  const socketLines = (before: readonly Entry[], after: readonly Entry[]): readonly string[] =>
    changesText(compare(before, after))
      .split('\n')
      .filter((line) => line.includes('/v1/ws'))
  const guarded = withPath({ security: basic() })

  it.each<[string, readonly Entry[], Members, readonly string[]]>([
    [
      'that asks for credentials, is looser if it is new and open',
      entriesOf([guarded]),
      guarded,
      [
        'loosened  + GET api.example.com/v1/ws  action WebSocket → router of the realm, security none',
      ],
    ],
    [
      'that comes with it, is looser too',
      entriesOf([]),
      guarded,
      [
        'loosened  + GET api.example.com/v1/ws  action WebSocket → router of the realm, security none',
      ],
    ],
    [
      'that is open, is not',
      entriesOf([document({})]),
      document({}),
      [
        'changed   + GET api.example.com/v1/ws  action WebSocket → router of the realm, security none',
      ],
    ],
    [
      'is not looser where it asks too',
      entriesOf([document({ security: basic() })]),
      document({ security: basic() }),
      [
        'changed   + GET api.example.com/v1/ws  action WebSocket → router of the realm, security basic',
      ],
    ],
    [
      'that the version closes, goes',
      entriesOf([document({})], true),
      document({ wamp_websocket: false }),
      [
        'breaking  - GET api.example.com/v1/ws  action WebSocket → router of the realm, security none',
      ],
    ],
    [
      'has a security of its own',
      entriesOf([document({ security: basic() })], true),
      document({ security: basic(), wamp_websocket: { security: {} } }),
      ['loosened  ~ GET api.example.com/v1/ws  security basic → none'],
    ],
  ])('%s', (_, before, after, wanted) => {
    expect(socketLines(before, entriesOf([after], true))).toEqual(wanted)
  })
})
