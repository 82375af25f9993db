import { describe, expect, it } from '@jest/globals'
import {
  completeExplanation,
  documentsToFold,
} from '../../../language/explain/complete-explanation.ts'
import { compiledRoutes } from '../../../language/explain/compiled-routes.ts'
import { explainRoute } from '../../../language/explain/explain-route.ts'
import type { Explanation } from '../../../language/explain/explanation.ts'
import { foldDocument } from '../../../language/explain/fold-document.ts'
import { readRequest } from '../../../language/explain/read-request.ts'
import { documentOf, STATIC } from '../documents.ts'

const USERS = documentOf({
  api: {
    id: 'users',
    host: 'api.acme.com',
    versions: {
      v1: {
        base_path: '/v1',
        paths: {
          '/users/:id': {
            security: { type: 'basic', groups: ['admins'] },
            get: STATIC,
            post: { action: { type: 'forward', host: 'http://up.test' } },
          },
          '/users/:id/posts': { get: STATIC },
          '/chat': {
            get: { action: { type: 'forward', host: 'http://up.test', upgrade: ['websocket'] } },
          },
          '/up': { get: { action: { type: 'forward', host: 'http://up.test' } } },
          '/json': { accepts: ['application/json'], provides: ['application/json'], post: STATIC },
          '/small': { body_max_bytes: 10, put: STATIC },
          '/secure': { schemes: ['https'], get: STATIC },
          '/calls': { get: { action: { type: 'wamp_call', procedure: 'com.acme.add' } } },
          '/page': { security: { type: 'oidc', unauthenticated: 'redirect' }, get: STATIC },
          '/token': {
            security: { type: 'oauth2', flow: 'client_credentials', scopes: ['read'] },
            get: STATIC,
          },
          '/key': { security: { type: 'api_key', header_name: 'X-Key' }, get: STATIC },
          '/either': {
            security: [
              { type: 'api_key', header_name: 'X-Key' },
              { type: 'basic', groups: ['a'] },
            ],
            get: STATIC,
          },
          '/optional': { security: [{ type: 'api_key', header_name: 'X-Key' }, {}], get: STATIC },
          '/inside': { security: { networks: ['10.0.0.0/8'] }, get: STATIC },
          '/login': {
            security: [
              { type: 'api_key', header_name: 'X-Key' },
              { type: 'oidc', unauthenticated: 'redirect' },
            ],
            get: STATIC,
          },
          '/files/[...]': { get: STATIC },
          '/constructor/__proto__': { get: STATIC },
        },
      },
      v0: { base_path: '/v0', is_active: false, paths: { '/users': { get: STATIC } } },
    },
  },
})
const CLOSED = documentOf({
  api: {
    id: 'closed',
    host: 'closed.acme.com',
    versions: {
      v1: { base_path: '/[v1]', wamp_websocket: false, paths: { '/[...]': { get: STATIC } } },
      v2: { base_path: '/v2', wamp_websocket: false, paths: { '/:id': { get: STATIC } } },
      v3: { base_path: '/', wamp_websocket: false, paths: { '/v2/ws': { post: STATIC } } },
    },
  },
})
const WILD = documentOf({
  api: {
    id: 'wild',
    host: ':tenant.acme.com',
    versions: { v1: { base_path: '/', paths: { '/only/here': { get: STATIC } } } },
  },
})

const explain = (
  method: string,
  url: string,
  headers: readonly string[] = [],
  documents: readonly object[] = [USERS, WILD],
): Explanation => {
  const foldings = documents.map((document) => foldDocument(document, []))
  const folded = foldings.flatMap((folding) => ('folded' in folding ? [folding] : []))
  expect(folded).toHaveLength(documents.length)
  const reading = readRequest({ method, url, headers })
  if ('error' in reading) throw new Error(reading.error)
  const route = explainRoute(reading.request, {
    table: compiledRoutes(folded.map(({ compiled }) => compiled)),
    hasRouter: () => true,
  })
  const wanted = documentsToFold(route)
  return completeExplanation(
    route,
    new Map(
      folded
        .filter(({ folded: { id } }) => wanted.includes(id))
        .map((each) => [each.folded.id, each]),
    ),
  )
}

