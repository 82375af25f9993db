// Several providers, versions and realms in one gateway at once: each login goes to its own provider, each ticket
// is good in its own realm, whichever version or provider it came by.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { decodeJwt } from 'jose'
import { request } from '../../support/http-request.ts'
import type { IdpProxy } from '../../support/idp-proxy.ts'
import { post } from '../gateway-client.ts'
import { loginOf, logInAt, OWN, startLoginRig, ticketOf, type LoginRig } from './login-rig.ts'

const REALM = 'com.example.many'
const NEIGHBOUR = 'com.example.neighbour'

let rig: LoginRig
let corp: IdpProxy
let club: IdpProxy

/** Two versions with a provider each, one of which serves nothing else; a realm next door with one of the two. */
beforeAll(async () => {
  rig = await startLoginRig()
  const names = ['corp', 'club']
  corp = await rig.idp({ apis: ['many', 'neighbour'], names })
  club = await rig.idp({ apis: ['many'], names })
  const providers = { corp: { issuer: corp.issuer }, club: { issuer: club.issuer } }
  await rig.serve({ name: 'many', realm: REALM, providers })
  await rig.serve({
    name: 'neighbour',
    realm: NEIGHBOUR,
    providers: { corp: { issuer: corp.issuer } },
  })
  const me = {
    get: { action: { type: 'static', body: '{{security.authid}}' }, response: {} },
  }
  const { status, text } = await post(rig.gateway, '/api_specs', {
    id: 'many',
    host: '_',
    realm_uri: REALM,
    versions: {
      v1: {
        base_path: '/many',
        defaults: { security: { type: 'oidc', provider: 'corp' } },
        paths: { '/me': me },
      },
      v2: {
        base_path: '/members',
        defaults: { security: { type: 'oidc', provider: 'club' } },
        paths: {},
      },
    },
  })
  if (status !== 204) throw new Error(text)
}, 60_000)

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

const authorizes = async (
  api: string,
  query: Readonly<Record<string, string>> = {},
): Promise<unknown> => (await rig.browser().visit(loginOf(api, query))).location?.origin

it('each version asks its own provider, or the one that is named', async () => {
  expect(await authorizes('many')).toBe(corp.issuer)
  expect(await authorizes('members')).toBe(club.issuer)
  expect(await authorizes('many', { provider: 'club' })).toBe(club.issuer)
  expect(await authorizes('members', { provider: 'corp' })).toBe(corp.issuer)
  const unknown = await rig.browser().visit(loginOf('neighbour', { provider: 'club' }))
  expect([unknown.status, unknown.text]).toEqual([404, '{"error":"unknown_provider"}'])
})

it('a ticket of either is good in the whole realm, and nowhere else', async () => {
  const [staff, member, stranger] = [rig.browser(), rig.browser(), rig.browser()]
  await logInAt(staff, 'many')
  await logInAt(member, 'members', 'bob')
  await logInAt(stranger, 'neighbour')
  const tickets = [ticketOf(staff, REALM), ticketOf(member, REALM), ticketOf(stranger, NEIGHBOUR)]
  expect(tickets.map((ticket) => decodeJwt(ticket)['oidc_provider'])).toEqual([
    'corp',
    'club',
    'corp',
  ])
  const statuses = await Promise.all(
    tickets.map(async (ticket) => {
      const headers = { authorization: `Bearer ${ticket}` }
      const responses = await Promise.all(
        ['many', 'neighbour'].map((api) => request(`${rig.gateway.public}/${api}/me`, { headers })),
      )
      return responses.map(({ status }) => status)
    }),
  )
  expect(statuses).toEqual([
    [200, 401],
    [200, 401],
    [401, 200],
  ])
})

it('logins of two realms live in one browser; logging out of one leaves the other', async () => {
  const browser = rig.browser()
  await logInAt(browser, 'many')
  await logInAt(browser, 'neighbour')
  const statuses = async (): Promise<readonly number[]> => [
    (await browser.visit(`${OWN}/many/me`)).status,
    (await browser.visit(`${OWN}/neighbour/me`)).status,
  ]
  expect(await statuses()).toEqual([200, 200])
  await browser.visit(`${OWN}/members/oidc/logout`)
  expect(await statuses()).toEqual([401, 200])
})
