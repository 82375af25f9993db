// Whatever an identity provider does to the gateway: the table of the callback, over real processes.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { decodeJwt } from 'jose'
import type { Claims, IdpProxy } from '../../support/idp-proxy.ts'
import { authorize, type Browser, type Page } from '../../support/login-driver.ts'
import { ACTS, saying, type Act } from './idp-misbehaviours.ts'
import { loginOf, misfit, startLoginRig, ticketOf, type LoginRig, type Row } from './login-rig.ts'

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

const LONGEST_MS = 15_000

let rig: LoginRig

beforeAll(async () => {
  rig = await startLoginRig()
}, 30_000)

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
}, 30_000)

const actOf = ({ id, claims, without }: CallbackRow): Act => {
  const act = ACTS[id]
  if (act !== undefined) return act
  const gone = Object.fromEntries((without ?? []).map((name) => [name, undefined]))
  if (claims === undefined && without === undefined) throw new Error(`nobody acts out ${id}`)
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

const finish = async ({ browser, name }: Scene, row: CallbackRow): Promise<Page> => {
  const callback = await authorize(browser, loginOf(name, { redirect_uri: '/done' }), 'alice')
  actOf(row).answer?.(callback.searchParams)
  return browser.visit(callback, { from: new URL('http://127.0.0.1:1/') })
}

describe('at login', () => {
  it.each(cases.filter(({ at }) => at === 'login'))(
    '$id: $idp',
    async (row) => {
      const { browser, name } = await setUp(row)
      const started = performance.now()
      const page = await browser.visit(loginOf(name))
      expect(misfit(page, row)).toBeUndefined()
      expect(performance.now() - started).toBeLessThan(LONGEST_MS)
      const isDated = /^\d+$/.test(String(page.headers['retry-after']))
      expect(isDated).toBe(page.status === 503)
    },
    LONGEST_MS + 5000,
  )
})

describe('at the callback', () => {
  it.each(cases.filter(({ at }) => at !== 'login'))(
    '$id: $idp',
    async (row) => {
      const scene = await setUp(row)
      const started = performance.now()
      const page = await finish(scene, row)
      expect(misfit(page, row)).toBeUndefined()
      expect(performance.now() - started).toBeLessThan(LONGEST_MS)
      const isIn = page.status === 302
      expect(page.headers['location']).toBe(isIn ? '/done' : undefined)
      expect(page.headers['www-authenticate']).toBeUndefined()
      expect(scene.proxy.paths()).not.toContain('/evil')
      const claims = isIn ? decodeJwt(ticketOf(scene.browser, scene.realm)) : {}
      for (const [claim, value] of Object.entries(row.ticket ?? {}))
        expect({ claim, value: shown(claims[claim], value) }).toEqual({ claim, value })
    },
    LONGEST_MS + 5000,
  )

  it('nothing that a provider said, and no token, stands in the log', () => {
    const log = rig.gateway.logs().join('\n')
    expect(log).toContain('"audit":true')
    expect(log).not.toMatch(/db-1\.internal|eyJ[\w-]+\.[\w-]|idp-secret/)
  })
})

/** `present` and `absent` stand for any value, and none. */
const shown = (claim: unknown, expected: unknown): unknown => {
  if (expected !== 'present' && expected !== 'absent') return claim
  return claim === undefined ? 'absent' : 'present'
}
