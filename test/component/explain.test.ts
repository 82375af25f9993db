// `svc explain` and `routes`, with real gateways: by files and by a gateway they say the same, and the request
// is then answered as they said.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Router, startRouter } from '../../dev/router/router.ts'
import { svc } from '../cli/run-svc.ts'
import { type EchoUpstream, startEchoUpstream } from '../support/echo-upstream.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { post, REALM } from './gateway-client.ts'

const SECRET = 's3cr3t-value'

let router: Router
let upstream: EchoUpstream
let dir: TempDir

beforeAll(async () => {
  router = await startRouter({ realms: [{ uri: REALM, anonymous: true }] })
  upstream = await startEchoUpstream()
  dir = await makeTempDir()
  await mkdir(join(dir.path, 'apis'))
  const files = {
    'realm.json': realmManifest(),
    'shop.json': manifest(shop()),
    'plain.json': other(),
  }
  for (const [name, value] of Object.entries(files))
    await writeFile(join(dir.path, 'apis', name), JSON.stringify(value, null, 2))
})

afterAll(async () => {
  await router.close()
  await upstream.close()
  await dir[Symbol.asyncDispose]()
})

const realmManifest = (): object => ({
  apiVersion: 'gateway.svc.dev/v1alpha1',
  kind: 'Realm',
  metadata: { name: 'component' },
  spec: { uri: REALM, router: { url: router.wsUrl } },
})

const STATIC = { action: { type: 'static', body: { a: 1 } }, response: {} }

const shop = (): object => ({
  id: 'shop',
  host: 'shop.test',
  realm_uri: REALM,
  versions: {
    v1: {
      base_path: '/v1',
      paths: {
        '/static': { get: STATIC, accepts: ['application/json'], post: STATIC },
        '/inside': { security: { networks: ['127.0.0.0/8'] }, post: STATIC },
        '/basic': { security: { type: 'basic', groups: ['staff'] }, get: STATIC },
        '/up/:id': {
          get: {
            action: {
              type: 'forward',
              host: upstream.origin,
              path: '/echo/{{request.bindings.id}}',
              headers: { authorization: 'Bearer {{variables.token}}', 'x-api-key': SECRET },
            },
            response: {},
          },
        },
        '/wamp': {
          get: {
            action: {
              type: 'wamp_publish',
              topic: 'com.shop.seen',
              options: { acknowledge: true },
            },
            response: {},
          },
        },
        '/secure': { schemes: ['https'], get: STATIC },
        '/files/[...]': { get: STATIC },
      },
    },
    v0: { base_path: '/v0', is_active: false, paths: { '/old': { get: STATIC } } },
  },
})

const manifest = (document: object): object => ({
  apiVersion: 'gateway.svc.dev/v1alpha1',
  kind: 'ApiSpecification',
  metadata: { name: 'shop' },
  spec: { variablesFrom: [{ name: 'token', secretRef: { name: 'shop', key: 'token' } }], document },
})

