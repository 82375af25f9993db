// A realm with a client and an owner, a document that asks for OAuth 2 tokens, and the calls of both: what tests
// of tokens over several processes and replicas share.

import { generateKeyPairSync } from 'node:crypto'
import { hashPassword } from '../../dataplane/security/passwords/hash-password.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { request, type HttpResponse } from '../support/http-request.ts'
import { post } from './gateway-client.ts'

const REALM_URI = 'com.secured'

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

/** With a key of its own, the same for all gateways that load it: replicas. */
export const securedRealm = async ({ hasOwnKeys = true } = {}): Promise<object> => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const user = async (username: string, group: string): Promise<object> => ({
    username,
    password_hash: await hashPassword(`${username}-password`),
    groups: [group],
  })
  return {
    uri: REALM_URI,
    users: [await user('app', 'api_clients'), await user('alice', 'resource_owners')],
    ...(hasOwnKeys && { signing_keys: [privateKey.export({ type: 'pkcs8', format: 'pem' })] }),
  }
}

const says = (body: unknown): object => ({ action: { type: 'static', body }, response: {} })

const DOCUMENT = {
  id: 'secured',
  host: '_',
  realm_uri: REALM_URI,
  versions: {
    v1: {
      base_path: '/v1',
      defaults: {
        security: { type: 'oauth2', flow: 'resource_owner_password_credentials' },
      },
      paths: {
        '/me': { get: says({ me: '{{security.authid}}' }) },
        '/open': { security: {}, get: says('open') },
      },
    },
  },
}

/** Throws unless both are taken. */
export const loadSecured = async (gateway: GatewayProcess, realm: object): Promise<void> => {
  for (const response of [
    await post(gateway, '/realms', realm),
    await post(gateway, '/api_specs', DOCUMENT),
  ])
    if (response.status !== 204) throw new Error(`${response.status}: ${response.text}`)
}

export const askToken = (
  gateway: GatewayProcess,
  form: Readonly<Record<string, string>>,
  endpoint = 'token',
): Promise<HttpResponse> =>
  request(`${gateway.public}/v1/oauth/${endpoint}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from('app:app-password').toString('base64')}`,
    },
    body: new URLSearchParams(form).toString(),
  })

/** Of alice, by her password. */
export const logIn = async (gateway: GatewayProcess): Promise<Tokens> => {
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password' }
  const response = await askToken(gateway, form)
  if (response.status !== 200) throw new Error(`${response.status}: ${response.text}`)
  return response.json() as Tokens
}

export const refresh = (gateway: GatewayProcess, token: string): Promise<HttpResponse> =>
  askToken(gateway, { grant_type: 'refresh_token', refresh_token: token })

export const statusOf = async (
  gateway: GatewayProcess,
  path: string,
  token?: string,
): Promise<number> => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return (await request(`${gateway.public}/v1${path}`, { headers })).status
}
