// Whatever somebody does to the way back from the provider: the table of states, over real processes.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { EncryptJWT, jwtDecrypt, SignJWT } from 'jose'
import { authorize, type Browser, type Page } from '../../support/login-driver.ts'
import {
  callbackOf,
  loginOf,
  logInAt,
  misfit,
  startLoginRig,
  ticketOf,
  type LoginRig,
  type Row,
} from './login-rig.ts'

interface StateRow extends Row {
  readonly id: string
  readonly request: string
}

const file = join(import.meta.dirname, '../../dataplane/oidc/cases/states.json')
const { cases } = JSON.parse(await readFile(file, 'utf8')) as {
  readonly cases: readonly StateRow[]
}

let rig: LoginRig

beforeAll(async () => {
  rig = await startLoginRig()
  const { issuer } = await rig.idp({ apis: ['a', 'b'], names: ['corp', 'other'] })
  const providers = { corp: { issuer }, other: { issuer } }
  await rig.serve({ name: 'a', realm: 'com.example.a', providers })
  await rig.serve({ name: 'b', realm: 'com.example.b', providers })
})

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

/** A browser that comes back from the provider, and with what. */
interface Return {
  readonly browser: Browser
  readonly callback: URL
  /** As the provider gave it. */
  readonly state: string
}

type Deed = (comeBack: Return) => Promise<Page>

const FROM_IDP = { from: new URL('http://127.0.0.1:1/interaction') }

const visit = (browser: Browser, url: URL | string): Promise<Page> => browser.visit(url, FROM_IDP)

/** With other parameters; undefined takes one away. */
const withQuery =
  (change: (comeBack: Return) => Readonly<Record<string, string | undefined>>): Deed =>
  (comeBack) => {
    for (const [name, value] of Object.entries(change(comeBack))) {
      if (value === undefined) comeBack.callback.searchParams.delete(name)
      else comeBack.callback.searchParams.set(name, value)
    }
    return visit(comeBack.browser, comeBack.callback)
  }

const twice =
  (name: string): Deed =>
  ({ browser, callback }) => {
    callback.searchParams.append(name, callback.searchParams.get(name) ?? '')
    return visit(browser, callback)
  }

const atOther =
  (path: string): Deed =>
  ({ browser, callback }) =>
    visit(browser, `${path}${callback.search}`)

const withState =
  (change: (state: string) => Promise<string> | string): Deed =>
  async (comeBack) => {
    comeBack.callback.searchParams.set('state', await change(comeBack.state))
    return visit(comeBack.browser, comeBack.callback)
  }

/** Another character in the middle: the last one may hold spare bits. */
const spoilt = (text: string): string => {
  const middle = Math.floor(text.length / 2)
  const other = text.charAt(middle) === 'A' ? 'B' : 'A'
  return text.slice(0, middle) + other + text.slice(middle + 1)
}

const flip = (index: number): Deed =>
  withState((state) =>
    state
      .split('.')
      .map((part, at) => (at === index ? spoilt(part) : part))
      .join('.'),
  )

/** The genuine one, an hour later. */
const aged = async (state: string): Promise<string> => {
  const { payload, protectedHeader } = await jwtDecrypt(state, rig.stateKey.key)
  const past = Math.floor(Date.now() / 1000) - 3600
  const { alg, enc, kid = '', typ = '' } = protectedHeader
  return new EncryptJWT({ ...payload, iat: past - 600, exp: past })
    .setProtectedHeader({ alg, enc, kid, typ })
    .encrypt(rig.stateKey.key)
}

const bindingName = ({ jar }: Browser): string =>
  jar.cookies.find(({ name }) => name.startsWith('__Host-svc_oidc_'))?.name ?? 'none'

const spoilBinding = ({ jar }: Browser): void => {
  const cookie = jar.cookies.find(({ name }) => name.startsWith('__Host-svc_oidc_'))
  if (cookie === undefined) throw new Error('the login has left no cookie')
  jar.put({ ...cookie, value: spoilt(cookie.value) })
}

