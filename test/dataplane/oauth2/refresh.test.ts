import { afterEach, describe, expect, it } from '@jest/globals'
import type { SharedState } from '../../../dataplane/shared/shared-state.ts'
import {
  APP2,
  basic,
  bodyOf,
  formRequest,
  logIn,
  openTokenRoom,
  OTHER_REALM,
  REALM,
  refresh,
  revoke,
  user,
  USERS,
  type TokenBody,
  type TokenRoom,
  type TokenRoomOptions,
} from './token-room.ts'

const DAY_MS = 86_400_000
const rooms: TokenRoom[] = []
const open = (options?: TokenRoomOptions): TokenRoom => {
  const endpointDeps = openTokenRoom(options)
  rooms.push(endpointDeps)
  return endpointDeps
}
afterEach(async () => {
  for (const endpointDeps of rooms.splice(0)) await endpointDeps.shared.close()
})

const refreshed = async (endpointDeps: TokenRoom, token: string): Promise<TokenBody> => {
  const response = await refresh(endpointDeps, token)
  expect(response.status).toBe(200)
  return bodyOf(response)
}

/** The error code, or `given`. */
const outcomeOf = async (
  endpointDeps: TokenRoom,
  token: string,
  authorization?: string,
): Promise<string> => {
  const response = await refresh(endpointDeps, token, {}, authorization)
  return response.status === 200 ? 'given' : bodyOf(response).error
}

