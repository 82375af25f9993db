import { afterEach, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { RealmRecord, UserRecord } from '../../../language/realm/record.ts'
import type { Passwords } from '../../../dataplane/security/passwords/passwords.ts'
import { SharedStateError } from '../../../dataplane/shared/shared-state.ts'
import type { OAuthRequest } from '../../../dataplane/oauth2/oauth2-endpoint.ts'
import { anyText } from '../security/any-text.ts'
import {
  APP,
  basic,
  bodyOf,
  formRequest,
  headersOf,
  logIn,
  openTokenRoom,
  OTHER_REALM,
  PASSWORD_FORM,
  REALM,
  refresh,
  revoke,
  START_MS,
  USERS,
  user,
  type Form,
  type TokenRoom,
  type TokenRoomOptions,
} from './token-room.ts'

const rooms: TokenRoom[] = []
const open = (options?: TokenRoomOptions): TokenRoom => {
  const endpointDeps = openTokenRoom(options)
  rooms.push(endpointDeps)
  return endpointDeps
}
afterEach(async () => {
  for (const endpointDeps of rooms.splice(0)) await endpointDeps.shared.close()
})

describe('a password grant', () => {
  it('gives an access token, a refresh token and the groups as scope', async () => {
    const endpointDeps = open()
    const response = await endpointDeps.oauth2.token(formRequest(PASSWORD_FORM))
    expect(response.status).toBe(200)
    expect(bodyOf(response)).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: 900,
      refresh_token: expect.stringMatching(/^svcrt_[\w-]{22}\.0\.[\w-]{65}$/),
      scope: 'resource_owners staff',
    })
    expect(response.headers).toEqual([
      ['content-type', 'application/json'],
      ['cache-control', 'no-store'],
      ['pragma', 'no-cache'],
      ['x-content-type-options', 'nosniff'],
    ])
  })

  it('makes the token of that user, client and realm', async () => {
    const endpointDeps = open()
    const { access_token: jwt } = await logIn(endpointDeps)
    expect(await endpointDeps.accessTokens.verify(REALM, jwt)).toMatchObject({
      iss: REALM,
      aud: REALM,
      sub: 'alice',
      client_id: 'app',
      scope: 'resource_owners staff',
      groups: ['resource_owners', 'staff', 'sales dept'],
      iat: START_MS / 1000,
      exp: START_MS / 1000 + 900,
    })
    expect(await endpointDeps.accessTokens.verify(OTHER_REALM, jwt)).toBeUndefined()
  })

  it.each([
    { scope: 'staff', groups: ['staff'] },
    { scope: 'staff resource_owners', groups: ['resource_owners', 'staff'] },
    { scope: 'staff staff', groups: ['staff'] },
  ])('stands for no more than was requested: $scope', async ({ scope, groups }) => {
    const endpointDeps = open()
    const { access_token: jwt, scope: granted } = await logIn(endpointDeps, { scope })
    expect(granted).toBe(groups.join(' '))
    expect(await endpointDeps.accessTokens.verify(REALM, jwt)).toMatchObject({ groups })
  })

  it('takes a client that authenticates in the form', async () => {
    const endpointDeps = open()
    const form = { ...PASSWORD_FORM, client_id: 'app', client_secret: 'app-secret' }
    expect(await endpointDeps.oauth2.token(formRequest(form, null))).toMatchObject({ status: 200 })
  })

  it('takes a client that names itself beside its Basic credentials', async () => {
    const response = await open().oauth2.token(formRequest({ ...PASSWORD_FORM, client_id: 'app' }))
    expect(response.status).toBe(200)
  })

  it('decodes both parts of Basic credentials', async () => {
    const header = basic('odd:id %+', 'ödd+secret:%')
    expect(await open().oauth2.token(formRequest(PASSWORD_FORM, header))).toMatchObject({
      status: 200,
    })
  })

  it('knows users of reserved names, and only as users', async () => {
    const endpointDeps = open()
    const form = { grant_type: 'password', username: '__proto__', password: 'toString' }
    const header = basic('constructor', '__proto__')
    const response = await endpointDeps.oauth2.token(formRequest(form, header))
    expect(bodyOf(response)).toMatchObject({ scope: 'resource_owners hasOwnProperty' })
  })

  it.each([
    'application/x-www-form-urlencoded; charset=utf-8',
    'Application/X-WWW-Form-Urlencoded;charset="UTF-8"',
  ])('takes a form of type %s', async (type) => {
    const headers = { 'content-type': type, authorization: APP }
    const response = await open().oauth2.token(formRequest(PASSWORD_FORM, null, { headers }))
    expect(response.status).toBe(200)
  })

  it('ignores what it does not know, however often', async () => {
    const form = `${new URLSearchParams(PASSWORD_FORM).toString()}&resource=a&resource=b&__proto__=x&`
    const response = await open().oauth2.token(formRequest(form, APP, { query: 'trace=1' }))
    expect(response.status).toBe(200)
  })
})

