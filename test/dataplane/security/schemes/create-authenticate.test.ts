import { describe, expect, it } from '@jest/globals'
import type { Identity } from '../../../../dataplane/security/schemes/authentication.ts'
import {
  meetsRequirements,
  missingRequirements,
} from '../../../../dataplane/security/schemes/requirements.ts'
import type { SecurityRequirements, SecurityScheme } from '../../../../language/compile/security.ts'
import type { RealmRecord } from '../../../../language/realm/record.ts'
import { quickHash } from '../phc.ts'
import {
  callerOf,
  headersOf,
  REALM,
  securityHome,
  statusOf,
  ticketOrder,
} from '../security-home.ts'

type Secured = SecurityScheme

const RECORD: RealmRecord = {
  uri: REALM,
  authmethods: ['oidcrp', 'cookie'],
  users: [{ username: 'alice', password_hash: quickHash('wonderland'), groups: ['staff', 'read'] }],
}
const OAUTH2 = {
  type: 'oauth2',
  flow: 'client_credentials',
  tokenPath: '/t',
  revokeTokenPath: '/r',
} as const
const DEMANDS: readonly (readonly [string, Secured])[] = [
  ['basic', { type: 'basic' }],
  ['api_key', { type: 'api_key', headerName: 'x-api-key' }],
  ['oauth2', OAUTH2],
  ['oidc', { type: 'oidc', provider: 'corp' }],
]
const RIGHT = Buffer.from('alice:wonderland').toString('base64')
const BASIC = [['Authorization', `Basic ${RIGHT}`]] as const

describe.each(DEMANDS)('%s', (scheme, demand) => {
  it.each<[string, readonly RealmRecord[]]>([
    ['a realm that is not there', []],
    ['a realm without users', [{ uri: REALM }]],
    ['a realm of a reserved name', [{ uri: '__proto__' }]],
  ])('refuses in %s', async (_, realms) => {
    const home = securityHome({ realms })
    const credentials = [
      ...BASIC,
      ['x-api-key', 'x'],
      ['Cookie', `svc_ticket_${REALM}=a.b.c`],
    ] as const
    for (const headers of [[], credentials])
      expect(statusOf(await home.call(demand, headers))).toBe(401)
    expect(statusOf(await home.call(demand, credentials, { realm: 'constructor' }))).toBe(401)
  })

  it('refuses at once who presents nothing', () => {
    const home = securityHome({ realms: [RECORD] })
    const verdict = home.authenticate(demand, REALM, callerOf([]))
    expect(verdict).toMatchObject({ kind: 'refused', error: { code: 'svc.error.unauthorized' } })
    expect(home.audited).toEqual([])
    expect(scheme).toBe(demand.type)
  })
})

describe('requirements', () => {
  it.each<[string, object, number]>([
    ['nothing', {}, 200],
    ['one of the groups', { groups: ['other', 'staff'] }, 200],
    ['a role by a group', { roles: ['staff'] }, 200],
    ['another group', { groups: ['other'] }, 403],
    ['another role', { groups: ['staff'], roles: ['other'] }, 403],
    ['another group in spite of the role', { groups: ['other'], roles: ['staff'] }, 403],
    ['none at all', { groups: [] }, 403],
    ['a reserved name', { groups: ['constructor', 'length'] }, 403],
    ['scopes, which passwords do not carry', { scopes: ['staff'] }, 403],
    ['no scopes', { scopes: [] }, 200],
  ])('basic: %s', async (_, requirements, status) => {
    const home = securityHome({ realms: [RECORD] })
    for (let round = 0; round < 2; round++) {
      const verdict = await home.call({ type: 'basic', ...requirements }, BASIC)
      expect(statusOf(verdict)).toBe(status)
      expect(headersOf(verdict)).toEqual({})
    }
    expect(home.audited).toHaveLength(status === 403 ? 1 : 0)
  })

  it.each<[string, object, number]>([
    ['all scopes', { scopes: ['read', 'staff'] }, 200],
    ['one scope missing', { scopes: ['read', 'write'] }, 403],
    ['a group', { groups: ['staff'] }, 200],
    ['another group', { groups: ['other'] }, 403],
  ])('oauth2: %s', async (_, requirements, status) => {
    const home = securityHome({ realms: [RECORD] })
    const { jwt } = await home.accessTokens.issue({
      realmUri: REALM,
      sub: 'alice',
      clientId: 'app',
      scopes: ['read', 'staff'],
      groups: ['read', 'staff'],
    })
    const headers = [['Authorization', `Bearer ${jwt}`]] as const
    const verdict = await home.call({ ...OAUTH2, ...requirements }, headers)
    expect(statusOf(verdict)).toBe(status)
    const wanted = 'scopes' in requirements && status === 403
    expect(headersOf(verdict)['www-authenticate']).toBe(
      wanted
        ? `Bearer realm="${REALM}", error="insufficient_scope", scope="read write"`
        : undefined,
    )
  })

  it.each<[string, object, number]>([
    ['a role', { roles: ['admins'] }, 200],
    ['another role', { roles: ['root'] }, 403],
    ['scopes, which tickets do not carry', { scopes: ['realm'] }, 403],
  ])('oidc: %s', async (_, requirements, status) => {
    const home = securityHome({ realms: [RECORD] })
    const { jwt } = await home.tickets.issueTicket(ticketOrder())
    const demand = { type: 'oidc', provider: 'corp', ...requirements } as const
    const cookie = [['Cookie', `svc_ticket_${REALM}=${jwt}`]] as const
    expect(statusOf(await home.call(demand, cookie))).toBe(status)
  })
})

