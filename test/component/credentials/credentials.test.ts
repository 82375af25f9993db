// Real gateways that authenticate at upstreams with credentials of their realm: what reaches the upstream, what never
// leaves the gateway, and what a client and the log are told when there is nothing to send.

import { createRemoteJWKSet, jwtVerify } from 'jose'
import { describe, expect, it } from '@jest/globals'
import { startIdp } from '../../../dev/idp/idp.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { startGateway } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import { redisAvailability, startRedis } from '../../support/redis-server.ts'
import { describeWhenAvailable } from '../../support/when-available.ts'
import { hashPassword } from '../../../dataplane/security/passwords/hash-password.ts'
import {
  forwarding,
  loadCredentials,
  REALM_URI,
  startTokenEndpoint,
  startUpstream,
} from './credentials-rig.ts'

const SECRET = 'never-to-be-seen-anywhere'

const clientOf = (token_endpoint: string, more: object = {}): object => ({
  token_endpoint,
  client_id: 'gateway',
  client_secret: SECRET,
  allow_unsafe_http: true,
  ...more,
})

it('sends bearer and basic in place of what the client sent, and shows them nowhere', async () => {
  await using upstream = await startUpstream()
  const { origin } = upstream
  await using gateway = await startGateway()
  const credentials = {
    fixed: { origins: [origin], bearer: { token: SECRET } },
    user: { origins: [origin], basic: { username: 'gw', password: SECRET } },
  }
  await loadCredentials(
    gateway,
    { credentials },
    {
      '/bearer': { get: forwarding(origin, 'fixed') },
      '/basic': { post: forwarding(origin, 'user') },
      '/plain': { get: { action: { type: 'forward', host: origin }, response: {} } },
      '/map': { get: forwarding(origin, 'fixed', { headers: '{{request.headers}}' }) },
    },
  )
  const headers = { authorization: 'Bearer of-the-client' }
  await request(`${gateway.public}/v1/bearer`, { headers })
  await request(`${gateway.public}/v1/basic`, { method: 'POST', headers, body: 'hello' })
  await request(`${gateway.public}/v1/plain`, { headers })
  await request(`${gateway.public}/v1/map`, { headers })
  const basic = `Basic ${Buffer.from(`gw:${SECRET}`).toString('base64')}`
  expect(upstream.seen.map(({ authorization }) => authorization)).toEqual([
    `Bearer ${SECRET}`,
    basic,
    'Bearer of-the-client',
    `Bearer ${SECRET}`,
  ])
  const counts = upstream.seen.map(
    ({ rawHeaders }) => rawHeaders.filter((each) => /^authorization$/i.test(each)).length,
  )
  expect(counts).toEqual([1, 1, 1, 1])
  expect(upstream.seen[1]?.body).toBe('hello')
  const realm = await request(`${gateway.management}/realms/${REALM_URI}`)
  const metrics = await request(`${gateway.management}/metrics`)
  const all = [realm.text, metrics.text, ...gateway.logs()].join('\n')
  expect(all).not.toContain(SECRET)
  expect(all).not.toContain(basic)
}, 60_000)

it('shows a client certificate to the upstream that requires it, and to no other request', async () => {
  const ca = createCertificateAuthority('upstream CA')
  const clients = createCertificateAuthority('client CA')
  await using upstream = await startUpstream({ ...ca.issue('billing.test'), ca: clients.cert })
  const { origin } = upstream
  await using gateway = await startGateway()
  const own = clients.issue('gateway')
  const other = clients.issue('other')
  const certificate = (pair: typeof own, more: object = {}): object => ({
    origins: [origin],
    certificate: {
      certificate: pair.cert,
      private_key: pair.key,
      ca: ca.cert,
      server_name: 'billing.test',
      ...more,
    },
  })
  await loadCredentials(
    gateway,
    {
      credentials: {
        own: certificate(own),
        other: certificate(other),
        wrongName: certificate(own, { server_name: 'bank.test' }),
        wrongCa: certificate(own, { ca: clients.cert }),
      },
    },
    {
      '/own': { get: forwarding(origin, 'own') },
      '/other': { get: forwarding(origin, 'other') },
      '/wrong-name': { get: forwarding(origin, 'wrongName') },
      '/wrong-ca': { get: forwarding(origin, 'wrongCa') },
      '/none': { get: { action: { type: 'forward', host: origin }, response: {} } },
    },
  )
  const statuses: number[] = []
  const headers = { authorization: 'Bearer of-the-client' }
  for (const path of ['own', 'other', 'own', 'wrong-name', 'wrong-ca', 'none', 'own'])
    statuses.push((await request(`${gateway.public}/v1/${path}`, { headers })).status)
  expect(statuses).toEqual([200, 200, 200, 504, 504, 504, 200])
  expect(upstream.seen.map((each) => each.certificate)).toEqual([
    'gateway',
    'other',
    'gateway',
    'gateway',
  ])
  // A certificate is no header: that of the client passes.
  expect(upstream.seen[0]?.authorization).toBe('Bearer of-the-client')
}, 60_000)