describe('client credentials', () => {
  it('give an access token of the client itself, and no refresh token', async () => {
    const endpointDeps = open()
    const response = await endpointDeps.oauth2.token(
      formRequest({ grant_type: 'client_credentials' }),
    )
    const body = bodyOf(response)
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 900,
      scope: 'api_clients robots',
    })
    const claims = await endpointDeps.accessTokens.verify(REALM, body.access_token)
    expect(claims).toMatchObject({ sub: 'app', client_id: 'app' })
    expect(claims).not.toHaveProperty('family')
  })
})

interface RefusalCase {
  readonly name: string
  readonly form?: Form | string
  readonly authorization?: string | null
  readonly more?: Partial<OAuthRequest>
  readonly status: number
  readonly error: string
  readonly reason: string
}

const FORM_AUTH = { client_id: 'app', client_secret: 'app-secret' } as const
const plain = (text: string): string => `Basic ${Buffer.from(text, 'latin1').toString('base64')}`
const ofType = (type: string | undefined): Partial<OAuthRequest> => ({
  headers: { authorization: APP, ...(type === undefined ? {} : { 'content-type': type }) },
})
const withoutGrantType = { username: 'alice', password: 'wonderland' } as const

const MALFORMED: readonly Omit<RefusalCase, 'status' | 'error' | 'reason'>[] = [
  { name: 'JSON', form: JSON.stringify(PASSWORD_FORM), more: ofType('application/json') },
  { name: 'no content type', more: ofType(undefined) },
  { name: 'another charset', more: ofType('application/x-www-form-urlencoded; charset=latin1') },
  { name: 'multipart', more: ofType('multipart/form-data; boundary=x') },
  { name: 'an empty form', form: '' },
  { name: 'no grant_type', form: withoutGrantType },
  { name: 'an empty grant_type', form: { ...withoutGrantType, grant_type: '' } },
  { name: 'no username', form: { grant_type: 'password', password: 'wonderland' } },
  { name: 'no password', form: { grant_type: 'password', username: 'alice' } },
  { name: 'an empty password', form: { ...PASSWORD_FORM, password: '' } },
  { name: 'no refresh_token', form: { grant_type: 'refresh_token' } },
  { name: 'grant_type twice', form: 'grant_type=password&grant_type=password' },
  { name: 'grant_type twice, once empty', form: 'grant_type=&grant_type=client_credentials' },
  { name: 'scope twice', form: 'grant_type=client_credentials&scope=robots&scope=robots' },
  { name: 'a name that can not be decoded', form: 'grant_type=client_credentials&%zz=1' },
  { name: 'a value that is no UTF-8', form: 'grant_type=client_credentials&scope=%ff' },
  {
    name: 'parameters in the query',
    form: '',
    more: { query: new URLSearchParams(PASSWORD_FORM).toString() },
  },
  { name: 'a client in the query', more: { query: 'client_id=app' } },
  { name: 'an encoded name in the query', more: { query: 'client%5Fsecret=x' } },
  { name: 'a form of 64 KiB and more', form: { ...PASSWORD_FORM, x: 'x'.repeat(65_536) } },
  { name: 'Basic and the form', form: { ...PASSWORD_FORM, ...FORM_AUTH } },
  { name: 'Basic and another client_id', form: { ...PASSWORD_FORM, client_id: 'app2' } },
]

