// Whatever an identity provider does to the gateway: the table of the callback, over real processes.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { decodeJwt, SignJWT } from 'jose'
import { eventually } from '../../support/eventually.ts'
import type { Claims, IdpProxy, Misbehaviour } from '../../support/idp-proxy.ts'
import { authorize, type Browser, type Page } from '../../support/login-driver.ts'
import { ACTS, saying, type Act } from './idp-misbehaviours.ts'
import {
  loginOf,
  logInAt,
  misfit,
  startLoginRig,
  ticketOf,
  type LoginRig,
  type Row,
} from './login-rig.ts'

interface CallbackRow extends Row {
  readonly id: string
  readonly idp: string
  readonly at?: 'login'
  readonly why: string
  readonly claims?: Claims
  readonly without?: readonly string[]
  readonly ticket?: Readonly<Record<string, unknown>>
}

const file = join(import.meta.dirname, '../../dataplane/oidc/cases/callback.json')
const { cases } = JSON.parse(await readFile(file, 'utf8')) as {
  readonly cases: readonly CallbackRow[]
}

/** A gateway that does not give up by itself waits for longer. */
const LONGEST_MS = 60_000

let rig: LoginRig

beforeAll(async () => {
  rig = await startLoginRig()
})

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

const actOf = ({ id, claims, without }: CallbackRow): Act => {
  const act = ACTS[id]
  if (act !== undefined) return act
  const gone = Object.fromEntries((without ?? []).map((name) => [name, undefined]))
  if (claims === undefined && without === undefined) throw new Error(`no case acts out ${id}`)
  return saying({ ...gone, ...claims })
}

interface Scene {
  readonly browser: Browser
  readonly proxy: IdpProxy
  readonly realm: string
  readonly name: string
}

const setUp = async (row: CallbackRow): Promise<Scene> => {
  const name = `case-${row.id}`
  const realm = `com.example.${row.id}`
  const proxy = await rig.idp({ apis: [name] })
  proxy.behave(actOf(row).proxy ?? {})
  const issuer = row.id === 'unreachable' ? 'http://127.0.0.1:1' : proxy.issuer
  await rig.serve({ name, realm, providers: { corp: { issuer } } })
  return { browser: rig.browser(), proxy, realm, name }
}

const begin = ({ browser, name }: Scene): Promise<Page> => browser.visit(loginOf(name))

const finish = async ({ browser, name }: Scene, row: CallbackRow): Promise<Page> => {
  const callback = await authorize(browser, loginOf(name, { redirect_uri: '/done' }), 'alice')
  actOf(row).answer?.(callback.searchParams)
  return browser.visit(callback, { from: new URL('http://127.0.0.1:1/') })
}

/** What the gateway waits for, for as long as it may, is begun first: the others pass meanwhile. */
const [waiting, prompt] = [true, false].map((isSlow) =>
  cases.filter(({ id }) => /-(?:hang|slow)$/.test(id) === isSlow),
)

// Each has a provider and a realm of its own.
describe('a provider', () => {
  it.concurrent(
    'may change its keys: a token of a new one is taken after one more look, one of an unknown key is not',
    async () => {
      const name = 'keys'
      const proxy = await rig.idp({ apis: [name] })
      await rig.serve({
        name,
        realm: 'com.example.keys',
        providers: { corp: { issuer: proxy.issuer } },
      })
      const behaveAs = (kid: string, rest: Misbehaviour = {}): void => {
        proxy.behave({
          ...rest,
          idToken: ({ claims, strangerKey }) =>
            new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid }).sign(strangerKey),
        })
      }
      await logInAt(rig.browser(), name)
      const looks = proxy.count('jwks')
      behaveAs('next', {
        keys: (keys, stranger) => [...keys, { ...stranger, kid: 'next', alg: 'RS256', use: 'sig' }],
      })
      // At once, but not within 10 s of the last look.
      let lookedMs = 0
      const logIn = async (): Promise<void> => {
        lookedMs = performance.now()
        await logInAt(rig.browser(), name)
      }
      await eventually(logIn, { withinMs: 30_000, everyMs: 500 })
      expect(proxy.count('jwks')).toBe(looks + 1)
      // The next unknown one is not looked up again: at most every 10 s.
      behaveAs('another')
      const fresh = rig.browser()
      const refused = await fresh.visit(await authorize(fresh, loginOf(name), 'alice'))
      expect([refused.status, refused.text]).toEqual([400, '{"error":"token_exchange_failed"}'])
      // A machine that was held up for so long has let it be looked up again.
      const most = performance.now() - lookedMs < 10_000 ? 1 : 2
      expect(proxy.count('jwks')).toBeLessThanOrEqual(looks + most)
    },
    LONGEST_MS,
  )

  it.concurrent.each([...(waiting ?? []), ...(prompt ?? [])])(
    '$id: $idp',
    async (row) => {
      const scene = await setUp(row)
      const page = await (row.at === 'login' ? begin(scene) : finish(scene, row))
      expect(misfit(page, row)).toBeUndefined()
      if (row.at === 'login') expectOfLogin(page)
      else expectOfCallback(page, scene, row)
    },
    LONGEST_MS,
  )
})

it('nothing that a provider said, and no token, stands in the log', () => {
  const log = rig.gateway.logs().join('\n')
  expect(log).toContain('"audit":true')
  expect(log).not.toMatch(/db-1\.internal|eyJ[\w-]+\.[\w-]|idp-secret/)
})

const expectOfLogin = (page: Page): void => {
  const isDated = /^\d+$/.test(String(page.headers['retry-after']))
  expect(isDated).toBe(page.status === 503)
}

const expectOfCallback = (page: Page, scene: Scene, row: CallbackRow): void => {
  const isIn = page.status === 302
  expect(page.headers['location']).toBe(isIn ? '/done' : undefined)
  expect(page.headers['www-authenticate']).toBeUndefined()
  expect(scene.proxy.paths()).not.toContain('/evil')
  const claims = isIn ? decodeJwt(ticketOf(scene.browser, scene.realm)) : {}
  for (const [claim, value] of Object.entries(row.ticket ?? {}))
    expect({ claim, value: shown(claims[claim], value) }).toEqual({ claim, value })
}

/** `present` and `absent` stand for any value, and none. */
const shown = (claim: unknown, expected: unknown): unknown => {
  if (expected !== 'present' && expected !== 'absent') return claim
  return claim === undefined ? 'absent' : 'present'
}
