// A real gateway with documents whose requests fail in every way that a peer, a document or a caller can bring about,
// and all that can be found out about such a request: log, access log, metrics, span, and GET /why.

import { hash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Decision } from '../../dataplane/decisions/decision.ts'
import { hashPassword } from '../../dataplane/security/passwords/hash-password.ts'
import { startRouter } from '../../dev/router/router.ts'
import { CLIENT, FakeProvider, newPair } from '../dataplane/oidc/fake-provider.ts'
import { writeNames } from '../support/balance/names.ts'
import { createCertificateAuthority } from '../support/certificates.ts'
import { startEchoUpstream } from '../support/echo-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { type HttpResponse, type HttpOptions, request } from '../support/http-request.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import { addressOf, openRawClient } from '../support/raw-client.ts'
import { openRawPeer } from '../support/raw-wamp-peer.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { register } from '../support/wamp-peer.ts'
import { post } from './gateway-client.ts'

export const HOST = 'api.failing.test'
const REALM = 'com.failing'
const SECRETS = [
  '127.0.0.1',
  'no-such-host',
  'ECONN',
  'ENOTFOUND',
  'getaddrinfo',
  'self-signed',
  'certificate',
  'ssl',
]
const AWAY = 'com.failing.away'
/** Longer than all requests take, on any machine. */
const HELD_MS = 120_000
/** A trusted proxy names it: failures of unknown clients are not counted. */
const CLIENT_ADDRESS = '203.0.113.7'
export const WRONG_PASSWORD = `Basic ${Buffer.from('ann:wrong').toString('base64')}`

type Fields = Readonly<Record<string, unknown>>

/** Everything that is known of one request after it has been answered. */
export interface Evidence {
  readonly id: string
  readonly response: HttpResponse
  /** Lines of the log at level `info` and above that have its id; none of the audit log. */
  readonly logged: readonly Fields[]
  readonly audited: readonly Fields[]
  readonly access: Fields
  /** Attributes of its server span. */
  readonly span: Fields
  readonly decision: Decision | undefined
}

export interface FailingRig extends AsyncDisposable {
  /** Sends it with this id. */
  send(id: string, path: string, options?: HttpOptions): Promise<HttpResponse>
  /** Waits until all that is written of it can be read. */
  find(id: string, response: HttpResponse): Promise<Evidence>
  readonly metrics: () => Promise<string>
  /** What no client may learn. */
  readonly secrets: readonly string[]
  readonly origins: Origins
  /** Cookie header of somebody who has logged in. */
  readonly ticket: string
  /** Takes the only connection of the document `narrow`, until it is disposed of. */
  fillPool(): Promise<AsyncDisposable>
}