const CLIENTS: readonly Omit<RefusalCase, 'status' | 'error'>[] = [
  { name: 'no credentials', authorization: null, reason: 'no_client_credentials' },
  {
    name: 'an id without a secret',
    form: { ...PASSWORD_FORM, client_id: 'app' },
    authorization: null,
    reason: 'no_client_credentials',
  },
  { name: 'Bearer', authorization: 'Bearer abc', reason: 'no_client_credentials' },
  { name: 'Basic alone', authorization: 'Basic', reason: 'no_client_credentials' },
  { name: 'no base64', authorization: 'Basic !!!!', reason: 'no_client_credentials' },
  { name: 'no colon', authorization: plain('app'), reason: 'no_client_credentials' },
  { name: 'no id', authorization: plain(':secret'), reason: 'no_client_credentials' },
  { name: 'no UTF-8', authorization: plain('app:\xff'), reason: 'no_client_credentials' },
  { name: 'a stray %', authorization: plain('app:100%'), reason: 'no_client_credentials' },
  { name: 'a wrong secret', authorization: basic('app', 'x'), reason: 'wrong_client_secret' },
  { name: 'an empty secret', authorization: basic('app', ''), reason: 'wrong_client_secret' },
  { name: 'an unknown client', authorization: basic('nobody', 'x'), reason: 'wrong_client_secret' },
  {
    name: 'the name toString',
    authorization: basic('toString', 'x'),
    reason: 'wrong_client_secret',
  },
  { name: 'no client', authorization: basic('notclient', 'pw'), reason: 'not_a_client' },
  {
    name: 'a realm that is not there',
    more: { realmUri: '__proto__' },
    reason: 'wrong_client_secret',
  },
]

const refusals: readonly RefusalCase[] = [
  ...MALFORMED.map((each) => ({
    ...each,
    status: 400,
    error: 'invalid_request',
    reason: 'malformed_request',
  })),
  ...CLIENTS.map((each) => ({ ...each, status: 401, error: 'invalid_client' })),
  ...['authorization_code', 'implicit', 'constructor', '__proto__', 'PASSWORD'].map((type) => ({
    name: `grant_type ${type}`,
    form: { grant_type: type },
    status: 400,
    error: 'unsupported_grant_type',
    reason: 'unsupported_grant',
  })),
  ...(['implicit', 'authorization_code'] as const).map((flow) => ({
    name: `a document of flow ${flow}`,
    more: { flows: [flow] },
    status: 400,
    error: 'unsupported_grant_type',
    reason: 'unsupported_grant',
  })),
  ...[
    { name: 'a wrong password', username: 'alice', password: 'x', reason: 'wrong_password' },
    { name: 'an unknown owner', username: 'nobody', password: 'x', reason: 'wrong_password' },
    { name: 'no owner', username: 'norole', password: 'pw', reason: 'not_a_resource_owner' },
    { name: 'a client', username: 'app', password: 'app-secret', reason: 'not_a_resource_owner' },
    { name: 'valueOf', username: 'valueOf', password: 'x', reason: 'wrong_password' },
  ].map(({ name, username, password, reason }) => ({
    name: `as owner ${name}`,
    form: { grant_type: 'password', username, password },
    status: 400,
    error: 'invalid_grant',
    reason,
  })),
  ...['abc', 'svcrt_', `svcrt_${'A'.repeat(22)}.0.${'A'.repeat(65)}`, 'a.b.c'].map((token) => ({
    name: `refresh token ${token.slice(0, 10)}`,
    form: { grant_type: 'refresh_token', refresh_token: token },
    status: 400,
    error: 'invalid_grant',
    reason: 'unknown_token',
  })),
  ...['admin', 'staff admin', 'api_clients', ' staff', 'staff  resource_owners', 'sales dept'].map(
    (scope) => ({
      name: `scope "${scope}"`,
      form: { ...PASSWORD_FORM, scope },
      status: 400,
      error: 'invalid_scope',
      reason: 'scope_not_granted',
    }),
  ),
]

