import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { decodeJwt } from 'jose'
import type { OidcResponse } from '../../../../dataplane/oidc/oidc-endpoint.ts'
import { createGuard } from '../../../../dataplane/upstream/destinations/guard.ts'
import { createGuardedFetch } from '../../../../dataplane/upstream/destinations/guarded-fetch.ts'
import { settled } from '../../../support/settled.ts'
import {
  FakeProvider,
  forge,
  newPair,
  rs256,
  sendJson,
  type Claims,
  type Misbehaviour,
  type SigningPair,
} from '../fake-provider.ts'
import {
  Browser,
  headerOf,
  openRoom,
  providerRecord,
  realmRecord,
  REALM,
  setCookies,
  type TestRoom,
} from '../room.ts'

interface Case {
  readonly id: string
  readonly idp: string
  readonly at?: 'login'
  readonly status: number | readonly number[]
  readonly error?: string
  readonly or?: readonly { readonly status: number; readonly error?: string }[]
  readonly claims?: Claims
  readonly without?: readonly string[]
  readonly ticket?: Readonly<Record<string, unknown>>
}

const { cases } = JSON.parse(
  readFileSync(new URL('../cases/callback.json', import.meta.url), 'utf8'),
) as { readonly cases: readonly Case[] }

const pair = newPair('k1')
const other = newPair('k2')
const impostor: SigningPair = { ...other, kid: 'k1' }
const hang = (): void => undefined
const reset = (response: ServerResponse): void => {
  response.socket?.resetAndDestroy()
}
const status =
  (code: number, body = 'something went wrong at db-1.internal') =>
  (response: ServerResponse): void => {
    response.writeHead(code, { 'content-type': 'text/html' }).end(body)
  }
const over = (claims: Claims): Misbehaviour => ({ claims })
const omit = (claims: Claims, name: string): Claims =>
  Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name))
const seconds = (): number => Math.floor(Date.now() / 1000)
const hs256 = (claims: Claims, secret: string): string => {
  const unsigned = forge({ alg: 'HS256', kid: 'k1' }, claims, '').slice(0, -1)
  return `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`
}

