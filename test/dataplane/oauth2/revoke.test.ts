import { afterEach, describe, expect, it } from '@jest/globals'
import { SharedStateError } from '../../../dataplane/shared/shared-state.ts'
import {
  APP,
  APP2,
  basic,
  bodyOf,
  formRequest,
  headersOf,
  logIn,
  openTokenRoom,
  OTHER_REALM,
  REALM,
  refresh,
  revoke,
  START_MS,
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

const HINTS = [undefined, 'access_token', 'refresh_token', 'id_token', '__proto__'] as const

describe('revocation', () => {
  it.each(HINTS)('of a refresh token, hint %s: the family is dead', async (hint) => {
    const endpointDeps = open()
    const { refresh_token: token, access_token: jwt } = await logIn(endpointDeps)
    const response = await revoke(endpointDeps, token, APP, hint)
    expect([response.status, response.body]).toEqual([200, ''])
    expect(headersOf(response).get('cache-control')).toBe('no-store')
    expect(bodyOf(await refresh(endpointDeps, token)).error).toBe('invalid_grant')
    expect(await endpointDeps.isGood(jwt)).toBe(false)
    expect(endpointDeps.audited).toMatchObject([
      { event: 'token' },
      { event: 'revocation', outcome: 'success', reason: '', clientId: 'app', authid: 'alice' },
      { event: 'token', reason: 'revoked' },
    ])
  })

  it.each(HINTS)('of an access token, hint %s: that one alone is dead', async (hint) => {
    const endpointDeps = open()
    const { refresh_token: token, access_token: jwt } = await logIn(endpointDeps)
    expect((await revoke(endpointDeps, jwt, APP, hint)).status).toBe(200)
    expect(await endpointDeps.isGood(jwt)).toBe(false)
    const response = await refresh(endpointDeps, token)
    expect(await endpointDeps.isGood(bodyOf(response).access_token)).toBe(true)
  })

  it('of a token that was exchanged before ends what followed it', async () => {
    const endpointDeps = open()
    const { refresh_token: first } = await logIn(endpointDeps)
    const { refresh_token: second } = bodyOf(await refresh(endpointDeps, first))
    expect((await revoke(endpointDeps, first)).status).toBe(200)
    expect(bodyOf(await refresh(endpointDeps, second)).error).toBe('invalid_grant')
  })

  it('may be requested twice', async () => {
    const endpointDeps = open()
    const { refresh_token: token } = await logIn(endpointDeps)
    await revoke(endpointDeps, token)
    expect((await revoke(endpointDeps, token)).status).toBe(200)
  })

  it.each([
    'unknown',
    'a.b.c',
    `svcrt_${'A'.repeat(22)}.0.${'A'.repeat(65)}`,
    '\u0000',
    '__proto__',
  ])('of %j does nothing and says nothing', async (token) => {
    const endpointDeps = open()
    const response = await revoke(endpointDeps, token)
    expect([response.status, response.body]).toEqual([200, ''])
    expect(endpointDeps.audited).toMatchObject([
      { event: 'revocation', outcome: 'failure', reason: 'unknown_token' },
    ])
  })

  it("of another client's tokens leaves them alone", async () => {
    const endpointDeps = open()
    const { refresh_token: token, access_token: jwt } = await logIn(endpointDeps)
    for (const each of [token, jwt]) {
      expect((await revoke(endpointDeps, each, APP2)).status).toBe(200)
      expect(endpointDeps.audited.at(-1)).toMatchObject({
        clientId: 'app2',
        reason: 'other_client',
      })
    }
    expect(await endpointDeps.isGood(jwt)).toBe(true)
    expect((await refresh(endpointDeps, token)).status).toBe(200)
  })

  it("of another realm's tokens leaves them alone", async () => {
    const endpointDeps = open()
    const { refresh_token: token, access_token: jwt } = await logIn(endpointDeps)
    for (const each of [token, jwt]) {
      const request = formRequest({ token: each }, APP, { realmUri: OTHER_REALM })
      expect((await endpointDeps.oauth2.revoke(request)).status).toBe(200)
    }
    expect(await endpointDeps.isGood(jwt)).toBe(true)
    expect((await refresh(endpointDeps, token)).status).toBe(200)
  })

  it('of a ticket: unsupported_token_type', async () => {
    const endpointDeps = open()
    const { jwt } = await endpointDeps.tickets.issueTicket({
      authrealm: REALM,
      authid: 'alice',
      authroles: [],
      issued_on: 'node',
      issued_at: START_MS / 1000,
      expires_at: START_MS / 1000 + 3600,
      scope: { realm: REALM, client_id: 'all', device_id: 'all' },
      oidc_provider: 'corp',
    })
    const response = await revoke(endpointDeps, jwt)
    expect([response.status, bodyOf(response).error]).toEqual([400, 'unsupported_token_type'])
  })
})

describe('a refused revocation', () => {
  it.each([
    { name: 'no token', form: {}, authorization: APP, status: 400, error: 'invalid_request' },
    {
      name: 'an empty token',
      form: { token: '' },
      authorization: APP,
      status: 400,
      error: 'invalid_request',
    },
    {
      name: 'two tokens',
      form: 'token=a&token=b',
      authorization: APP,
      status: 400,
      error: 'invalid_request',
    },
    {
      name: 'no client',
      form: { token: 'x' },
      authorization: null,
      status: 401,
      error: 'invalid_client',
    },
    {
      name: 'a wrong secret',
      form: { token: 'x' },
      authorization: basic('app', 'nope'),
      status: 401,
      error: 'invalid_client',
    },
    {
      name: 'a user that is no client',
      form: { token: 'x' },
      authorization: basic('notclient', 'pw'),
      status: 401,
      error: 'invalid_client',
    },
  ])('$name: $error', async ({ form, authorization, status, error }) => {
    const response = await open().oauth2.revoke(formRequest(form, authorization))
    expect([response.status, bodyOf(response).error]).toEqual([status, error])
    expect(headersOf(response).get('cache-control')).toBe('no-store')
  })

  it('JSON and a token in the query: invalid_request', async () => {
    const { revoke: handler } = open().oauth2
    const json = { 'content-type': 'application/json', authorization: APP }
    for (const request of [
      formRequest('{"token":"x"}', APP, { headers: json }),
      formRequest('', APP, { query: 'token=x' }),
    ])
      expect(bodyOf(await handler(request)).error).toBe('invalid_request')
  })

  it('503 while the shared state is away: the client must try again (RFC 7009 §2.2.1)', async () => {
    const endpointDeps = open({
      shared: (state) =>
        Object.assign(Object.create(state) as typeof state, {
          revoke: () => Promise.reject(new SharedStateError('unavailable', 'away')),
          read: (key: string) => state.read(key),
          replace: state.replace.bind(state),
          increment: state.increment.bind(state),
          isRevoked: (key: string) => state.isRevoked(key),
        }),
    })
    const { refresh_token: token, access_token: jwt } = await logIn(endpointDeps)
    for (const each of [token, jwt]) {
      const response = await revoke(endpointDeps, each)
      expect([response.status, bodyOf(response).error]).toEqual([503, 'temporarily_unavailable'])
      expect(headersOf(response).get('retry-after')).toBe('5')
    }
  })
})