const OWNER = ['resource_owners']
const APP_USER = user('app', 'app-secret', ['api_clients'])

describe('a refusal', () => {
  it.each(refusals)('$error: $name', async ({ form, authorization, more, ...expected }) => {
    const endpointDeps = open()
    const response = await endpointDeps.oauth2.token(
      formRequest(form ?? PASSWORD_FORM, authorization, more),
    )
    expect(response.status).toBe(expected.status)
    expect(bodyOf(response)).toEqual({
      error: expected.error,
      error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
    })
    const headers = headersOf(response)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('pragma')).toBe('no-cache')
    expect(headers.get('www-authenticate') ?? '').toMatch(
      expected.status === 401 ? /^Basic realm="[^"]+"/ : /^$/,
    )
    expect(endpointDeps.audited).toMatchObject([
      { event: 'token', outcome: 'failure', reason: expected.reason },
    ])
  })

  it('is the same for an unknown owner, a wrong password and no owner', async () => {
    const endpointDeps = open()
    const responses = await Promise.all(
      [
        ['nobody', 'x'],
        ['alice', 'x'],
        ['norole', 'pw'],
      ].map(([username = '', password = '']) =>
        endpointDeps.oauth2.token(formRequest({ grant_type: 'password', username, password })),
      ),
    )
    expect(new Set(responses.map(({ body }) => body)).size).toBe(1)
  })

  it.each<{
    readonly grants: NonNullable<NonNullable<RealmRecord['oauth2']>['grants']>
    readonly form: Readonly<Record<string, string>>
    readonly status: number
  }>([
    { grants: ['client_credentials'], form: PASSWORD_FORM, status: 400 },
    { grants: ['password'], form: { grant_type: 'client_credentials' }, status: 400 },
    { grants: [], form: { grant_type: 'client_credentials' }, status: 400 },
    {
      grants: ['password'],
      form: { grant_type: 'refresh_token', refresh_token: 'x' },
      status: 400,
    },
    { grants: ['client_credentials'], form: { grant_type: 'client_credentials' }, status: 200 },
  ])('unauthorized_client where the realm narrows to $grants', async ({ grants, form, status }) => {
    const endpointDeps = open()
    endpointDeps.setRealm({ oauth2: { grants } })
    const response = await endpointDeps.oauth2.token(formRequest(form))
    expect([response.status, bodyOf(response).error]).toEqual([
      status,
      status === 200 ? undefined : 'unauthorized_client',
    ])
  })

  it('no refresh token where the realm would not take it', async () => {
    const endpointDeps = open()
    endpointDeps.setRealm({ oauth2: { grants: ['password'] } })
    expect(await logIn(endpointDeps)).not.toHaveProperty('refresh_token')
  })

  it('invalid_scope for more groups than a token can hold, but not for some of them', async () => {
    const endpointDeps = open()
    const groups = Array.from({ length: 300 }, (_, index) => `department-number-${index}`)
    endpointDeps.setRealm({
      users: [...USERS, user('busy', 'bee', ['resource_owners', ...groups])],
    })
    const form = { grant_type: 'password', username: 'busy', password: 'bee' }
    const response = await endpointDeps.oauth2.token(formRequest(form))
    expect(bodyOf(response)).toMatchObject({ error: 'invalid_scope' })
    const narrow = await endpointDeps.oauth2.token(
      formRequest({ ...form, scope: 'department-number-7' }),
    )
    expect(bodyOf(narrow)).toMatchObject({ scope: 'department-number-7' })
  })

  it('429 with Retry-After after 30 wrong secrets, the right one is taken a second later', async () => {
    const endpointDeps = open()
    const guess = () => endpointDeps.oauth2.token(formRequest(PASSWORD_FORM, basic('app', 'guess')))
    for (let count = 0; count < 30; count += 1) expect((await guess()).status).toBe(401)
    const damped = await guess()
    expect([damped.status, bodyOf(damped).error]).toEqual([429, 'invalid_client'])
    expect(headersOf(damped).get('retry-after')).toBe('1')
    expect(bodyOf(damped).error_description).toMatch(/one in a second is verified/)
    expect((await guess()).status).toBe(429)
    expect(await logIn(endpointDeps)).toHaveProperty('error', 'invalid_client')
    endpointDeps.clock.advance(1000)
    expect(await logIn(endpointDeps)).toHaveProperty('access_token')
    // Of who was right from there, and within the last minute, also at once.
    expect(await logIn(endpointDeps)).toHaveProperty('access_token')
  })

  it('429 for 30 wrong passwords of an owner', async () => {
    const endpointDeps = open()
    const guess = () =>
      endpointDeps.oauth2.token(formRequest({ ...PASSWORD_FORM, password: 'guess' }))
    for (let count = 0; count < 30; count += 1) expect((await guess()).status).toBe(400)
    const damped = await guess()
    expect([damped.status, bodyOf(damped).error]).toEqual([429, 'invalid_grant'])
    expect(headersOf(damped).get('retry-after')).toBe('1')
  })

  it('no client is throttled behind a trusted proxy that names none', async () => {
    const endpointDeps = open()
    const form = { ...PASSWORD_FORM, password: 'guess' }
    const guess = () => endpointDeps.oauth2.token(formRequest(form, APP, { isAddressKnown: false }))
    for (let count = 0; count < 40; count += 1) expect((await guess()).status).toBe(400)
  })

  it.each<[string, string, readonly UserRecord[], number]>([
    ['the same password of', 'alice', [...USERS], 200],
    ['another password of', 'alice', [APP_USER, user('alice', 'x', OWNER)], 400],
    ['nothing of', 'alice', [APP_USER], 400],
    ['another secret of', 'app', [user('app', 'x', ['api_clients'])], 401],
  ])('the realm has %s %s by the time it is checked', async (_, name, users, status) => {
    const check: Passwords['check'] = ({ record, username }) => {
      const found = record.users?.find((each) => each.username === username)
      if (username === name) endpointDeps.setRealm({ users })
      if (found === undefined) return { kind: 'wrong', reason: 'unknown_user' }
      return { kind: 'right', user: found, until: START_MS + 60_000 }
    }
    const endpointDeps = open({ passwords: { check } })
    expect((await endpointDeps.oauth2.token(formRequest(PASSWORD_FORM))).status).toBe(status)
  })

  it('503 with Retry-After while too many passwords are hashed', async () => {
    const overloaded = { kind: 'overloaded', isUser: true, retryAfterSeconds: 1 } as const
    const passwords = { check: () => overloaded }
    const response = await open({ passwords }).oauth2.token(formRequest(PASSWORD_FORM))
    expect([response.status, bodyOf(response).error]).toEqual([503, 'temporarily_unavailable'])
    expect(headersOf(response).get('retry-after')).toBe('1')
  })

  it('503 while the shared state is away, but for what does not need it', async () => {
    const away = () => Promise.reject(new SharedStateError('unavailable', 'away'))
    const endpointDeps = open({
      shared: (state) => ({
        read: away,
        replace: away,
        takeOnce: away,
        cache: away,
        increment: away,
        revoke: away,
        isRevoked: () => false,
        health: 'away',
        onHealth: () => undefined,
        close: () => state.close(),
      }),
    })
    const response = await endpointDeps.oauth2.token(formRequest(PASSWORD_FORM))
    expect([response.status, bodyOf(response).error]).toEqual([503, 'temporarily_unavailable'])
    expect(headersOf(response).get('retry-after')).toBe('5')
    const robot = await endpointDeps.oauth2.token(formRequest({ grant_type: 'client_credentials' }))
    expect(robot.status).toBe(200)
  })

  it('500 that says nothing for a fault of our own', async () => {
    const endpointDeps = open({
      accessTokens: (own) => ({ ...own, issue: () => Promise.reject(new Error('/keys/a.pem')) }),
    })
    const response = await endpointDeps.oauth2.token(formRequest(PASSWORD_FORM))
    expect([response.status, bodyOf(response)]).toEqual([
      500,
      { error: 'server_error', error_description: 'The gateway failed to process this request' },
    ])
    expect(endpointDeps.logged.join('')).toContain('/keys/a.pem')
    expect(endpointDeps.audited).toMatchObject([{ outcome: 'failure', reason: 'internal' }])
  })
})