/** What each row of the table says in words. Rows that only change claims have none. */
const MISBEHAVIOURS: Readonly<Record<string, Misbehaviour>> = {
  fine: {},
  'authid-default': {},
  'bad-signature': {
    idToken: async (claims, op) => {
      const [head, body, signature = ''] = (await op.sign(claims)).split('.')
      return [
        head,
        body,
        signature.slice(0, -8) + signature.slice(-8).split('').reverse().join(''),
      ].join('.')
    },
  },
  'other-key-same-kid': { idToken: (claims, op) => op.sign(claims, impostor) },
  'other-key': { idToken: (claims, op) => op.sign(claims, other) },
  'alg-none': { idToken: (claims) => forge({ alg: 'none' }, claims, '') },
  'cut-signature': { idToken: (claims) => forge({ alg: 'RS256', kid: 'k1' }, claims, '') },
  'hs256-secret': { idToken: (claims) => hs256(claims, 'client-secret/with:odd%chars') },
  'hs256-public': {
    idToken: (claims) =>
      hs256(claims, pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()),
  },
  'jwk-header': {
    idToken: (claims) => {
      const jwk = other.publicKey.export({ format: 'jwk' })
      const unsigned = forge({ alg: 'RS256', kid: 'k9', jwk }, claims, '').slice(0, -1)
      return `${unsigned}.${rs256(unsigned, other)}`
    },
  },
  'jku-header': {
    idToken: (claims, op) =>
      op.sign(claims, other, { jku: `${op.issuer}/evil-jwks`, x5u: `${op.issuer}/evil-x5u` }),
  },
  'not-jwt': { idToken: () => 'plain text' },
  'wrong-iss': over({ iss: 'https://evil.example' }),
  'iss-slash': { idToken: (claims, op) => op.sign({ ...claims, iss: `${op.issuer}/` }) },
  'wrong-aud': over({ aud: 'another-client' }),
  'aud-other-list': over({ aud: ['another-client', 'a-third'] }),
  'aud-list': over({ aud: ['another-client', 'gateway'], azp: 'gateway' }),
  'azp-other': over({ aud: ['another-client', 'gateway'], azp: 'another-client' }),
  'no-nonce': { without: ['nonce'] },
  'other-nonce': over({ nonce: 'n-of-another-login' }),
  expired: over({ iat: seconds() - 7200, exp: seconds() - 3600 }),
  'no-exp': { without: ['exp'] },
  'nbf-future': over({ nbf: seconds() + 3600 }),
  'iat-future': over({ iat: seconds() + 7200, exp: seconds() + 9000 }),
  'no-sub': { without: ['sub'] },
  'sub-number': over({ sub: 42 }),
  'invalid-grant': {
    token: (response) => {
      sendJson(response, { error: 'invalid_grant' }, 400)
    },
  },
  'invalid-client': {
    token: (response) => {
      response.setHeader('www-authenticate', 'Basic realm="idp"')
      sendJson(response, { error: 'invalid_client' }, 401)
    },
  },
  'token-500': { token: status(500) },
  'token-503': { token: status(503) },
  'token-reset': { token: reset },
  'token-hang': { token: hang },
  'token-html': { token: status(200) },
  'token-empty': {
    token: (response) => {
      response.end()
    },
  },
  'token-truncated': {
    token: (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '4000' })
      response.write('{"access_token":', () => response.destroy())
    },
  },
  'token-huge': {
    token: (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = Buffer.alloc(1024 * 1024, 0x20)
      let left = 64
      const write = (): void => {
        while (left > 0) {
          left -= 1
          if (!response.write(chunk)) {
            response.once('drain', write)
            return
          }
        }
        response.end('{}')
      }
      write()
    },
  },
  'no-id-token': {
    token: (response, received) => {
      sendJson(response, omit(received, 'id_token'))
    },
  },
  // Within the five seconds that are asked for, and later than everything else: the component test takes the time.
  'token-slow': {
    token: (response, received) => {
      void settled().then(() => {
        sendJson(response, received)
      })
    },
  },
  'no-refresh': {
    token: (response, received) => {
      sendJson(response, omit(received, 'refresh_token'))
    },
  },
  'jwks-500': { jwks: status(500) },
  'jwks-hang': { jwks: hang },
  'jwks-empty': {
    jwks: (response) => {
      sendJson(response, { keys: [] })
    },
  },
  'jwks-other': {
    jwks: (response) => {
      const jwk = { ...other.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256' }
      sendJson(response, { keys: [jwk] })
    },
  },
  'jwks-html': { jwks: status(200) },
  'discovery-500': { discovery: status(500) },
  'discovery-hang': { discovery: hang },
  'discovery-html': { discovery: status(200) },
  'discovery-issuer': {
    discovery: (response, document) => {
      sendJson(response, { ...document, issuer: 'https://evil.example' })
    },
  },
  'discovery-redirect': {
    discovery: (response) => {
      response.writeHead(302, { location: '/elsewhere' }).end()
    },
  },
  'discovery-404': { discovery: status(404) },
  'discovery-reset': { discovery: reset },
  'discovery-no-authorization': {
    discovery: (response, document) => {
      sendJson(response, omit(document, 'authorization_endpoint'))
    },
  },
  unreachable: {},
  'iss-other': { response: { iss: 'https://evil.example' } },
  'iss-missing': { response: { iss: undefined } },
  'iss-not-promised': {
    response: { iss: undefined },
    discovery: (response, document) => {
      sendJson(response, { ...document, authorization_response_iss_parameter_supported: false })
    },
  },
  'access-denied': { response: { code: undefined, error: 'access_denied' } },
  'authid-10k': over({ preferred_username: 'a'.repeat(10_000) }),
  'roles-huge': over({ roles: Array.from({ length: 1000 }, (_, index) => `role-number-${index}`) }),
  'id-token-large': over({ picture: 'p'.repeat(4000) }),
  'id-token-fits': over({ picture: 'p'.repeat(900) }),
}

/** Paths that never answer. */
const HANGING: Readonly<Record<string, string>> = {
  'token-hang': '/token',
  'jwks-hang': '/jwks',
  'discovery-hang': '/.well-known/openid-configuration',
}

let op: FakeProvider
let closedIssuer: string

beforeAll(async () => {
  op = await FakeProvider.open(pair)
  const closed = await FakeProvider.open(pair)
  closedIssuer = closed.issuer
  await closed.close()
})

afterAll(() => op.close())

const limits: number[] = []