const BASIC = 'Authorization: Basic YTpi'
const H = 'http://api.acme.com'

interface Row {
  readonly of: string
  readonly request: readonly [method: string, url: string, headers?: readonly string[]]
  readonly outcome: string
}

const rows: readonly Row[] = [
  { of: 'another host', request: ['GET', 'http://other.test/v1/users/1'], outcome: '404 route' },
  { of: 'another path', request: ['GET', `${H}/v1/nothing`], outcome: '404 route' },
  { of: 'a prototype name as path', request: ['GET', `${H}/v1/__proto__`], outcome: '404 route' },
  {
    of: 'a prototype name as method',
    request: ['constructor', `${H}/v1/json`],
    outcome: '405 method',
  },
  { of: 'a broken percent-encoding', request: ['GET', `${H}/v1/%zz`], outcome: '400 head' },
  { of: 'another method', request: ['DELETE', `${H}/v1/json`], outcome: '405 method' },
  { of: 'http where https is served', request: ['GET', `${H}/v1/secure`], outcome: '404 route' },
  {
    of: 'https where it is served',
    request: ['GET', 'https://api.acme.com/v1/secure'],
    outcome: 'served static',
  },
  {
    of: 'no credentials for basic',
    request: ['GET', `${H}/v1/users/1`],
    outcome: '401 authenticate',
  },
  {
    of: 'another scheme of credentials',
    request: ['GET', `${H}/v1/users/1`, ['Authorization: Bearer x']],
    outcome: '401 authenticate',
  },
  {
    of: 'some credentials for basic',
    request: ['GET', `${H}/v1/users/1`, [BASIC]],
    outcome: 'served static',
  },
  {
    of: 'HEAD, which GET serves',
    request: ['HEAD', `${H}/v1/users/1`, [BASIC]],
    outcome: 'served static',
  },
  { of: 'no key', request: ['GET', `${H}/v1/key`], outcome: '401 authenticate' },
  { of: 'a key', request: ['GET', `${H}/v1/key`, ['x-key: k']], outcome: 'served static' },
  { of: 'no token', request: ['GET', `${H}/v1/token`], outcome: '401 authenticate' },
  {
    of: 'a token',
    request: ['GET', `${H}/v1/token`, ['Authorization: bearer t']],
    outcome: 'served static',
  },
  {
    of: 'a program without a ticket',
    request: ['GET', `${H}/v1/page`],
    outcome: '401 authenticate',
  },
  {
    of: 'a browser without a ticket',
    request: ['GET', `${H}/v1/page`, ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document']],
    outcome: '302 authenticate',
  },
  { of: 'a cookie', request: ['GET', `${H}/v1/page`, ['Cookie: a=b']], outcome: 'served static' },
  {
    of: 'a type that is not provided',
    request: ['POST', `${H}/v1/json`, ['Accept: text/html']],
    outcome: '406 negotiate',
  },
  {
    of: 'a forward, whatever Accept says',
    request: ['POST', `${H}/v1/users/1`, [BASIC, 'Accept: text/html']],
    outcome: 'served forward',
  },
  {
    of: 'a page of another site, with a password of the browser',
    request: ['POST', `${H}/v1/users/1`, [BASIC, 'Sec-Fetch-Site: cross-site']],
    outcome: '403 authenticate',
  },
  {
    of: 'JSON of a page of another site',
    request: [
      'POST',
      `${H}/v1/users/1`,
      [BASIC, 'Sec-Fetch-Site: cross-site', 'Content-Type: application/json'],
    ],
    outcome: 'served forward',
  },
  {
    of: 'an upload that the document does not name',
    request: ['POST', `${H}/v1/users/1`, [BASIC, 'Content-Type: multipart/form-data; boundary=b']],
    outcome: '415 negotiate',
  },
  {
    of: 'a picture through a forward',
    request: ['POST', `${H}/v1/users/1`, [BASIC, 'Content-Type: image/png']],
    outcome: 'served forward',
  },
  {
    of: 'two types',
    request: [
      'POST',
      `${H}/v1/json`,
      ['Content-Type: text/plain', 'Content-Type: application/json'],
    ],
    outcome: '415 negotiate',
  },
  {
    of: 'a body of another type',
    request: ['POST', `${H}/v1/json`, ['Content-Type: text/plain']],
    outcome: '415 negotiate',
  },
  {
    of: 'a body without a type',
    request: ['POST', `${H}/v1/json`, ['Content-Length: 3']],
    outcome: '415 negotiate',
  },
  {
    of: 'a body that is too long',
    request: ['PUT', `${H}/v1/small`, ['Content-Type: application/json', 'Content-Length: 11']],
    outcome: '413 body',
  },
  {
    of: 'a body that fits',
    request: ['PUT', `${H}/v1/small`, ['Content-Type: application/json', 'Content-Length: 10']],
    outcome: 'served static',
  },
  { of: 'a WAMP call', request: ['GET', `${H}/v1/calls`], outcome: 'served wamp_call' },
  {
    of: 'events of a WAMP call',
    request: ['GET', `${H}/v1/calls`, ['Accept: text/event-stream']],
    outcome: 'served wamp_call',
  },
  { of: 'a catch-all', request: ['GET', `${H}/v1/files/a/b/c`], outcome: 'served static' },
  {
    of: 'an unsafe segment below a catch-all',
    request: ['GET', `${H}/v1/files/%2e%2e/c`],
    outcome: '404 route',
  },
  {
    of: 'prototype names that a document has',
    request: ['GET', `${H}/v1/constructor/__proto__`],
    outcome: 'served static',
  },
  {
    of: 'an undeclared OPTIONS',
    request: ['OPTIONS', `${H}/v1/users/1`],
    outcome: 'served built-in preflight',
  },
  { of: 'a login', request: ['GET', `${H}/v1/oidc/login`], outcome: 'served built-in login' },
  {
    of: 'the keys',
    request: ['GET', 'http://any.test/.well-known/jwks.json'],
    outcome: 'served built-in keys',
  },
  {
    of: 'a POST to the keys',
    request: ['POST', 'http://any.test/.well-known/jwks.json'],
    outcome: '405 method',
  },
  { of: 'a WebSocket path', request: ['GET', `${H}/v1/ws`], outcome: '426 upgrade' },
  {
    of: 'a WebSocket',
    request: ['GET', `${H}/v1/ws`, ['Upgrade: websocket']],
    outcome: 'served WebSocket → router of the realm',
  },
  {
    of: 'a WebSocket through a forward',
    request: ['GET', `${H}/v1/chat`, ['Upgrade: websocket']],
    outcome: 'served forward',
  },
  { of: 'a plain GET there', request: ['GET', `${H}/v1/chat`], outcome: 'served forward' },
  {
    of: 'a WebSocket through a forward without upgrade',
    request: ['GET', `${H}/v1/up`, ['Upgrade: websocket']],
    outcome: '400 upgrade',
  },
  {
    of: 'another protocol there',
    request: ['GET', `${H}/v1/up`, ['Upgrade: h2c']],
    outcome: 'served forward',
  },
  {
    of: 'a path alone',
    request: ['GET', '/v1/calls', ['Host: api.acme.com']],
    outcome: 'served wamp_call',
  },
  {
    of: 'a Host beside the URL',
    request: ['GET', 'http://127.0.0.1:8080/v1/calls', ['Host: api.acme.com']],
    outcome: 'served wamp_call',
  },
]

describe('explaining a request', () => {
  const RESERVED = /wamp_websocket: false/
  const SERVED = /action static responds/
  it.each([
    ['GET', '/ws', RESERVED],
    ['GET', '/v1/ws', RESERVED],
    ['GET', '/v1/ws/', RESERVED],
    ['GET', '/v1/%77s', RESERVED],
    ['GET', '/v1/ws/x', SERVED],
    ['GET', '/v1/was', SERVED],
    ['GET', '/v2/was', SERVED],
    ['GET', '/v2/ws', /it serves OPTIONS, POST/],
    ['POST', '/v2/ws', SERVED],
  ])('keeps /ws of a version that closes it from its other paths: %s %s', (method, path, text) => {
    const { verdict } = explain(method, `http://closed.acme.com${path}`, [], [CLOSED])
    expect(verdict.message).toMatch(text)
  })

  it.each<[string, string, string, RegExp]>([
    ['that has the method', '/x', 'GET', /may use/],
    ['that lacks it', '/x', 'PATCH', /GET, HEAD, OPTIONS only/],
    ['of a method that no path has', '/x', 'BREW', /GET, HEAD, OPTIONS only/],
    ['without cors', '/y', 'PATCH', /responds with Allow/],
    ['without the methods of another cors', '/z', 'GET', /may use GET, HEAD$/],
    ['without those that an operation has another cors for', '/z', 'PUT', /may use OPTIONS, PUT$/],
    ['whose cors has none of its methods', '/z', 'POST', /may use no method only$/],
  ])('answers a preflight by the path %s', (_, path, wanted, text) => {
    const cors = { origins: ['https://a.test'] }
    const own = { ...STATIC, cors: { ...cors, credentials: true } }
    const none = { ...STATIC, cors: { ...cors, allowed_methods: ['DELETE'] } }
    const paths = {
      '/x': { cors, get: STATIC },
      '/y': { get: STATIC },
      '/z': { cors, get: own, put: STATIC, post: none },
    }
    const versions = { v1: { base_path: '/', paths } }
    const document = documentOf({ api: { id: 'pages', host: 'pages.acme.com', versions } })
    const headers = ['Origin: https://a.test', `Access-Control-Request-Method: ${wanted}`]
    const { verdict } = explain('OPTIONS', `http://pages.acme.com${path}`, headers, [document])
    expect(verdict.message).toMatch(text)
  })

  it.each(rows)('decides as the gateway does for $of', ({ request, outcome }) => {
    const [method, url, headers] = request
    const { verdict, route } = explain(method, url, headers)
    const found =
      verdict.outcome === 'served' ? `served ${route?.action}` : `${verdict.status} ${verdict.step}`
    expect(found).toBe(outcome)
  })

  it('says which hosts were tried, and what kept the nearest path from matching', () => {
    expect(explain('GET', `${H}/v1/users/1/comments`).tried).toEqual([
      {
        outcome: 'missed',
        document: 'users',
        host: 'api.acme.com',
        path: '/v1/users/:id/posts',
        matched_segments: 3,
        reason: 'segment',
      },
      expect.objectContaining({ document: 'wild', host: ':tenant.acme.com', outcome: 'missed' }),
    ])
  })

  it('names a host that was tried in vain before the one that serves', () => {
    const { tried, route } = explain('GET', `${H}/only/here`)
    expect(tried.map(({ document, outcome }) => [document, outcome])).toEqual([
      ['users', 'missed'],
      ['wild', 'matched'],
    ])
    expect(route).toMatchObject({
      document: 'wild',
      path: '/only/here',
      pointer: '/versions/v1/paths/~1only~1here/get',
    })
  })

  it.each([
    ['another method', 'DELETE', `${H}/v1/json`, '/versions/v1/paths/~1json'],
    ['another scheme', 'GET', `${H}/v1/secure`, '/versions/v1/paths/~1secure'],
    ['the keys', 'POST', `${H}/.well-known/jwks.json`, null],
  ])('points to the path where that has no operation for %s', (_, method, url, pointer) => {
    expect(explain(method, url).route).toMatchObject({ pointer, method: null })
  })

  it('names the inactive version that would have the path', () => {
    expect(explain('GET', `${H}/v0/users`).inactive).toEqual([
      { document: 'users', version: 'v0', path: '/v0/users' },
    ])
  })

  it('says what the security demands beside the credentials', () => {
    const { checks } = explain('GET', `${H}/v1/users/1`)
    expect(checks).toContainEqual({
      name: 'security',
      result: 'fail',
      message:
        'basic (groups: admins): basic needs user and password in Authorization: Basic, and the request has none',
    })
  })

  it.each<[string, readonly string[], string]>([
    [
      '/users/1',
      [BASIC],
      'The action static responds to callers who satisfy basic (groups: admins); all others get 401 or 403',
    ],
    ['/only/here', [BASIC], 'The action static responds'],
  ])('says in the verdict of %s for whom it is', (path, headers, message) => {
    const { verdict } = explain('GET', `${H}${path === '/users/1' ? '/v1' : ''}${path}`, headers)
    expect(verdict).toEqual({ outcome: 'served', status: null, message })
  })

  const PAGE = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document']

  it.each<[string, string, readonly string[], number | null, string, RegExp]>([
    [
      'neither is there',
      '/either',
      [],
      401,
      'fail',
      /^api_key \(header_name: x-key\) or basic \(groups: a\): api_key needs .*, or basic needs .*, and the request has none$/,
    ],
    ['one is there', '/either', ['X-Key: k'], null, 'unknown', /there is a key in the header/],
    [
      'both are there',
      '/either',
      ['X-Key: k', 'Authorization: Basic YTpi'],
      null,
      'unknown',
      /there is a key .* and user and password/,
    ],
    [
      'none is needed',
      '/optional',
      [],
      null,
      'pass',
      /^there are no credentials, and none are needed$/,
    ],
    [
      'one is there that is not needed',
      '/optional',
      ['X-Key: k'],
      null,
      'unknown',
      /which realm com.acme verifies/,
    ],
    [
      'only the network counts',
      '/inside',
      [],
      null,
      'unknown',
      /none \(networks: 10\.0\.0\.0\/8\): .*networks too: the address is that of the connection/,
    ],
    ['a page has none', '/login', PAGE, 302, 'fail', /and the request has none$/],
    ['a page has a key', '/login', [...PAGE, 'X-Key: k'], null, 'unknown', /there is a key/],
  ])(
    'says of several schemes what it knows: %s',
    (...[, path, headers, status, result, message]) => {
      const { checks, verdict } = explain('GET', `${H}/v1${path}`, headers)
      const check = checks.find(({ name }) => name === 'security')
      expect([verdict.outcome === 'rejected' ? verdict.status : null, check?.result]).toEqual([
        status,
        result,
      ])
      expect(check?.message).toMatch(message)
    },
  )

  it('repeats no value of a header', () => {
    const headers = ['Authorization: Basic c2VjcmV0', 'Cookie: t=s3cr3t', 'X-Key: s3cr3t']
    const text = JSON.stringify(explain('GET', `${H}/v1/users/1?token=s3cr3t`, headers))
    expect(text).not.toMatch(/c2VjcmV0|s3cr3t/)
  })
})

describe('reading the request to explain', () => {
  const many = Array.from({ length: 101 }, (_, index) => `X-${index}: 1`)
  it.each([
    ['a URL of any length', ['GET', `http://a.test/${'x'.repeat(9000)}`, []], /8192/],
    ['too many headers', ['GET', 'http://a.test/', many], /100 headers/],
    ['a huge header', ['GET', 'http://a.test/', [`A: ${'x'.repeat(20_000)}`]], /16384/],
    ['a header without a colon', ['GET', 'http://a.test/', ['Accept']], /Name: value/],
    ['a line break in a header', ['GET', 'http://a.test/', ['A: b\r\nC: d']], /line breaks/],
    ['another protocol', ['GET', 'ftp://a.test/', []], /http:\/\//],
    ['no host', ['GET', '/x', []], /Host/],
    ['two hosts', ['GET', '/x', ['Host: a', 'Host: b']], /two Host/],
    ['a user in the URL', ['GET', 'http://me:pw@a.test/', []], /not valid/],
    ['a blank', ['GET', 'http://a.test/a b', []], /blanks/],
    ['a method that is no token', ['G T', 'http://a.test/', []], /method/],
  ] as const)('refuses %s, and does not repeat it', (_what, [method, url, headers], words) => {
    const reading = readRequest({ method, url, headers: [...headers] })
    expect(reading).toEqual({ error: expect.stringMatching(words) })
    expect(JSON.stringify(reading)).not.toMatch(/pw|xxxx/)
  })
})
