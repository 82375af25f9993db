// Somebody logs in at a real provider; what the gateway knows them by afterwards, a session cookie or a bearer token, is
// exchanged at a real authorization server for a token of theirs that the upstream gets in its place.

import { createPublicKey } from 'node:crypto'
import { jwtVerify } from 'jose'
import { expect, it } from '@jest/globals'
import { startIdp } from '../../../dev/idp/idp.ts'
import { logInAt, newSigningKey, OWN, startLoginRig, ticketOf } from '../oidc/login-rig.ts'
import { forwarding, startUpstream } from './credentials-rig.ts'

const REALM = 'com.example.exchange'
const SECRET = 'never-to-be-seen-anywhere'
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'

it('the ticket of a login is exchanged, from a cookie and from a header', async () => {
  const signingKey = newSigningKey()
  const publicKey = createPublicKey({ key: signingKey, format: 'jwk' })
  const exchanged: string[] = []
  await using server = await startIdp({
    port: 0,
    clients: [{ clientId: 'gateway', clientSecret: SECRET, redirectUris: [], grants: [GRANT] }],
    subjectOf: async (token) => {
      exchanged.push(token)
      try {
        const { authid } = (await jwtVerify(token, publicKey)).payload
        return typeof authid === 'string' ? authid : undefined
      } catch {
        return undefined
      }
    },
  })
  await using upstream = await startUpstream()
  const { origin } = upstream
  await using rig = await startLoginRig()
  const { issuer } = await rig.idp()
  await rig.serve({
    name: 'v1',
    realm: REALM,
    providers: { corp: { issuer } },
    signingKeys: [signingKey],
    credentials: {
      exchanged: {
        origins: [origin],
        token_exchange: {
          token_endpoint: `${server.origin}/token`,
          client_id: 'gateway',
          client_secret: SECRET,
          allow_unsafe_http: true,
        },
      },
    },
    paths: { '/billing': { get: forwarding(origin, 'exchanged') } },
  })

  const logIn = async (name: string) => {
    const browser = rig.browser()
    await logInAt(browser, 'v1', name)
    return { browser, ticket: ticketOf(browser, REALM) }
  }
  const alice = await logIn('alice')
  const bob = await logIn('bob')
  const headers = { authorization: `Bearer ${alice.ticket}` }
  const pages = [
    await alice.browser.visit(`${OWN}/v1/billing`),
    await bob.browser.visit(`${OWN}/v1/billing`),
    await rig.browser().visit(`${OWN}/v1/billing`, { headers }),
    await rig.browser().visit(`${OWN}/v1/billing`),
  ]
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 401])
  // Whose token is there already is not asked for again, however it came.
  expect(exchanged).toEqual([alice.ticket, bob.ticket])
  const [first, second, third] = upstream.seen.map(({ authorization }) => authorization)
  expect(first).toMatch(/^Bearer \S{20,}$/)
  expect(third).toBe(first)
  expect(second).toMatch(/^Bearer \S{20,}$/)
  expect(second).not.toBe(first)
  const reached = upstream.seen.flatMap(({ rawHeaders }) => rawHeaders).join('\n')
  const logged = rig.gateway.logs().join('\n')
  for (const { ticket } of [alice, bob]) {
    expect(ticket).not.toBe('')
    expect(reached).not.toContain(ticket)
    expect(logged).not.toContain(ticket)
  }
  expect(logged).not.toContain(SECRET)
}, 60_000)
