// A login that begins in one process and ends in another: replicas, workers, and the same gateway after a restart.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startGateway, type GatewayProcess } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import { authorize, type Browser } from '../../support/login-driver.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import {
  loginOf,
  logInAt,
  newSigningKey,
  OWN,
  serve,
  startLoginRig,
  ticketOf,
  type LoginRig,
  type ServedApi,
} from './login-rig.ts'

const REALM = 'com.example.realm'

let rig: LoginRig
let api: ServedApi
/** Its keys are the gateway's own. */
let keyless: ServedApi

beforeAll(async () => {
  rig = await startLoginRig()
  const { issuer } = await rig.idp()
  keyless = { name: 'v1', realm: REALM, providers: { corp: { issuer } } }
  api = { ...keyless, signingKeys: [newSigningKey()] }
  await rig.serve(api)
})

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

const statusAt = async (origin: string, ticket: string): Promise<number> => {
  const headers = { authorization: `Bearer ${ticket}` }
  return (await request(`${origin}/v1/me`, { headers })).status
}

const finishAt = async (browser: Browser, callback: URL): Promise<number> =>
  (await browser.visit(callback, { from: new URL('http://127.0.0.1:1/') })).status

describe('a replica with the same keys, of two workers', () => {
  let replica: GatewayProcess

  beforeAll(async () => {
    replica = await startGateway({ flags: [...rig.flags, '--processes', '2'] })
    await serve(replica, api)
  })

  afterAll(() => replica.stop())

  it('shares a login and its ticket', async () => {
    const browser = rig.browser()
    const callback = await authorize(browser, loginOf('v1'), 'alice')
    browser.route(OWN, replica.public)
    expect(await finishAt(browser, callback)).toBe(302)
    const ticket = ticketOf(browser, REALM)
    expect(await statusAt(replica.public, ticket)).toBe(200)
    expect(await statusAt(rig.gateway.public, ticket)).toBe(200)
    const keysOf = async (origin: string): Promise<string> =>
      (await request(`${origin}/.well-known/jwks.json`)).text
    expect(await keysOf(replica.public)).toBe(await keysOf(rig.gateway.public))
  })

  it('has workers that finish the logins of each other, once', async () => {
    // Each request is a connection of its own: it may go to either.
    for (let count = 0; count < 6; count += 1) {
      const browser = rig.browser()
      browser.route(OWN, replica.public)
      const callback = await authorize(browser, loginOf('v1'), 'alice')
      const statuses = await Promise.all(
        Array.from({ length: 4 }, () => finishAt(browser, callback)),
      )
      expect(statuses.toSorted()).toEqual([302, 400, 400, 400])
    }
    const browser = rig.browser()
    browser.route(OWN, replica.public)
    await logInAt(browser, 'v1')
    const ticket = ticketOf(browser, REALM)
    await browser.visit(`${OWN}/v1/oidc/logout`)
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => statusAt(replica.public, ticket)),
    )
    expect(new Set(asked)).toEqual(new Set([401]))
  }, 60_000)
})

describe('a gateway with keys of its own', () => {
  it('shares nothing with strangers; a restart loses no login that is under way, no ticket and no logout', async () => {
    await using dir = await makeTempDir()
    const flags = ['--base-url', OWN, '--state-dir', dir.path]
    const before = await startGateway({ flags })
    await serve(before, keyless)
    const stranger = rig.browser()
    await logInAt(stranger, 'v1')
    expect(await statusAt(before.public, ticketOf(stranger, REALM))).toBe(401)
    const other = rig.browser()
    const away = await authorize(other, loginOf('v1'), 'alice')
    other.route(OWN, before.public)
    expect(await finishAt(other, away)).toBe(400)

    const [waiting, kept, left] = [rig.browser(), rig.browser(), rig.browser()]
    for (const browser of [waiting, kept, left]) browser.route(OWN, before.public)
    const callback = await authorize(waiting, loginOf('v1'), 'alice')
    await logInAt(kept, 'v1')
    await logInAt(left, 'v1')
    const gone = ticketOf(left, REALM)
    await left.visit(`${OWN}/v1/oidc/logout`)
    await before.kill()

    await using after = await startGateway({ flags })
    waiting.route(OWN, after.public)
    expect(await finishAt(waiting, callback)).toBe(302)
    expect(await statusAt(after.public, ticketOf(kept, REALM))).toBe(200)
    expect(await statusAt(after.public, gone)).toBe(401)
  }, 60_000)
})