/** Five seconds, but where the test would only wait. */
const impatientFetch = (hanging: string | undefined): ReturnType<typeof createGuardedFetch> => {
  const fetch = createGuardedFetch({ guard: createGuard(), extraCa: [] })
  return (url, init, given) => {
    limits.push(given.timeoutMs)
    const isHanging = new URL(url).pathname === hanging
    return fetch(url, init, { ...given, timeoutMs: isHanging ? 20 : given.timeoutMs })
  }
}

/** What of a response the table speaks of, as the row has it where one of its alternatives fits. */
const validated = (response: OidcResponse, row: Case): object => {
  const fits = [row, ...(row.or ?? [])].some(
    (each) =>
      [each.status].flat().includes(response.status) &&
      response.body === JSON.stringify({ error: each.error }),
  )
  const shown = { status: row.status, body: JSON.stringify({ error: row.error }) }
  return {
    ...(fits ? shown : { status: response.status, body: response.body }),
    cookies: setCookies(response),
    isRetried: response.status !== 503 || /^[0-9]+$/.test(headerOf(response, 'retry-after') ?? ''),
  }
}

const refusalOf = ({ status: code, error }: Case): object => ({
  status: code,
  body: JSON.stringify({ error }),
  cookies: [],
  isRetried: true,
})

interface Tried {
  readonly endpointDeps: TestRoom
  readonly browser: Browser
  readonly login: OidcResponse
}

const tryLogin = async (row: Case): Promise<Tried> => {
  op.misbehaviour = {
    ...MISBEHAVIOURS[row.id],
    ...(row.claims && { claims: row.claims }),
    ...(row.without && { without: row.without }),
  }
  const issuer = row.id === 'unreachable' ? closedIssuer : op.issuer
  const endpointDeps = openRoom({ fetch: impatientFetch(HANGING[row.id]) })
  endpointDeps.realms.set(REALM, realmRecord(REALM, { corp: providerRecord(issuer) }))
  const browser = new Browser()
  return { endpointDeps, browser, login: await browser.login(endpointDeps) }
}

const finish = ({ endpointDeps, browser, login }: Tried): Promise<OidcResponse> =>
  browser.callback(endpointDeps, op.authorize(headerOf(login, 'location') ?? ''))

describe('what the identity provider does', () => {
  it.each(cases)('$id is acted out', ({ id, claims, without }) => {
    const isActed =
      Object.hasOwn(MISBEHAVIOURS, id) || claims !== undefined || without !== undefined
    expect(isActed).toBe(true)
  })

  it.each(cases.filter((row) => row.at === 'login'))('$id at login: $idp', async (row) => {
    const { login } = await tryLogin(row)

    expect(validated(login, row)).toEqual(refusalOf(row))
  })

  it.each(cases.filter((row) => row.at !== 'login' && row.status !== 302))(
    '$id: $idp',
    async (row) => {
      const tried = await tryLogin(row)
      const response = await finish(tried)

      expect(tried.login.status).toBe(302)
      expect(validated(response, row)).toEqual(refusalOf(row))
      expect(tried.endpointDeps.logged.join()).not.toMatch(/eyJ|code-[0-9]|db-1/)
      expect(tried.endpointDeps.audits).toMatchObject([{ outcome: 'failure', reason: row.error }])
    },
  )

  it.each(cases.filter((row) => row.status === 302))('$id: $idp', async (row) => {
    const tried = await tryLogin(row)
    const response = await finish(tried)

    expect(response).toMatchObject({ status: 302, body: '' })
    const claims = decodeJwt<Record<string, unknown>>(tried.browser.ticket())
    const shown = Object.entries(row.ticket ?? {}).map(([name, value]) => {
      const isThere = Object.hasOwn(claims, name) ? 'present' : 'absent'
      return [name, value === 'absent' || value === 'present' ? isThere : claims[name]]
    })
    expect(Object.fromEntries(shown)).toEqual(row.ticket ?? {})
    expect(tried.endpointDeps.audits).toMatchObject([{ event: 'login', outcome: 'success' }])
  })

  it('asks with five seconds for each call', () => {
    expect(limits.length).toBeGreaterThan(100)
    expect(new Set(limits)).toEqual(new Set([5000]))
  })

  it('never fetches what a token names', () => {
    expect(op.asked.filter((path) => path.startsWith('/evil') || path === '/elsewhere')).toEqual([])
  })
})