describe('a refresh', () => {
  it('gives new tokens that stand for the same', async () => {
    const endpointDeps = open()
    const first = await logIn(endpointDeps)
    const second = await refreshed(endpointDeps, first.refresh_token)
    expect(second).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 900,
      refresh_token: expect.stringMatching(/^svcrt_[\w-]{22}\.1\./),
      scope: 'resource_owners staff',
    })
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect(await endpointDeps.accessTokens.verify(REALM, second.access_token)).toMatchObject({
      sub: 'alice',
      groups: ['resource_owners', 'staff', 'sales dept'],
    })
    expect(await endpointDeps.isGood(first.access_token)).toBe(true)
  })

  it('may ask for less, and that once only', async () => {
    const endpointDeps = open()
    const { refresh_token: first } = await logIn(endpointDeps)
    const narrow = bodyOf(await refresh(endpointDeps, first, { scope: 'staff' }))
    expect(narrow.scope).toBe('staff')
    expect((await refreshed(endpointDeps, narrow.refresh_token)).scope).toBe(
      'resource_owners staff',
    )
  })

  it('may not ask for more than was granted, and costs nothing then', async () => {
    const endpointDeps = open()
    const { refresh_token: token } = await logIn(endpointDeps, { scope: 'staff' })
    const response = await refresh(endpointDeps, token, { scope: 'resource_owners' })
    expect(bodyOf(response).error).toBe('invalid_scope')
    expect((await refreshed(endpointDeps, token)).scope).toBe('staff')
  })

  it('gives no group that came later, and none that has gone', async () => {
    const endpointDeps = open()
    const { refresh_token: token } = await logIn(endpointDeps)
    const groups = ['admins', 'resource_owners', 'sales dept']
    endpointDeps.setRealm({
      users: [...USERS.filter(notAlice), user('alice', 'wonderland', groups)],
    })
    const { access_token: jwt, scope } = await refreshed(endpointDeps, token)
    expect(scope).toBe('resource_owners')
    expect(await endpointDeps.accessTokens.verify(REALM, jwt)).toMatchObject({
      groups: ['resource_owners', 'sales dept'],
    })
  })

  it('goes on for 30 days from the last one', async () => {
    const endpointDeps = open()
    const first = await logIn(endpointDeps)
    endpointDeps.clock.advance(29 * DAY_MS)
    const second = await refreshed(endpointDeps, first.refresh_token)
    endpointDeps.clock.advance(29 * DAY_MS)
    const third = await refreshed(endpointDeps, second.refresh_token)
    endpointDeps.clock.advance(30 * DAY_MS + 1000)
    expect(await outcomeOf(endpointDeps, third.refresh_token)).toBe('invalid_grant')
  })

  it('does not work in another realm', async () => {
    const endpointDeps = open()
    const { refresh_token: token } = await logIn(endpointDeps)
    const form = { grant_type: 'refresh_token', refresh_token: token }
    const response = await endpointDeps.oauth2.token(
      formRequest(form, basic('app', 'app-secret'), { realmUri: OTHER_REALM }),
    )
    expect(bodyOf(response).error).toBe('invalid_grant')
    expect(await outcomeOf(endpointDeps, token)).toBe('given')
  })

  it('works for its client only, whose token it stays', async () => {
    const endpointDeps = open()
    const { refresh_token: token } = await logIn(endpointDeps)
    const response = await refresh(endpointDeps, token, {}, APP2)
    expect(bodyOf(response).error).toBe('invalid_grant')
    expect(endpointDeps.audited.at(-1)).toMatchObject({ clientId: 'app2', reason: 'other_client' })
    expect(await outcomeOf(endpointDeps, token)).toBe('given')
  })

  it.each([
    { name: 'has left resource_owners', groups: ['staff'], reason: 'not_a_resource_owner' },
    { name: 'is gone', groups: undefined, reason: 'not_a_resource_owner' },
  ])('is refused for a user who $name', async ({ groups, reason }) => {
    const endpointDeps = open()
    const { refresh_token: token } = await logIn(endpointDeps)
    const now = groups === undefined ? [] : [user('alice', 'wonderland', groups)]
    endpointDeps.setRealm({ users: [...USERS.filter(notAlice), ...now] })
    expect(await outcomeOf(endpointDeps, token)).toBe('invalid_grant')
    expect(endpointDeps.audited.at(-1)).toMatchObject({ authid: 'alice', reason })
  })

  it('is refused once the password is another, and with it all that came of the grant', async () => {
    const endpointDeps = open()
    const { refresh_token: token, access_token: jwt } = await logIn(endpointDeps)
    endpointDeps.setRealm({
      users: [...USERS.filter(notAlice), user('alice', 'other', ['resource_owners'])],
    })
    expect(await outcomeOf(endpointDeps, token)).toBe('invalid_grant')
    expect(endpointDeps.audited.at(-1)).toMatchObject({ reason: 'password_changed' })
    expect(await endpointDeps.isGood(jwt)).toBe(false)
  })

  it('is refused for a client that is one no more', async () => {
    const endpointDeps = open()
    const { refresh_token: token } = await logIn(endpointDeps)
    endpointDeps.setRealm({ users: USERS.filter(({ username }) => username !== 'app') })
    expect((await refresh(endpointDeps, token)).status).toBe(401)
  })

  it('is not given where the grant is larger than what may be remembered', async () => {
    const endpointDeps = open()
    const groups = Array.from({ length: 160 }, (_, index) => `g${index}`)
    endpointDeps.setRealm({
      users: [...USERS, user('busy', 'bee', ['resource_owners', ...groups])],
    })
    const body = await logIn(endpointDeps, { username: 'busy', password: 'bee' })
    expect(await endpointDeps.isGood(body.access_token)).toBe(true)
    expect(body).not.toHaveProperty('refresh_token')
    const narrow = await logIn(endpointDeps, { username: 'busy', password: 'bee', scope: 'g1 g2' })
    expect((await refreshed(endpointDeps, narrow.refresh_token)).scope).toBe('g1 g2')
  })
})