describe('the audit log', () => {
  it('says who got tokens for whom', async () => {
    const endpointDeps = open()
    await logIn(endpointDeps)
    expect(endpointDeps.audited).toEqual([
      {
        event: 'token',
        outcome: 'success',
        reason: '',
        realm: REALM,
        scheme: 'oauth2',
        clientId: 'app',
        authid: 'alice',
        address: '192.0.2.1',
        requestId: 'r-1',
      },
    ])
  })

  it.each<[string, Form, string | undefined, object]>([
    [
      'a password as user name',
      { ...PASSWORD_FORM, username: 'hunter2' },
      APP,
      { clientId: 'app', reason: 'wrong_password' },
    ],
    [
      'a secret as client id',
      PASSWORD_FORM,
      basic('hunter2', 'x'),
      { reason: 'wrong_client_secret' },
    ],
    [
      'a wrong password of a user',
      { ...PASSWORD_FORM, password: 'hunter2' },
      APP,
      { clientId: 'app', authid: 'alice', reason: 'wrong_password' },
    ],
  ])('has no name that no user has: %s', async (_, form, authorization, expected) => {
    const { oauth2, audited, logged } = open()
    for (let time = 0; time < 40; time++) await oauth2.token(formRequest(form, authorization))
    expect(audited[0]).toEqual({
      event: 'token',
      outcome: 'failure',
      realm: REALM,
      scheme: 'oauth2',
      address: '192.0.2.1',
      requestId: 'r-1',
      ...expected,
    })
    expect(JSON.stringify([audited, logged])).not.toContain('hunter2')
  })

  it('no secret of a session stands in the shared state, the log or the audit log', async () => {
    const seen: unknown[] = []
    const endpointDeps = open({
      shared: (state) =>
        new Proxy(state, {
          get: (target, name) => {
            const member: unknown = Reflect.get(target, name, target)
            if (typeof member !== 'function') return member
            return (...args: unknown[]): unknown => {
              seen.push(args)
              return Reflect.apply(member, target, args)
            }
          },
        }),
    })
    const first = await logIn(endpointDeps)
    const second = bodyOf(await refresh(endpointDeps, first.refresh_token))
    await refresh(endpointDeps, first.refresh_token)
    await revoke(endpointDeps, second.access_token)
    const kept = JSON.stringify([seen, endpointDeps.logged, endpointDeps.audited])
    expect(kept).toContain('refresh_reuse')
    const secrets = [first, second].flatMap(({ access_token: access, refresh_token: text }) => [
      access,
      text,
      text.slice(-43),
      text.slice(-65, -43),
    ])
    for (const secret of [...secrets, 'wonderland', 'app-secret'])
      expect(kept).not.toContain(secret)
  })
})

describe('whatever comes', () => {
  it('is answered with an RFC body, never a rejection, and a token only for the right words', async () => {
    const endpointDeps = open()
    const names = fc.constantFrom('grant_type', 'username', 'password', 'scope', 'client_id', 'x')
    const values = fc.oneof(
      fc.constantFrom(
        'password',
        'client_credentials',
        'refresh_token',
        'alice',
        'app',
        '__proto__',
      ),
      anyText(),
    )
    const forms = fc.oneof(
      anyText(),
      fc
        .array(fc.tuple(names, values), { maxLength: 5 })
        .map((pairs) => pairs.map(([name, value]) => `${name}=${encode(value)}`).join('&')),
    )
    const headers = fc.option(
      fc.string().map((text) => `Basic ${Buffer.from(text).toString('base64')}`),
    )
    await fc.assert(
      fc.asyncProperty(forms, headers, async (form, header) => {
        const response = await endpointDeps.oauth2.token(formRequest(form, header))
        expect([400, 401, 429]).toContain(response.status)
        expect(bodyOf(response).error).toMatch(/^[a-z_]+$/)
      }),
      { numRuns: 150 },
    )
  })
})

const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