describe('the audit log', () => {
  it('says who failed, where and why, and never with what', async () => {
    const home = securityHome({ realms: [RECORD] })
    const wrong = Buffer.from('alice:s3cret').toString('base64')
    await home.call({ type: 'basic' }, [['Authorization', `Basic ${wrong}`]])
    await home.call({ type: 'basic', groups: ['x'] }, BASIC)
    await home.call(OAUTH2, [['Authorization', 'Bearer s3cret']])
    const event = {
      event: 'authentication',
      outcome: 'failure',
      realm: REALM,
      address: '192.0.2.1',
      requestId: 'request-1',
    }
    expect(home.audited).toEqual([
      { ...event, scheme: 'basic', reason: 'wrong_password', authid: 'alice' },
      {
        ...event,
        scheme: 'basic',
        reason: 'forbidden',
        authid: 'alice',
        missing: 'one of groups: x',
      },
      { ...event, scheme: 'oauth2', reason: 'malformed', expected: 'a signed JWT' },
    ])
  })
})

describe('missingRequirements', () => {
  it.each<[string, SecurityRequirements, string]>([
    ['a group', { groups: ['ops', 'root'] }, 'one of groups: ops, root'],
    ['a role', { groups: ['staff'], roles: ['root'] }, 'one of roles: root'],
    ['some scopes', { scopes: ['read', 'write', 'erase'] }, 'scopes: write, erase'],
    [
      'all',
      { groups: ['ops'], roles: ['root'], scopes: ['write'] },
      'one of groups: ops; one of roles: root; scopes: write',
    ],
    ['nothing', { groups: ['staff'], roles: ['reader'], scopes: ['read'] }, ''],
  ])('names %s', (_, requirements, missing) => {
    expect(missingRequirements(requirements, CALLER)).toBe(missing)
    expect(meetsRequirements(requirements, CALLER)).toBe(missing === '')
  })
})

const CALLER: Identity = {
  type: 'oauth2',
  realm_uri: REALM,
  authid: 'alice',
  username: 'alice',
  authmethod: 'oauth2',
  authroles: ['reader'],
  groups: ['staff'],
  client_id: '',
  session: '',
  scope: ['read'],
  locale: '',
  meta: {},
  claims: {},
}

describe('a fault', () => {
  const failing = (): never => {
    throw new Error('a bug')
  }

  it('at once lets no caller in, and nothing out', () => {
    const home = securityHome({ realms: [RECORD] })
    home.realms.get = failing
    expect(home.authenticate({ type: 'basic' }, REALM, callerOf(BASIC))).toMatchObject({
      kind: 'refused',
      error: { code: 'svc.error.internal', message: expect.not.stringContaining('bug') },
    })
  })

  it('later lets no caller in either', async () => {
    const home = securityHome({
      realms: [RECORD],
      wrap: (shared) => Object.assign(shared, { isRevoked: failing }),
    })
    const { jwt } = await home.tickets.issueTicket(ticketOrder())
    const headers = [['Authorization', `Bearer ${jwt}`]] as const
    const verdict = await home.call({ type: 'oidc', provider: 'corp' }, headers)
    expect(verdict).toMatchObject({ kind: 'refused', error: { code: 'svc.error.internal' } })
  })
})