it('refuses an origin that the credential is not for, whatever the request makes of the host', async () => {
  await using upstream = await startUpstream()
  await using thief = await startUpstream()
  const { port } = new URL(upstream.origin)
  const thiefPort = new URL(thief.origin).port
  await using gateway = await startGateway()
  await loadCredentials(
    gateway,
    { credentials: { fixed: { origins: [upstream.origin], bearer: { token: SECRET } } } },
    {
      '/any': {
        get: forwarding('{{request.query_params.host}}', 'fixed', { path: '/', query_string: '' }),
      },
    },
  )
  const ask = async (host: string): Promise<number> =>
    (await request(`${gateway.public}/v1/any?host=${encodeURIComponent(host)}`)).status
  expect(await ask(`127.0.0.1:${port}`)).toBe(200)
  for (const host of [
    thief.origin,
    `http://127.0.0.1:${port}@127.0.0.1:${thiefPort}`,
    `127.0.0.1:${thiefPort}#127.0.0.1:${port}`,
    `localhost:${port}`,
    `https://127.0.0.1:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    '127.0.0.1',
  ])
    expect([host, await ask(host)]).toEqual([host, expect.not.stringMatching(/^200$/)])
  expect(upstream.seen).toHaveLength(1)
  expect(thief.seen).toEqual([])
  await eventually(() => {
    expect(gateway.logs().join('\n')).toContain('credential_origin')
  })
}, 60_000)

it('gets one token for all, and another one once an upstream refuses it', async () => {
  await using endpoint = await startTokenEndpoint()
  await using upstream = await startUpstream()
  const { origin } = upstream
  await using gateway = await startGateway({ flags: ['--processes', '2'] })
  await loadCredentials(
    gateway,
    {
      credentials: {
        billing: {
          origins: [origin],
          client_credentials: clientOf(endpoint.url, { scopes: ['a', 'b'], audience: 'billing' }),
        },
      },
    },
    { '/x': { get: forwarding(origin, 'billing') } },
  )
  const ask = async (): Promise<number> => (await request(`${gateway.public}/v1/x`)).status
  const statuses = await Promise.all(Array.from({ length: 20 }, ask))
  expect(new Set(statuses)).toEqual(new Set([200]))
  // Two processes, one token.
  expect(endpoint.asked).toHaveLength(1)
  expect(Object.fromEntries(endpoint.asked[0] ?? [])).toEqual({
    grant_type: 'client_credentials',
    scope: 'a b',
    audience: 'billing',
  })
  // RFC 6749 §2.3.1: both are encoded as in a form.
  const [, shown = ''] = endpoint.clients[0]?.split(' ') ?? []
  expect(decodeURIComponent(Buffer.from(shown, 'base64').toString())).toBe(`gateway:${SECRET}`)
  expect(new Set(upstream.seen.map(({ authorization }) => authorization))).toEqual(
    new Set(['Bearer token-1']),
  )
  // It was refused while it is young: the upstream wants none of them, and the server is not asked for each request.
  upstream.status = () => 401
  const refused = await Promise.all(Array.from({ length: 20 }, ask))
  expect(new Set(refused)).toEqual(new Set([401]))
  expect(endpoint.asked).toHaveLength(1)
  expect(gateway.logs().join('\n')).not.toMatch(/token-\d|never-to-be-seen/)
}, 60_000)

it('says why there is no token, in the log, in /why and in the state of the realm', async () => {
  await using endpoint = await startTokenEndpoint()
  await using upstream = await startUpstream()
  const { origin } = upstream
  endpoint.respond = () => ({ status: 401, body: { error: 'invalid_client' } })
  await using gateway = await startGateway()
  const credentials = {
    billing: { origins: [origin], client_credentials: clientOf(endpoint.url) },
  }
  await loadCredentials(gateway, { credentials }, { '/x': { get: forwarding(origin, 'billing') } })
  const response = await request(`${gateway.public}/v1/x`)
  expect(response.status).toBe(504)
  expect(response.json()).toMatchObject({
    code: 'svc.error.bad_gateway',
    message: 'The gateway could not authenticate at the upstream.',
  })
  expect(response.text).not.toMatch(/127\.0\.0\.1|billing|invalid_client/)
  expect(upstream.seen).toEqual([])
  const id = String(response.headers['x-request-id'])
  const why = await request(`${gateway.management}/why/${id}`)
  expect(why.text).toContain('credential_token')
  await eventually(() => {
    expect(gateway.logs().find((line) => line.includes('credential_token'))).toContain(
      'does not accept the client id and secret',
    )
  })
  await eventually(
    async () => {
      const realm = await request(`${gateway.management}/realms/${REALM_URI}`)
      expect(realm.json()).toMatchObject({
        failingCredentials: [{ credential: 'billing', cause: 'invalid_client' }],
      })
    },
    { withinMs: 40_000 },
  )
}, 90_000)

describe('a real authorization server', () => {
  it('gives the gateway tokens of its own, and exchanges those of callers', async () => {
    let issuerKeys = new URL('http://127.0.0.1')
    await using idp = await startIdp({
      port: 0,
      clients: [
        {
          clientId: 'gateway',
          clientSecret: SECRET,
          redirectUris: [],
          grants: ['client_credentials', 'urn:ietf:params:oauth:grant-type:token-exchange'],
        },
      ],
      subjectOf: async (token) => {
        try {
          return (await jwtVerify(token, createRemoteJWKSet(issuerKeys))).payload.sub
        } catch {
          return undefined
        }
      },
    })
    await using upstream = await startUpstream()
    const { origin } = upstream
    await using gateway = await startGateway()
    const user = async (username: string, group: string): Promise<object> => ({
      username,
      password_hash: await hashPassword(`${username}-password`),
      groups: [group],
    })
    const oauth2 = { type: 'oauth2', flow: 'resource_owner_password_credentials' }
    await loadCredentials(
      gateway,
      {
        users: [
          await user('app', 'api_clients'),
          await user('alice', 'resource_owners'),
          await user('bob', 'resource_owners'),
        ],
        credentials: {
          own: { origins: [origin], client_credentials: clientOf(`${idp.origin}/token`) },
          exchanged: { origins: [origin], token_exchange: clientOf(`${idp.origin}/token`) },
        },
      },
      {
        '/own': { get: forwarding(origin, 'own') },
        '/exchanged': { security: oauth2, get: forwarding(origin, 'exchanged') },
      },
    )
    issuerKeys = new URL(`${gateway.public}/.well-known/jwks.json`)
    const logIn = async (username: string): Promise<string> => {
      const response = await request(`${gateway.public}/v1/oauth/token`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${Buffer.from('app:app-password').toString('base64')}`,
        },
        body: new URLSearchParams({
          grant_type: 'password',
          username,
          password: `${username}-password`,
        }).toString(),
      })
      return (response.json() as { readonly access_token: string }).access_token
    }
    expect((await request(`${gateway.public}/v1/own`)).status).toBe(200)
    const [alice, bob] = [await logIn('alice'), await logIn('bob')]
    const ask = async (token: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` }
      return (await request(`${gateway.public}/v1/exchanged`, { headers })).status
    }
    expect([await ask(alice), await ask(alice), await ask(bob)]).toEqual([200, 200, 200])
    const [own, first, second, third] = upstream.seen.map(({ authorization }) => authorization)
    expect(own).toMatch(/^Bearer \S{20,}$/)
    expect(first).toBe(second)
    expect(third).not.toBe(first)
    for (const each of [first, third])
      expect([`Bearer ${alice}`, `Bearer ${bob}`]).not.toContain(each)
    expect(gateway.logs().join('\n')).not.toContain(SECRET)
  }, 60_000)
})

describeWhenAvailable('two replicas with one Redis', redisAvailability(), () => {
  it('share one token, which Redis does not show', async () => {
    await using redis = await startRedis()
    await using endpoint = await startTokenEndpoint()
    await using upstream = await startUpstream()
    const { origin } = upstream
    const flags = ['--redis', redis.url]
    await using one = await startGateway({ flags })
    await using two = await startGateway({ flags })
    const realm = {
      credentials: { billing: { origins: [origin], client_credentials: clientOf(endpoint.url) } },
    }
    for (const gateway of [one, two]) {
      await eventually(async () => {
        expect((await request(`${gateway.management}/ready`)).headers['x-svc-degraded']).toBe(
          undefined,
        )
      })
      await loadCredentials(gateway, realm, { '/x': { get: forwarding(origin, 'billing') } })
      expect((await request(`${gateway.public}/v1/x`)).status).toBe(200)
    }
    expect(upstream.seen.map(({ authorization }) => authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-1',
    ])
    expect(endpoint.asked).toHaveLength(1)
  }, 60_000)
})