export const startFailingRig = async (): Promise<FailingRig> => {
  await using own = new AsyncDisposableStack()
  const upstream = own.use(await startEchoUpstream())
  const secure = own.use(
    await listening('https', createTlsServer(createCertificateAuthority('nobody').issue('a.test'))),
  )
  const plain = own.use(await listening('http', createServer()))
  const provider = await FakeProvider.open(newPair('k1'))
  own.defer(() => provider.close())
  const router = await startRouter({ realms: [{ uri: REALM, anonymous: true }] })
  own.defer(() => router.close())
  const callee = own.use(await openRawPeer({ url: router.wsUrl, realm: REALM }))
  await register(callee, 'com.fail', () => ({ error: 'com.app.error.broken' }))
  await register(callee, 'com.never', () => undefined)
  const collector = own.use(await startOtlpReceiver())
  const flags = ['--otlp', collector.url, '--access-log', 'on', '--trusted-proxies', '127.0.0.1/32']
  const directory = own.use(await makeTempDir())
  const names = await writeNames(directory.path)
  // Else the resolver of the machine would be asked, which may take its time.
  await names.set('no-such-host.test', 'ENOTFOUND')
  const gateway = own.use(
    await startGateway({
      flags,
      env: names.environment,
    }),
  )
  const origins = {
    plain: upstream.origin,
    secure: secure.origin,
    wrongTls: plain.origin.replace('http:', 'https:'),
  }
  const issuer = provider.issuer
  await load(gateway, '/realms', await realmOf(router.wsUrl, issuer))
  await load(gateway, '/realms', { uri: AWAY, router: { url: 'ws://127.0.0.1:1/ws' } })
  for (const document of documentsOf(origins)) await load(gateway, '/api_specs', document)
  await joined(gateway)
  const started = own.move()
  return {
    send: (id, path, options = {}) =>
      request(`${gateway.public}${path}`, {
        ...options,
        headers: {
          host: HOST,
          'x-request-id': id,
          'x-forwarded-for': CLIENT_ADDRESS,
          ...options.headers,
        },
      }),
    find: async (id, response) => {
      const lines = await eventually(
        () => {
          const found = gateway.logs().map(parsed)
          const access = found.find((line) => line['id'] === id)
          const span = collector
            .spans()
            .find(({ attributes }) => attributes['svc.request_id'] === id)
          if (access === undefined || span === undefined)
            throw new Error(`nothing is written of ${id}`)
          return { found: found.filter((line) => line['requestId'] === id), access, span }
        },
        { withinMs: 20_000 },
      )
      const { access, span } = lines
      return {
        id,
        response,
        access,
        logged: lines.found.filter((line) => line['audit'] !== true),
        audited: lines.found.filter((line) => line['audit'] === true),
        span: span.attributes,
        decision: await decisionOf(gateway, id),
      }
    },
    metrics: async () => (await request(`${gateway.management}/metrics`)).text,
    secrets: [upstream.authority, ...SECRETS],
    origins,
    ticket: await logIn(gateway, provider),
    fillPool: async () => {
      const holder = await openRawClient(addressOf(gateway.public), HELD_MS)
      holder.send([Buffer.from(`GET /narrow/hold HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)])
      await eventually(() => {
        if (upstream.seen((path) => path === '/hang').length === 0)
          throw new Error('the upstream has not been asked')
      })
      return holder
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

const parsed = (line: string): Fields => {
  try {
    return JSON.parse(line) as Fields
  } catch {
    return {}
  }
}

const decisionOf = async (gateway: GatewayProcess, id: string): Promise<Decision | undefined> => {
  const response = await request(`${gateway.management}/why/${id}`)
  if (response.status !== 200) return undefined
  return (response.json() as { readonly decisions: readonly Decision[] }).decisions[0]
}

/** As a browser does, whose cookies have no attributes here. */
const logIn = async (gateway: GatewayProcess, provider: FakeProvider): Promise<string> => {
  const get = (path: string, cookie = ''): Promise<HttpResponse> =>
    request(`${gateway.public}${path}`, { headers: { host: HOST, cookie } })
  const login = await get('/v1/oidc/login?provider=good')
  const returned = provider.authorize(login.headers.location ?? '')
  const callback = await get(`/v1/oidc/good/callback?${returned.toString()}`, cookiesOf(login))
  return cookiesOf(callback)
}

const cookiesOf = ({ headers }: HttpResponse): string =>
  (headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')

const load = async (gateway: GatewayProcess, path: string, body: unknown): Promise<void> => {
  const { status, text } = await post(gateway, path, body)
  if (status !== 204) throw new Error(text)
}

const joined = (gateway: GatewayProcess): Promise<void> =>
  eventually(async () => {
    const { text } = await request(`${gateway.management}/realms/${REALM}`)
    if (!text.includes('"open"')) throw new Error('the gateway has not joined the router')
  })

interface Peer extends AsyncDisposable {
  readonly origin: string
}

const listening = async (scheme: string, server: Server): Promise<Peer> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const entry = (issuer: string, more: object = {}): object => ({
  issuer,
  client_id: CLIENT.id,
  client_secret: CLIENT.secret,
  redirect_uri: `https://${HOST}/v1/oidc/good/callback`,
  ...more,
})

const realmOf = async (routerUrl: string, issuer: string): Promise<object> => ({
  uri: REALM,
  authmethods: ['oidcrp', 'cookie', 'api_key', 'password'],
  router: { url: routerUrl },
  users: [{ username: 'ann', groups: ['guests'], password_hash: await hashPassword('right') }],
  api_keys: [{ key_sha256: hash('sha256', 'key-of-ann'), username: 'ann' }],
  info: {
    oidc_providers: {
      corp: entry('http://127.0.0.1:1', { allow_unsafe_http: true }),
      plain: entry('http://127.0.0.1:1'),
      good: entry(issuer, { allow_unsafe_http: true }),
      slash: entry(`${issuer}/`, { allow_unsafe_http: true }),
    },
  },
})

export interface Origins {
  readonly plain: string
  readonly secure: string
  readonly wrongTls: string
}

const forward = (host: string, more: object = {}): object => ({
  action: { type: 'forward', host, path: '/echo', ...more },
  response: {},
})

const says = (body: unknown): object => ({ action: { type: 'static', body }, response: {} })

const calls = (procedure: string, more: object = {}): object => ({
  action: { type: 'wamp_call', procedure, ...more },
})

const keyed = (more: object): object => ({ type: 'api_key', header_name: 'x-key', ...more })

const pathsOf = ({ plain, secure, wrongTls }: Origins): Readonly<Record<string, object>> => ({
  '/ok': { get: says('fine'), post: { ...says('{{request.body}}'), body_max_bytes: 10 } },
  '/refused': { get: forward('http://127.0.0.1:1', { retries: 1 }) },
  '/dns': { get: forward('http://no-such-host.test') },
  '/tls': { get: forward(wrongTls) },
  '/untrusted': { get: forward(secure) },
  '/denied': { get: forward('http://169.254.169.254') },
  '/hang-up': { get: forward(plain, { path: '/close/before' }) },
  '/garbage': { get: forward(plain, { path: '/malformed/status-line' }) },
  '/bad-json': {
    get: {
      ...forward(plain, { path: '/malformed/json' }),
      response: { on_result: { body: '{{action.result.body.a}}' } },
    },
  },
  '/slow': { get: forward(plain, { path: '/hang', timeout: 100 }) },
  '/status': { get: forward(plain, { path: '/status/404' }) },
  '/expression': { get: says({ a: [1, '{{request.headers.absent}}'] }) },
  '/key': { post: says('{{request.body |> get(sku)}}') },
  '/secure': { schemes: ['https'], get: says('x') },
  '/anonymous': { security: keyed({}), get: says('x') },
  '/groups': { security: keyed({ groups: ['staff'] }), get: says('x') },
  '/roles': { security: keyed({ roles: ['admin'] }), get: says('x') },
  '/scopes': { security: keyed({ scopes: ['orders.write'] }), get: says('x') },
  '/basic': { security: { type: 'basic' }, get: says('x') },
  '/callee': { get: calls('com.fail') },
  '/nobody': { get: calls('com.no.such') },
  '/never': { get: calls('com.never', { timeout: 100 }) },
})

const documentsOf = (origins: Origins): readonly object[] => [
  {
    id: 'failing',
    host: HOST,
    realm_uri: REALM,
    versions: {
      v1: {
        base_path: '/v1',
        paths: {
          ...pathsOf(origins),
          '/page': { security: { type: 'oidc', provider: 'corp' }, post: says('x') },
        },
      },
      v0: { base_path: '/v0', is_active: false, paths: { '/old': { get: says('x') } } },
    },
  },
  {
    id: 'narrow',
    host: HOST,
    realm_uri: REALM,
    versions: {
      v1: {
        base_path: '/narrow',
        pool_size: 1,
        paths: {
          '/hold': { get: forward(origins.plain, { path: '/hang', timeout: HELD_MS }) },
          '/full': { get: forward(origins.plain, { timeout: 100, connect_timeout: 100 }) },
        },
      },
    },
  },
  {
    id: 'away',
    host: HOST,
    realm_uri: AWAY,
    versions: { v1: { base_path: '/away', paths: { '/call': { get: calls('com.fail') } } } },
  },
]
