// Keys that change while people are logged in, or about to be: tickets of a realm's older key, states of an older
// key of the deployment, and what is published of them.

import { writeFile } from 'node:fs/promises'
import type { JsonWebKey } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { decodeProtectedHeader } from 'jose'
import { eventually } from '../../support/eventually.ts'
import { request } from '../../support/http-request.ts'
import { authorize, type Browser } from '../../support/login-driver.ts'
import {
  loginOf,
  logInAt,
  newSigningKey,
  OWN,
  startLoginRig,
  ticketOf,
  type LoginRig,
} from './login-rig.ts'

const REALM = 'com.example.realm'

let rig: LoginRig
let issuer: string

beforeAll(async () => {
  rig = await startLoginRig()
  issuer = (await rig.idp()).issuer
})

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

const serveWith = (...signingKeys: readonly JsonWebKey[]): Promise<void> =>
  rig.serve({ name: 'v1', realm: REALM, providers: { corp: { issuer } }, signingKeys })

const enter = async (): Promise<Browser> => {
  const browser = rig.browser()
  await logInAt(browser, 'v1')
  return browser
}

const kidOf = (browser: Browser): string =>
  decodeProtectedHeader(ticketOf(browser, REALM)).kid ?? ''

const publishedKids = async (): Promise<readonly string[]> => {
  const response = await request(`${rig.gateway.public}/.well-known/jwks.json`)
  const { keys } = response.json() as { readonly keys: readonly { readonly kid: string }[] }
  return keys.map(({ kid }) => kid)
}

const change = async (browser: Browser): Promise<number> => {
  const headers = { 'x-csrf-token': browser.jar.get(`svc_csrf_${REALM}`)?.value ?? '' }
  const ask = { method: 'POST', headers, isFetch: true, from: new URL(OWN) }
  return (await browser.visit(`${OWN}/v1/me`, ask)).status
}

it('a realm signs with its first key, and takes what its others have signed', async () => {
  const [older, newer] = [newSigningKey(), newSigningKey()]
  await serveWith(older)
  const early = await enter()
  await serveWith(newer, older)
  const late = await enter()
  expect(kidOf(late)).not.toBe(kidOf(early))
  expect(await publishedKids()).toEqual(expect.arrayContaining([kidOf(late), kidOf(early)]))
  // The CSRF value hangs on the key that has signed the ticket.
  expect([await change(early), await change(late)]).toEqual([200, 200])

  await serveWith(newer)
  expect(await publishedKids()).not.toContain(kidOf(early))
  expect([await change(early), await change(late)]).toEqual([401, 200])
})

it('a login under way survives a new state key, until the old one is taken away', async () => {
  await serveWith(newSigningKey())
  const path = rig.flags[rig.flags.indexOf('--oidc-state-keys-file') + 1] ?? ''
  const entry = (kid: string, key: Buffer): object => ({ kid, k: key.toString('base64url') })
  const write = (...keys: readonly object[]): Promise<void> =>
    writeFile(path, JSON.stringify({ keys }))
  const older = entry(rig.stateKey.kid, rig.stateKey.key)
  const newer = entry('next', Buffer.alloc(32, 7))

  const begin = async (): Promise<() => Promise<number>> => {
    const browser = rig.browser()
    const callback = await authorize(browser, loginOf('v1'), 'alice')
    const from = new URL('http://127.0.0.1:1/')
    return async () => (await browser.visit(callback, { from })).status
  }
  const sealedBy = async (): Promise<string> => {
    const login = await rig.browser().visit(loginOf('v1'))
    return decodeProtectedHeader(login.location?.searchParams.get('state') ?? '').kid ?? ''
  }
  const [finish, late] = [await begin(), await begin()]
  expect(await sealedBy()).toBe('test')
  await write(newer, older)
  await eventually(async () => {
    expect(await sealedBy()).toBe('next')
  })
  expect(await finish()).toBe(302)

  await write(entry('last', Buffer.alloc(32, 8)), newer)
  await eventually(async () => {
    expect(await sealedBy()).toBe('last')
  })
  expect(await late()).toBe(400)
})