const DEEDS: Readonly<Record<string, Deed>> = {
  'no-code': withQuery(() => ({ code: undefined })),
  'no-state': withQuery(() => ({ state: undefined })),
  neither: withQuery(() => ({ code: undefined, state: undefined, iss: undefined })),
  'empty-code': withQuery(() => ({ code: '' })),
  'empty-state': withQuery(() => ({ state: '' })),
  'idp-said-no': withQuery(() => ({ code: undefined, error: 'access_denied' })),
  'code-twice': twice('code'),
  'state-twice': twice('state'),
  nonsense: withState(() => 'nonsense'),
  'five-parts': withState(() => 'a.b.c.d.e'),
  'flip-header': flip(0),
  'flip-iv': flip(2),
  'flip-ciphertext': flip(3),
  'flip-tag': flip(4),
  truncated: withState((state) => state.slice(0, -10)),
  jws: withState(() =>
    new SignJWT({ realm: 'com.example.a' })
      .setProtectedHeader({ alg: 'HS256', kid: rig.stateKey.kid, typ: 'svc-state+jwt' })
      .sign(rig.stateKey.key),
  ),
  'alg-none': withState(() => `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`),
  'ticket-as-state': withState(async () => {
    const other = rig.browser()
    await logInAt(other, 'a')
    return ticketOf(other, 'com.example.a')
  }),
  huge: withState(() => 'x'.repeat(12_000)),
  'other-realm': atOther(callbackOf('b')),
  'other-provider': atOther(callbackOf('a', 'other')),
  'unknown-provider': atOther(callbackOf('a', 'nobody')),
  'prototype-provider': atOther(callbackOf('a', '__proto__')),
  'constructor-provider': atOther(callbackOf('a', 'constructor')),
  'other-browser': ({ callback }) => visit(rig.browser(), callback),
  'wrong-cookie': ({ browser, callback }) => {
    spoilBinding(browser)
    return visit(browser, callback)
  },
  'wrong-cookie-no-metadata': ({ browser, callback }) => {
    spoilBinding(browser)
    const tool = rig.browser({ hasFetchMetadata: false })
    for (const cookie of browser.jar.cookies) tool.jar.put(cookie)
    return visit(tool, callback)
  },
  'no-browser': ({ callback }) => visit(rig.browser({ hasFetchMetadata: false }), callback),
  'two-tabs': async ({ browser, callback }) => {
    const second = await authorize(browser, loginOf('a'), 'alice')
    const page = await visit(browser, second)
    if (page.status !== 302) return page
    return visit(browser, callback)
  },
  replay: async ({ browser, callback }) => {
    const page = await visit(browser, callback)
    if (page.status !== 302) throw new Error(`the first time: ${page.status} ${page.text}`)
    return visit(browser, callback)
  },
  expired: withState(aged),
}

const comeBack = async (browser = rig.browser()): Promise<Return> => {
  const callback = await authorize(browser, loginOf('a', { redirect_uri: '/done' }), 'alice')
  return { browser, callback, state: callback.searchParams.get('state') ?? '' }
}

describe('a callback', () => {
  it.each(cases)('$id: $request', async (row) => {
    const deed = DEEDS[row.id]
    if (deed === undefined) throw new Error(`no case does ${row.id}`)
    expect(misfit(await deed(await comeBack()), row)).toBeUndefined()
  })

  it('takes the honest way after each of them in the same browser', async () => {
    const browser = rig.browser()
    for (const id of ['flip-tag', 'other-realm', 'truncated'])
      await DEEDS[id]?.(await comeBack(browser))
    const { callback } = await comeBack(browser)
    expect((await visit(browser, callback)).headers['location']).toBe('/done')
  })

  it('spends no state on a wrong browser: the right one still comes in', async () => {
    const { browser, callback } = await comeBack()
    expect((await visit(rig.browser(), callback)).status).toBe(400)
    expect((await visit(browser, callback)).status).toBe(302)
  })

  it('leaves at most sixteen logins open in one browser', async () => {
    const browser = rig.browser()
    const returns: Return[] = []
    for (let count = 0; count < 18; count += 1) returns.push(await comeBack(browser))
    const open = browser.jar.cookies.filter(({ name }) => name.startsWith('__Host-svc_oidc_'))
    expect(open).toHaveLength(16)
    const newest = returns.at(-1)
    expect((await visit(browser, newest?.callback ?? '')).status).toBe(302)
    expect(bindingName(browser)).toMatch(/^__Host-svc_oidc_[\w-]+$/)
  })
})
