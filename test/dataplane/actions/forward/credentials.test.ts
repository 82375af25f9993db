// What a forward does with the credential that its document names: for each attempt, for each host, and when the upstream
// does not accept it.

import { expect, it } from '@jest/globals'
import type { CredentialUse } from '../../../../dataplane/credentials/credential-registry.ts'
import {
  type AuthorizationResult,
  CredentialError,
} from '../../../../dataplane/credentials/credential.ts'
import type { ForwardCredentials } from '../../../../dataplane/actions/forward/forward-credential.ts'
import { SYSTEM_CLOCK } from '../../../../dataplane/upstream/retry.ts'
import { constant } from '../../../../language/expression/template.ts'
import { eventually } from '../../../support/eventually.ts'
import { bodyOf, call, operationOf, READ_ALL, startGateway } from './forward-fixture.ts'
import { closers, gatewayTo, leave, serving } from './forward-rig.ts'

const ACTION = { credential: 'billing' }

interface Wallet extends ForwardCredentials {
  readonly uses: CredentialUse[]
  readonly rejected: string[]
}

/** Gives `token-1`, and the next one once that was refused, as often as it is let. */
const walletFor = (origins: readonly string[], { renewals = 1, mayUse = true } = {}): Wallet => {
  const uses: CredentialUse[] = []
  const rejected: string[] = []
  return {
    uses,
    rejected,
    mayUse: () => mayUse,
    authorize: (use, done) => {
      uses.push(use)
      const value = `token-${rejected.length + 1}`
      const result: AuthorizationResult = origins.includes(use.origin)
        ? {
            ok: true,
            authorization: {
              header: `Bearer ${value}`,
              renewal: {
                reject: () => {
                  if (rejected.length >= renewals) return false
                  rejected.push(value)
                  return true
                },
                accept: () => undefined,
              },
            },
          }
        : { ok: false, error: new CredentialError('credential_origin', 'not for this one') }
      done(result)
    },
  }
}

/** Accepts one token alone, and remembers what it was sent. */
const upstreamTaking = async (accepted: string) => {
  const seen: (readonly [authorization: string | undefined, body: string])[] = []
  const { origin } = await serving((request, response) => {
    const { authorization } = request.headers
    void bodyOf(request).then((body) => {
      seen.push([authorization, body.toString()])
      response.writeHead(authorization === `Bearer ${accepted}` ? 200 : 401)
      response.end('said')
    })
  })
  return { origin, seen }
}

it('is sent once more with another token after a 401, body and all', async () => {
  const { origin, seen } = await upstreamTaking('token-2')
  const credentials = walletFor([origin])
  const gateway = await gatewayTo(origin, { action: ACTION }, { credentials, realm: 'r' })
  const response = await call(gateway, { method: 'POST', body: 'hello' })
  expect([response.status, response.text]).toEqual([200, 'said'])
  expect(seen).toEqual([
    ['Bearer token-1', 'hello'],
    ['Bearer token-2', 'hello'],
  ])
})

it('hides the challenge of the upstream from the client', async () => {
  const { origin } = await serving((_, response) => {
    response.writeHead(401, { 'www-authenticate': 'Bearer', 'x-up': 'up' }).end('said')
  })
  const credentials = walletFor([origin], { renewals: 0 })
  const gateway = await gatewayTo(origin, { action: ACTION }, { credentials, realm: 'r' })
  const { status, headers, text } = await call(gateway)
  expect([status, headers['www-authenticate'], headers['x-up'], text]).toEqual([
    401,
    undefined,
    'up',
    'said',
  ])
})

it('is sent no third time', async () => {
  const { origin, seen } = await upstreamTaking('none')
  const credentials = walletFor([origin], { renewals: 10 })
  const gateway = await gatewayTo(origin, { action: ACTION }, { credentials, realm: 'r' })
  expect((await call(gateway)).status).toBe(401)
  expect(seen).toHaveLength(2)
})

