// What is revoked or used at one process is so at all: workers of one gateway, replicas with a real Redis, and the
// same gateway after a restart.

import { describe, expect, it } from '@jest/globals'
import { eventually } from '../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { redisAvailability, startRedis } from '../support/redis-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import {
  askToken,
  loadSecured,
  logIn,
  refresh,
  securedRealm,
  statusOf,
  type Tokens,
} from './secured-api.ts'

const readiness = async (gateway: GatewayProcess): Promise<readonly unknown[]> => {
  const { status, headers } = await request(`${gateway.management}/ready`)
  return [status, headers['x-svc-degraded']]
}

describe('two workers', () => {
  it('know at once what either revokes, and which refresh token is the newest', async () => {
    await using gateway = await startGateway({ flags: ['--processes', '2'] })
    await loadSecured(gateway, await securedRealm())
    const first = await logIn(gateway)
    const ask = (): Promise<number> => statusOf(gateway, '/me', first.access_token)
    expect(new Set(await Promise.all(Array.from({ length: 20 }, ask)))).toEqual(new Set([200]))
    await askToken(gateway, { token: first.access_token }, 'revoke')
    expect(new Set(await Promise.all(Array.from({ length: 20 }, ask)))).toEqual(new Set([401]))
    const raced = await Promise.all(
      Array.from({ length: 8 }, () => refresh(gateway, first.refresh_token)),
    )
    expect(raced.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
  }, 60_000)
})

describe('a restart', () => {
  it('forgets neither what is revoked nor the newest refresh token, nor its keys', async () => {
    await using dir = await makeTempDir()
    const flags = ['--state-dir', dir.path]
    const realm = await securedRealm({ hasOwnKeys: false })
    const before = await startGateway({ flags })
    await loadSecured(before, realm)
    const [revoked, kept] = [await logIn(before), await logIn(before)]
    await askToken(before, { token: revoked.access_token }, 'revoke')
    const next = (await refresh(before, kept.refresh_token)).json() as Tokens
    await before.kill()

    await using after = await startGateway({ flags })
    expect(await statusOf(after, '/me', revoked.access_token)).toBe(401)
    expect(await statusOf(after, '/me', next.access_token)).toBe(200)
    expect((await refresh(after, next.refresh_token)).status).toBe(200)
    // Used before the restart: its family dies.
    expect((await refresh(after, kept.refresh_token)).status).toBe(400)
    expect(await statusOf(after, '/me', next.access_token)).toBe(401)
  }, 60_000)
})

describeWhenAvailable('two replicas with one Redis', redisAvailability(), () => {
  it('share revocations and families; refuse tokens while Redis is away, and nothing else', async () => {
    await using redis = await startRedis()
    const flags = ['--redis', redis.url]
    await using one = await startGateway({ flags })
    await using two = await startGateway({ flags })
    await using lenient = await startGateway({ flags: [...flags, '--redis-away', 'accept'] })
    const realm = await securedRealm()
    for (const gateway of [one, two, lenient]) await loadSecured(gateway, realm)
    await eventually(async () => {
      for (const gateway of [one, two, lenient])
        expect(await readiness(gateway)).toEqual([204, undefined])
    })

    const first = await logIn(one)
    const second = (await refresh(two, first.refresh_token)).json() as Tokens
    expect(await statusOf(one, '/me', second.access_token)).toBe(200)
    // The first refresh token again, at the other replica: somebody has stolen one of the two.
    expect((await refresh(one, first.refresh_token)).status).toBe(400)
    await eventually(async () => {
      for (const gateway of [one, two, lenient])
        expect(await statusOf(gateway, '/me', second.access_token)).toBe(401)
    })

    const third = await logIn(one)
    expect(await statusOf(two, '/me', third.access_token)).toBe(200)
    await redis.kill()
    await eventually(async () => {
      for (const gateway of [one, two, lenient])
        expect(await readiness(gateway)).toEqual([204, 'shared-state'])
      expect(await statusOf(one, '/me', third.access_token)).toBe(503)
    })
    expect(await statusOf(lenient, '/me', third.access_token)).toBe(200)
    expect(await statusOf(lenient, '/me', second.access_token)).toBe(401)
    expect(await statusOf(one, '/open')).toBe(200)
    expect((await refresh(one, third.refresh_token)).status).toBe(503)

    await redis.restart()
    // Each notices by itself.
    await eventually(async () => {
      for (const gateway of [one, two]) expect(await readiness(gateway)).toEqual([204, undefined])
    })
    expect(await statusOf(one, '/me', third.access_token)).toBe(200)
    // What Redis has lost its replicas have told it again.
    expect(await statusOf(two, '/me', second.access_token)).toBe(401)
  }, 60_000)
})