const other = (): object => ({
  id: 'other',
  host: ':name.test',
  realm_uri: REALM,
  versions: { v1: { base_path: '/', paths: { '/other': { get: STATIC } } } },
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Within the test: a process for each of a hundred commands takes longer than all that they ask. */
const run = async (...argv: readonly string[]): Promise<Ran> => {
  const words = argv.map((word) => (FILES.has(word) ? join(dir.path, word) : word))
  const { code, stdout, stderr } = await svc(words)
  const shown = (text: string): string => text.replaceAll(`${dir.path}/`, '')
  return { code, out: shown(stdout), err: shown(stderr) }
}

/** Names in the directory of the test. */
const FILES: ReadonlySet<string> = new Set(['apis', 'faulty.yaml', 'nowhere'])

/** As an operator loads it: the variable comes from a Secret, which the document does not hold. */
const start = async (...flags: readonly string[]): Promise<GatewayProcess> => {
  const gateway = await startGateway({ flags: ['--managed', 'me', ...flags] })
  const entry = (spec: object, more: object = {}): object => ({
    id: (spec as { readonly id: string }).id,
    digest: 'd',
    since: 1,
    spec,
    ...more,
  })
  const state = await request(`${gateway.management}/api_specs?view=state`)
  const sync = async (base: string, more: object): Promise<string> => {
    const call = { managedBy: 'me', epoch: 1, base, ...more }
    const { status, text } = await post(gateway, '/api_specs/_sync', call)
    if (status !== 200 || text.includes('"result":"rejected"')) throw new Error(text)
    return rootDigestIn(text)
  }
  const loaded = await sync(rootDigestIn(state.text), {
    realms: {
      put: [{ uri: REALM, digest: 'r', realm: { uri: REALM, router: { url: router.wsUrl } } }],
      delete: [],
    },
    specs: {
      put: [
        entry(shop(), { variables: { token: `${SECRET}-token` } }),
        entry(other(), { variables: {} }),
      ],
      delete: [],
    },
  })
  // Until all is there, what is not found is 503.
  await sync(loaded, { complete: loaded })
  return gateway
}

const rootDigestIn = (text: string): string =>
  (JSON.parse(text) as { readonly rootDigest: string }).rootDigest

interface Row {
  readonly of: string
  readonly request: readonly [method: string, path: string, headers?: readonly string[]]
  readonly host?: string
  /** Of the response, and of the explanation where it is known before the action. */
  readonly status: number
  readonly isServed?: true
}

/** Without the place, which only files have. */
const explanationIn = (out: string): object => ({ ...(JSON.parse(out) as object), at: '' })

const ROWS: readonly Row[] = [
  { of: 'a host that no document has', request: ['GET', '/v1/static'], host: 'a.b.c', status: 404 },
  { of: 'a path that no document has', request: ['GET', '/v1/nothing'], status: 404 },
  { of: 'a version that is not active', request: ['GET', '/v0/old'], status: 404 },
  { of: 'another scheme', request: ['GET', '/v1/secure'], status: 404 },
  { of: 'another method', request: ['DELETE', '/v1/static'], status: 405 },
  { of: 'Accept', request: ['GET', '/v1/static', ['Accept: text/html']], status: 406 },
  {
    of: 'Content-Type',
    request: ['POST', '/v1/static', ['Content-Type: text/plain']],
    status: 415,
  },
  {
    of: 'a page of another site',
    request: ['POST', '/v1/inside', ['Sec-Fetch-Site: cross-site']],
    status: 403,
  },
  { of: 'a WebSocket path', request: ['GET', '/v1/ws'], status: 426 },
  { of: 'no credentials', request: ['GET', '/v1/basic'], status: 401 },
  { of: 'a static response', request: ['GET', '/v1/static'], status: 200, isServed: true },
  {
    of: 'a forward',
    request: ['GET', '/v1/up/7', ['Accept: text/html']],
    status: 200,
    isServed: true,
  },
  { of: 'a WAMP action', request: ['GET', '/v1/wamp'], status: 200, isServed: true },
  { of: 'a catch-all', request: ['GET', '/v1/files/a/b'], status: 200, isServed: true },
  {
    of: 'a host that a binding matches',
    request: ['GET', '/other'],
    host: 'any.test',
    status: 200,
    isServed: true,
  },
  { of: 'the second host that matches', request: ['GET', '/other'], status: 200, isServed: true },
]

describe.each([
  ['one process', []],
  ['two workers', ['--processes', '2']],
])('a gateway of %s', (_name, flags) => {
  let gateway: GatewayProcess
  beforeAll(async () => {
    gateway = await start(...flags)
  })
  afterAll(() => gateway.kill())

  it.each(ROWS)(
    'answers $of as explain says, by files and by the gateway alike',
    async ({
      request: [method, path, headers = []],
      host = 'shop.test',
      status,
      isServed = false,
    }) => {
      const words = [method, `http://${host}${path}`, ...headers.flatMap((each) => ['-H', each])]
      const [offline, online] = await Promise.all([
        run('explain', ...words, 'apis', '-o', 'json'),
        run('explain', ...words, gateway.management, '-o', 'json'),
      ])
      const [byFiles, byGateway] = [offline, online].map(({ out }) => explanationIn(out))
      expect(byGateway).toEqual(byFiles)
      expect(online.code).toBe(offline.code)
      expect(offline.code).toBe(isServed ? 0 : 1)
      expect(byFiles).toMatchObject({
        verdict: { outcome: isServed ? 'served' : 'rejected', status: isServed ? null : status },
      })
      const sent = Object.fromEntries(
        headers.map((each) => each.split(': ', 2) as [string, string]),
      )
      const response = await request(`${gateway.public}${path}`, {
        method,
        headers: { host, ...sent },
        ...(method === 'POST' && { body: 'x' }),
      })
      expect(response.status).toBe(status)
    },
  )

  it('explains in words, with the place in the file, and shows no secret', async () => {
    const words = ['GET', 'http://shop.test/v1/up/7', '-H', `Authorization: Bearer ${SECRET}`]
    const [offline, online] = await Promise.all([
      run('explain', ...words, 'apis'),
      run('explain', ...words, gateway.management),
    ])
    expect(offline.out).toMatch(
      /^route +GET \/v1\/up\/:id, version v1 of shop, realm com\.component \(apis\/shop\.json:\d+:\d+\)$/m,
    )
    expect(offline.out).toContain('authorization: Bearer {{variables.token}}')
    expect(offline.out).toContain('x-api-key: (hidden)')
    expect(offline.out).toMatch(/^result +served: The action forward responds$/m)
    expect(online.out).toBe(offline.out.replace(/ \(apis\/.*\)$/m, ''))
    expect(`${offline.out}${offline.err}${online.out}${online.err}`).not.toContain(SECRET)
  })

  it('lists the same routes by files and by the gateway', async () => {
    const read = async (...argv: readonly string[]): Promise<readonly object[]> => {
      const { out, code } = await run('routes', ...argv, '-o', 'json')
      expect(code).toBe(0)
      const { routes } = JSON.parse(out) as { readonly routes: readonly { readonly at: string }[] }
      return routes.map((route) => ({ ...route, at: '' }))
    }
    const [offline, online, some] = await Promise.all([
      read('apis'),
      read(gateway.management),
      read(gateway.management, '--match', 'SHOP.test/v1/up'),
    ])
    expect(online).toEqual(offline)
    expect(offline).toHaveLength(13)
    expect(some).toEqual([expect.objectContaining({ action: `forward → ${upstream.origin}` })])
  })

  it('has pages of routes, and the folded document, with entity tags', async () => {
    const read = async (
      path: string,
      tag = '',
    ): Promise<{ status: number; etag: string; body: string }> => {
      const response = await request(`${gateway.management}${path}`, {
        headers: { 'if-none-match': tag },
      })
      return { status: response.status, etag: String(response.headers.etag), body: response.text }
    }
    const first = await read('/routes?limit=3')
    const { routes, next } = JSON.parse(first.body) as { routes: readonly unknown[]; next: string }
    expect(routes).toHaveLength(3)
    const second = await read(`/routes?limit=1000&after=${encodeURIComponent(next)}`)
    const rest = JSON.parse(second.body) as { routes: readonly unknown[]; next: null }
    expect([rest.routes.length, rest.next]).toEqual([10, null])
    expect(await read('/routes?limit=3', first.etag)).toMatchObject({ status: 304, body: '' })
    const folded = await read('/api_specs/shop?view=folded')
    expect(JSON.parse(folded.body)).toMatchObject({
      id: 'shop',
      versions: { v0: { is_active: false } },
    })
    expect(folded.body).toContain('{{variables.token}}')
    expect(folded.body).not.toContain(SECRET)
    expect(await read('/api_specs/shop?view=folded', folded.etag)).toMatchObject({ status: 304 })
  })
})

it.each([
  ['a URL without a host', ['GET', '/x', 'apis'], /a path alone needs its host/],
  ['a URL of any length', ['GET', `http://a.test/${'x'.repeat(9000)}`, 'apis'], /8192 characters/],
  ['a directory that is not there', ['GET', 'http://a.test/', 'nowhere'], /can't read nowhere/],
  [
    'a gateway that is not there',
    ['GET', 'http://a.test/', 'http://127.0.0.1:9'],
    /127\.0\.0\.1:9/,
  ],
])('says in one line that it can say nothing of %s', async (_what, argv, words) => {
  const { code, out, err } = await run('explain', ...argv)
  expect({ code, out, lines: err.trimEnd().split('\n').length }).toEqual({
    code: 2,
    out: '',
    lines: 1,
  })
  expect(err).toMatch(words)
})

it('says which documents are left out, and why', async () => {
  await writeFile(
    join(dir.path, 'faulty.yaml'),
    'id: faulty\nhost: _\nrealm_uri: com.a\nversions: {v1: {}}\n',
  )
  const { code, err } = await run('routes', 'faulty.yaml')
  expect(code).toBe(1)
  expect(err).toMatch(/^left out: faulty\.yaml:4:\d+ faulty .*base_path/m)
})