it('is not sent again where there is no other token, or its body is too long to be kept', async () => {
  const { origin, seen } = await upstreamTaking('none')
  const poor = walletFor([origin], { renewals: 0 })
  const gateway = await gatewayTo(origin, { action: ACTION }, { credentials: poor, realm: 'r' })
  expect((await call(gateway)).status).toBe(401)
  const rich = walletFor([origin])
  const other = await gatewayTo(origin, { action: ACTION }, { credentials: rich, realm: 'r' })
  const body = 'x'.repeat(200_000)
  expect((await call(other, { method: 'POST', body })).status).toBe(401)
  // The next request has another token all the same.
  expect([seen.length, rich.rejected]).toEqual([2, ['token-1']])
})

it('is refused, and not sent without, where the document may not use it or nothing is there', async () => {
  const { origin, seen } = await upstreamTaking('x')
  for (const credentials of [undefined, walletFor([origin], { mayUse: false }), walletFor([])]) {
    const gateway = await gatewayTo(
      origin,
      { action: ACTION, ...READ_ALL },
      { credentials, realm: 'r' },
    )
    const response = await call(gateway)
    expect([response.status, gateway.outcomes]).toEqual([504, ['fail']])
    expect(response.text).not.toContain('127.0.0.1')
    expect(gateway.failures[0]?.reason).toMatch(/^credential_(missing|origin)$/)
  }
  expect(seen).toEqual([])
})

it('asks for each attempt, so that no host gets what is for another', async () => {
  const good = await upstreamTaking('token-1')
  const thief = await upstreamTaking('x')
  const credentials = walletFor([good.origin, 'http://127.0.0.1:1'])
  const hosts = ['http://127.0.0.1:1', thief.origin].map((host, at) => ({
    host: constant(host),
    weight: constant(at === 0 ? 1000 : 1),
  }))
  const gateway = await startGateway(
    operationOf({ action: { ...ACTION, hosts }, limits: { retries: constant(3) } }),
    { credentials, realm: 'r', clock: { ...SYSTEM_CLOCK, random: () => 0 } },
  )
  closers.push(() => gateway.close())
  expect((await call(gateway)).status).toBe(504)
  expect(credentials.uses.map(({ origin }) => origin)).toEqual(['http://127.0.0.1:1', thief.origin])
  expect(thief.seen).toEqual([])
  expect(gateway.failures.at(-1)?.reason).toBe('credential_origin')
})

it('follows no redirect of the upstream', async () => {
  const thief = await upstreamTaking('x')
  const { origin } = await serving((_request, response) => {
    response.writeHead(307, { location: `${thief.origin}/` })
    response.end()
  })
  const gateway = await gatewayTo(
    origin,
    { action: ACTION },
    { credentials: walletFor([origin]), realm: 'r' },
  )
  expect((await call(gateway)).status).toBe(307)
  expect(thief.seen).toEqual([])
})

it('is not sent if its client has left while a token was requested', async () => {
  const { origin, seen } = await upstreamTaking('token-1')
  let asked: (() => void) | undefined
  const waiting = new Promise<void>((resolve) => (asked = resolve))
  let give: (() => void) | undefined
  let askedFor = 0
  const wallet = walletFor([origin])
  const credentials: ForwardCredentials = {
    mayUse: () => true,
    authorize: (use, done) => {
      askedFor++
      give = () => {
        wallet.authorize(use, done)
      }
      asked?.()
    },
  }
  const cancelled = { count: 0 }
  const gateway = await gatewayTo(
    origin,
    { action: ACTION },
    {
      credentials,
      realm: 'r',
      change: (exchange) => {
        const before = exchange.onCancel.bind(exchange)
        exchange.onCancel = (cancel) => {
          before(
            cancel &&
              (() => {
                cancelled.count++
                cancel()
              }),
          )
        }
      },
    },
  )
  await leave(gateway, '/x', waiting)
  await eventually(() => {
    expect(cancelled.count).toBe(1)
  })
  give?.()
  const other = call(gateway)
  await eventually(() => {
    expect(askedFor).toBe(2)
  })
  give?.()
  expect((await other).status).toBe(200)
  // The other one alone.
  expect(seen).toHaveLength(1)
})
