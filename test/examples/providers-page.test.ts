// Reads tokens of the shape of each provider by the entries that the page of providers has for it.

import { beforeAll, expect, it } from '@jest/globals'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLocalJWKSet, SignJWT } from 'jose'
import { parse } from 'yaml'
import { identify } from '../../dataplane/oidc/login/issue-ticket.ts'
import {
  createIssuedTokens,
  type IssuedTokens,
} from '../../dataplane/security/tokens/issued-token.ts'
import type { KeySetCache } from '../../dataplane/security/tokens/key-set-cache.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { validateRealm } from '../../language/validate-realm.ts'
import { realmRecord } from '../../operator/resource/realm-record.ts'
import { checkRealmSpec } from '../../operator/resource/realm-spec-schema.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/security/providers.md'), 'utf8')
const GUID = '00000000-0000-0000-0000-000000000000'

/** The blocks of a section: the entry of a login, the list of trusted issuers. */
const blocksOf = (title: string): Readonly<Record<string, unknown>>[] => {
  const [, section = ''] = PAGE.split(`\n## ${title}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(
    ([, block = '']) => parse(block) as Readonly<Record<string, unknown>>,
  )
}

const realmOf = (title: string): RealmRecord => {
  const blocks = blocksOf(title)
  const issuers = blocks.find((block) => 'trustedIssuers' in block)
  const entry = blocks.find((block) => 'issuer' in block)
  const spec = {
    uri: 'com.acme.shop',
    ...issuers,
    ...(entry && { info: { oidcProviders: { corp: { ...ENTRY, ...entry } } } }),
  }
  expect(checkRealmSpec(spec)).toEqual([])
  const record = realmRecord(spec, () => 'secret')
  expect(validateRealm(record)).not.toHaveProperty('problems')
  return record
}

const ENTRY = {
  clientId: 'gateway',
  clientSecret: { secretRef: { name: 'oidc', key: 'client-secret' } },
  redirectUri: 'https://api.acme.test/my/oidc/corp/callback',
}

it.each<[string, object, object]>([
  [
    'Keycloak',
    {
      preferred_username: 'alice',
      realm_access: { roles: ['shop-user', 'offline_access'] },
      resource_access: { 'shop.acme.test': { roles: ['shop-admin'] } },
    },
    { authid: 'alice', authroles: ['shop-user', 'shop-admin'] },
  ],
  [
    'Entra ID',
    { oid: 'o-1', tid: GUID, preferred_username: 'a@acme.test', roles: ['Admin'] },
    { authid: 'o-1', authroles: ['Admin'], claims: { tenant: GUID } },
  ],
  [
    'Entra ID of several tenants',
    { oid: 'o-1', tid: GUID, preferred_username: 'alice' },
    { authid: 'o-1', claims: { tenant: GUID } },
  ],
  [
    'Auth0',
    { nickname: 'alice', 'https://acme.test/roles': ['admin'] },
    { authid: 's-1', authroles: ['admin'] },
  ],
  ['Google', { hd: 'acme.test', email_verified: true }, { authid: 's-1', authroles: [] }],
  ['Google', { email_verified: true }, { refused: 'require' }],
  ['Google', { hd: 'acme.test', email_verified: false }, { refused: 'require' }],
  [
    'Azure AD B2C',
    { oid: 'o-1', extension_Roles: 'admin,staff', emails: ['a@acme.test'] },
    { authid: 'o-1', authroles: ['admin', 'staff'] },
  ],
  [
    'Okta',
    { preferred_username: 'alice@acme.test', groups: ['Everyone'] },
    { authid: 'alice@acme.test', authroles: ['Everyone'] },
  ],
  ['Amazon Cognito', { 'cognito:groups': ['admin'] }, { authid: 's-1', authroles: ['admin'] }],
  [
    'Zitadel',
    { 'urn:zitadel:iam:org:project:roles': { admin: { 28: 'acme.test' }, user: { 28: 'x' } } },
    { authid: 's-1', authroles: ['admin', 'user'] },
  ],
  ['Dex', { email: 'a@acme.test', groups: ['g'] }, { authid: 'a@acme.test', authroles: ['g'] }],
  [
    'GitLab',
    { nickname: 'alice', groups_direct: ['acme/shop', 'private'] },
    { authid: 'alice', authroles: ['acme/shop'] },
  ],
  [
    'AD FS',
    { upn: 'alice@acme.test', group: 'ACME\\Shop Admins' },
    { authid: 'alice@acme.test', authroles: ['admin'] },
  ],
  [
    'AD FS',
    {
      upn: 'alice@acme.test',
      group: ['ACME\\Domain Users'],
      'http://schemas.microsoft.com/ws/2008/06/identity/claims/role': 'shop-staff',
    },
    { authroles: ['shop-staff'] },
  ],
  ['Authelia', { groups: ['dev'] }, { authid: 's-1', authroles: ['dev'] }],
  [
    'Ping',
    { username: 'alice', p1: { groups: 'a' }, 'p1.groups': 'admin,staff', memberOf: ['cn=x'] },
    { authid: 'alice', authroles: ['admin', 'staff'], groups: ['cn=x'] },
  ],
])('a login at %s with %j is %j', (title, claims, expected) => {
  const record = realmOf(title).info?.oidc_providers?.['corp']
  if (record === undefined) throw new Error(`no entry for ${title}`)
  const loggedIn = {
    provider: { name: 'corp', record },
    exchanged: { idToken: '', claims: { sub: 's-1', ...claims } },
  }
  const person = (): unknown => {
    try {
      return identify(loggedIn as never)
    } catch (error) {
      return { refused: (error as { setting?: string }).setting }
    }
  }
  expect(person()).toMatchObject(expected)
})

let key: KeyObject
let tokens: IssuedTokens

beforeAll(() => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  key = pair.privateKey
  const jwks = { keys: [{ ...pair.publicKey.export({ format: 'jwk' }), kid: 'k' }] } as never
  const set = { jwks, keyOf: createLocalJWKSet(jwks) }
  const cache = { find: () => Promise.resolve(set), findNewer: () => Promise.resolve(undefined) }
  tokens = createIssuedTokens({
    keys: { at: () => cache as unknown as KeySetCache },
    now: Date.now,
  })
})

const KEYCLOAK = 'https://id.acme.test/realms/shop'
const ENTRA = `https://login.microsoftonline.com/${GUID}/v2.0`
const ENTRA_V1 = `https://sts.windows.net/${GUID}/`
const COGNITO = 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc'
const OKTA = 'https://acme.okta.com/oauth2/default'
const SUPABASE = 'https://abc.supabase.co/auth/v1'
const HYDRA = 'https://hydra.acme.test/'

it.each<[string, object, object]>([
  [
    'Keycloak',
    {
      iss: KEYCLOAK,
      aud: ['account', 'https://api.acme.test'],
      azp: 'spa',
      preferred_username: 'alice',
      realm_access: { roles: ['shop-user'] },
      scope: 'openid email',
    },
    { sub: 'alice', clientId: 'spa', roles: ['shop-user'], scopes: ['openid', 'email'] },
  ],
  ['Keycloak', { iss: KEYCLOAK, aud: 'account' }, { reason: 'audience', claim: 'aud' }],
  [
    'Entra ID',
    { iss: ENTRA, aud: '11111111-1111-1111-1111-111111111111', oid: 'o-1', azp: 'c', roles: ['R'] },
    { sub: 'o-1', clientId: 'c', roles: ['R'] },
  ],
  [
    'Entra ID',
    { iss: ENTRA_V1, aud: 'api://shop', oid: 'o-1', appid: 'c', scp: 'Read Write' },
    { sub: 'o-1', clientId: 'c', scopes: ['Read', 'Write'] },
  ],
  [
    'Auth0',
    {
      iss: 'https://acme.eu.auth0.com/',
      aud: 'https://api.acme.test',
      scope: 'read',
      permissions: ['read', 'write'],
      'https://acme.test/roles': ['admin'],
    },
    { roles: ['admin'], scopes: ['read', 'write'] },
  ],
  [
    'Okta',
    {
      iss: OKTA,
      aud: 'api://default',
      sub: 'alice@acme.test',
      cid: 'c',
      groups: ['g'],
      scp: ['x'],
    },
    { sub: 'alice@acme.test', clientId: 'c', roles: ['g'], scopes: ['x'] },
  ],
  [
    'Amazon Cognito',
    {
      iss: COGNITO,
      client_id: '4abc',
      token_use: 'access',
      'cognito:groups': ['g'],
      username: 'a',
    },
    { sub: 's-1', clientId: '4abc', roles: ['g'] },
  ],
  [
    'Amazon Cognito',
    { iss: COGNITO, client_id: '5xyz', token_use: 'access' },
    { reason: 'audience', claim: 'client_id', expected: '4abc' },
  ],
  [
    'Amazon Cognito',
    { iss: COGNITO, aud: '4abc', client_id: '4abc', token_use: 'id' },
    { reason: 'claim', claim: 'token_use', expected: 'access' },
  ],
  [
    'Amazon Cognito',
    { iss: COGNITO, aud: '5xyz', client_id: '4abc', token_use: 'access' },
    { reason: 'audience', claim: 'aud' },
  ],
  [
    'Supabase',
    {
      iss: SUPABASE,
      aud: 'authenticated',
      role: 'authenticated',
      app_metadata: { roles: ['admin'], tenant: 'acme' },
      user_metadata: { roles: ['root'] },
    },
    { roles: ['authenticated', 'admin'], claims: { tenant: 'acme' } },
  ],
  [
    'Ory Hydra',
    { iss: HYDRA, aud: [], client_id: 'shop-app', scp: ['read'], ext: { roles: ['admin'] } },
    { clientId: 'shop-app', roles: ['admin'], scopes: ['read'] },
  ],
  ['Ory Hydra', { iss: HYDRA, aud: [], client_id: 'other' }, { reason: 'audience' }],
  ['Ory Hydra', { iss: HYDRA, client_id: ['shop-app'] }, { reason: 'audience' }],
])('a token of %s with %j gives %j', async (title, claims, expected) => {
  const token = await new SignJWT({
    sub: 's-1',
    exp: Math.floor(Date.now() / 1000) + 60,
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .sign(key)
  const reading = await tokens.read(realmOf(title), token)
  expect(reading.kind === 'genuine' ? reading.issued : { ...reading }).toMatchObject(
    reading.kind === 'genuine' ? expected : { refusal: expected },
  )
})