describe('a refresh token that comes back', () => {
  it('ends its family, access tokens too, and no other', async () => {
    const endpointDeps = open()
    const other = await logIn(endpointDeps)
    const first = await logIn(endpointDeps)
    const second = await refreshed(endpointDeps, first.refresh_token)
    expect(await outcomeOf(endpointDeps, first.refresh_token)).toBe('invalid_grant')
    expect(endpointDeps.audited.at(-1)).toMatchObject({ reason: 'refresh_reuse', authid: 'alice' })
    expect(await outcomeOf(endpointDeps, second.refresh_token)).toBe('invalid_grant')
    expect(endpointDeps.audited.at(-1)).toMatchObject({ reason: 'revoked' })
    expect(await endpointDeps.isGood(first.access_token)).toBe(false)
    expect(await endpointDeps.isGood(second.access_token)).toBe(false)
    expect(await endpointDeps.isGood(other.access_token)).toBe(true)
    expect(await outcomeOf(endpointDeps, other.refresh_token)).toBe('given')
  })

  it('does not end it in the hands of another client', async () => {
    const endpointDeps = open()
    const first = await logIn(endpointDeps)
    const second = await refreshed(endpointDeps, first.refresh_token)
    await refresh(endpointDeps, first.refresh_token, {}, APP2)
    expect(await outcomeOf(endpointDeps, second.refresh_token)).toBe('given')
  })

  it('must be complete: knowing the family alone is not enough to end it', async () => {
    const endpointDeps = open()
    const first = await logIn(endpointDeps)
    const second = await refreshed(endpointDeps, first.refresh_token)
    const [head = ''] = first.refresh_token.split('.')
    expect(await outcomeOf(endpointDeps, `${head}.0.${'A'.repeat(65)}`)).toBe('invalid_grant')
    const proof = first.refresh_token.split('.')[2]?.slice(0, 22) ?? ''
    expect(await outcomeOf(endpointDeps, `${head}.1.${proof}${'A'.repeat(43)}`)).toBe(
      'invalid_grant',
    )
    expect(await outcomeOf(endpointDeps, `${head}.999999999.${proof}${'A'.repeat(43)}`)).toBe(
      'invalid_grant',
    )
    expect(await outcomeOf(endpointDeps, second.refresh_token)).toBe('given')
  })

  it.each([2, 3, 20])('%i times at once: one wins, and the family is dead', async (count) => {
    const endpointDeps = open()
    const { refresh_token: token, access_token: jwt } = await logIn(endpointDeps)
    const responses = await Promise.all(
      Array.from({ length: count }, () => refresh(endpointDeps, token)),
    )
    const won = responses.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    const [winner] = won.map(bodyOf)
    expect(await outcomeOf(endpointDeps, winner?.refresh_token ?? '')).toBe('invalid_grant')
    expect(await endpointDeps.isGood(winner?.access_token ?? '')).toBe(false)
    expect(await endpointDeps.isGood(jwt)).toBe(false)
  })

  it('beside a revocation: the family is dead, whichever was first', async () => {
    const endpointDeps = open()
    const { refresh_token: token } = await logIn(endpointDeps)
    const [response] = await Promise.all([
      refresh(endpointDeps, token),
      revoke(endpointDeps, token),
    ])
    expect(
      await outcomeOf(
        endpointDeps,
        response.status === 200 ? bodyOf(response).refresh_token : token,
      ),
    ).toBe('invalid_grant')
  })
})

describe('a family that was revoked', () => {
  const replaces = (state: SharedState): Pick<SharedState, 'replace'> => ({
    replace: (key, expected, next, ttl) =>
      next.startsWith('[') ? state.replace(key, expected, next, ttl) : Promise.resolve(false),
  })

  it.each<[string, (state: SharedState) => Partial<SharedState>]>([
    ['the deny-list of this replica is behind', () => ({ isRevoked: () => false })],
    ['somebody was faster at every try to end it', replaces],
  ])('is dead though %s', async (_, more) => {
    const endpointDeps = open({
      shared: (state) => ({
        takeOnce: (...given) => state.takeOnce(...given),
        read: (...given) => state.read(...given),
        replace: (...given) => state.replace(...given),
        cache: (...given) => state.cache(...given),
        increment: (...given) => state.increment(...given),
        revoke: (...given) => state.revoke(...given),
        isRevoked: (key) => state.isRevoked(key),
        health: 'ok',
        onHealth: () => undefined,
        close: () => state.close(),
        ...more(state),
      }),
    })
    const { refresh_token: token } = await logIn(endpointDeps)
    expect((await revoke(endpointDeps, token)).status).toBe(200)
    expect(await outcomeOf(endpointDeps, token)).toBe('invalid_grant')
    expect(endpointDeps.audited.at(-1)).toMatchObject({ reason: 'revoked' })
  })
})

const notAlice = ({ username }: { readonly username: string }): boolean => username !== 'alice'
