// Logging in at replicas that share a real Redis: what is used or ended at one is so at the other, and what comes
// of a login while Redis is away, full, or has lost everything.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import { authorize, type Browser, type Page } from '../../support/login-driver.ts'
import { redisAvailability, startRedis, type RedisServer } from '../../support/redis-server.ts'
import { describeWhenAvailable } from '../../support/when-available.ts'
import {
  loginOf,
  logInAt,
  newSigningKey,
  OWN,
  serve,
  startLoginRig,
  ticketOf,
  type LoginRig,
} from './login-rig.ts'

const REALM = 'com.example.realm'

describeWhenAvailable('replicas with one Redis', redisAvailability(), () => {
  let redis: RedisServer
  let rig: LoginRig
  let one: GatewayProcess
  let two: GatewayProcess
  let lenient: GatewayProcess

  beforeAll(async () => {
    redis = await startRedis()
    rig = await startLoginRig(['--redis', redis.url])
    one = rig.gateway
    two = await startGateway({ flags: rig.flags })
    lenient = await startGateway({ flags: [...rig.flags, '--redis-away', 'accept'] })
    const { issuer } = await rig.idp()
    const providers = { corp: { issuer } }
    const api = { name: 'v1', realm: REALM, providers, signingKeys: [newSigningKey()] }
    for (const gateway of [one, two, lenient]) await serve(gateway, api)
    await areAware(true)
  }, 60_000)

  afterAll(async () => {
    // Not there where `beforeAll` has failed, whatever their types say.
    const parts: readonly (AsyncDisposable | undefined)[] = [two, lenient, rig, redis]
    for (const part of parts) await part?.[Symbol.asyncDispose]()
  })

  /** All of them, in readiness and in metrics. */
  const areAware = (isThere: boolean): Promise<void> =>
    eventually(
      async () => {
        for (const gateway of [one, two, lenient]) {
          const { status, headers } = await request(`${gateway.management}/ready`)
          expect([status, headers['x-svc-degraded']]).toEqual([
            204,
            isThere ? undefined : 'shared-state',
          ])
          const metrics = await request(`${gateway.management}/metrics`)
          expect(metrics.text).toContain(
            `svc_gateway_shared_state{home="redis"} ${isThere ? 1 : 0}\n`,
          )
        }
      },
      { withinMs: 20_000 },
    )

  const finishAt = (gateway: GatewayProcess, browser: Browser, callback: URL): Promise<Page> => {
    browser.route(OWN, gateway.public)
    return browser.visit(callback, { from: new URL('http://127.0.0.1:1/') })
  }

  const begin = async (): Promise<{ readonly browser: Browser; readonly callback: URL }> => {
    const browser = rig.browser()
    return { browser, callback: await authorize(browser, loginOf('v1'), 'alice') }
  }

  const statusAt = async (gateway: GatewayProcess, ticket: string): Promise<number> => {
    const headers = { authorization: `Bearer ${ticket}` }
    return (await request(`${gateway.public}/v1/me`, { headers })).status
  }

  const ticketFrom = async (): Promise<string> => {
    const browser = rig.browser()
    await logInAt(browser, 'v1')
    return ticketOf(browser, REALM)
  }

  const logOutAt = async (gateway: GatewayProcess, ticket: string): Promise<number> => {
    const headers = { cookie: `svc_ticket_${REALM}=${ticket}` }
    return (await request(`${gateway.public}/v1/oidc/logout`, { headers })).status
  }

  it('a state works once, wherever', async () => {
    const { browser, callback } = await begin()
    const pages = await Promise.all(
      [two, one, two, one].map((gateway) => finishAt(gateway, browser, callback)),
    )
    expect(pages.map(({ status }) => status).toSorted()).toEqual([302, 400, 400, 400])
  })

  it('who logs out at one is out at the others', async () => {
    const ticket = await ticketFrom()
    expect([await statusAt(two, ticket), await logOutAt(one, ticket)]).toEqual([200, 302])
    await eventually(async () => {
      for (const gateway of [two, lenient]) expect(await statusAt(gateway, ticket)).toBe(401)
    })
  })

  const kill = (): Promise<void> => redis.kill()
  const fill = (): Promise<unknown> => redis.tell('CONFIG SET maxmemory 1')

  it.each([
    ['away', kill, () => redis.restart()],
    ['full', fill, () => redis.tell('CONFIG SET maxmemory 0')],
  ])(
    'while it is %s logins and tickets are refused, or accepted as the setting says, and nothing is forgotten',
    async (_, fault, cure) => {
      const [ended, kept] = [await ticketFrom(), await ticketFrom()]
      const [waiting, accepted] = [await begin(), await begin()]
      await fault()
      await areAware(false)

      const page = await finishAt(one, waiting.browser, waiting.callback)
      expect([page.status, page.text]).toEqual([503, '{"error":"provider_unavailable"}'])
      expect(page.headers['retry-after']).toMatch(/^\d+$/)
      expect((await finishAt(lenient, accepted.browser, accepted.callback)).status).toBe(302)
      expect([await statusAt(one, kept), await statusAt(lenient, kept)]).toEqual([503, 200])
      // Logging out never fails; the others are told when they can be.
      expect([await logOutAt(lenient, ended), await statusAt(lenient, ended)]).toEqual([302, 401])

      await cure()
      await areAware(true)
      // The login that was refused goes on where it was.
      expect((await finishAt(two, waiting.browser, waiting.callback)).status).toBe(302)
      expect(await statusAt(two, kept)).toBe(200)
      await eventually(async () => {
        for (const gateway of [one, two]) expect(await statusAt(gateway, ended)).toBe(401)
      })
    },
    60_000,
  )
})
