// What token endpoints may send, hostile ones too: none of it becomes a header but a token, and it ends within bounds.

import type { RequestListener } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import type { CredentialError } from '../../../dataplane/credentials/credential.ts'
import { exchangeToken, requestClientToken } from '../../../dataplane/credentials/token-request.ts'
import { createGuard, readRules } from '../../../dataplane/upstream/destinations/guard.ts'
import { createGuardedFetch } from '../../../dataplane/upstream/destinations/guarded-fetch.ts'
import { serving } from '../actions/forward/forward-rig.ts'

const deps = (guard = createGuard()) => ({
  fetch: createGuardedFetch({ guard, extraCa: [] }),
  now: () => 0,
  random: () => 0.5,
})

const recordOf = (token_endpoint: string, more: object = {}) => ({
  token_endpoint,
  client_id: 'gateway',
  client_secret: 'the-secret',
  allow_unsafe_http: true,
  ...more,
})

const sending =
  (
    status: number,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

const failureOf = async (work: Promise<unknown>): Promise<CredentialError> => {
  try {
    await work
  } catch (error) {
    return error as CredentialError
  }
  throw new Error('it was accepted')
}

const partOf = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url')
const ID_TOKEN = [
  partOf({ alg: 'RS256', kid: 'k' }),
  partOf({ iss: 'https://idp.example/realms/x', aud: 'gateway', sub: 's', iat: 1, exp: 1e10 }),
  'AAAA',
].join('.')

const GOOD = { access_token: 'a.b-c_d', token_type: 'bearer', expires_in: 60 }

describe('a token endpoint', () => {
  it.each<[string, object, string]>([
    ['a token', GOOD, 'a.b-c_d'],
    ['a type in other letters', { ...GOOD, token_type: 'BEARER' }, 'a.b-c_d'],
    ['a life as text', { ...GOOD, expires_in: '60' }, 'a.b-c_d'],
    ['a refresh token beside it', { ...GOOD, refresh_token: 'r' }, 'a.b-c_d'],
    ['an ID token of an issuer with a path', { ...GOOD, id_token: ID_TOKEN }, 'a.b-c_d'],
    ['an ID token that is none', { ...GOOD, id_token: 1 }, 'a.b-c_d'],
    [
      'null and empty members',
      { ...GOOD, refresh_token: '', scope: [], expires_in: null },
      'a.b-c_d',
    ],
  ])('may send %s', async (_, body, expected) => {
    const { origin } = await serving(sending(200, body))
    const record = recordOf(`${origin}/token`)
    expect((await requestClientToken(record, deps())).value).toBe(expected)
    expect((await exchangeToken(record, 'of-alice', deps())).value).toBe(expected)
  })

  const big = 'x'.repeat(100_000)
  it.each<[string, RequestListener, object]>([
    [
      'a line break in the token',
      sending(200, { ...GOOD, access_token: 'a\r\nx-admin: 1' }),
      { cause: 'response' },
    ],
    ['blanks in it', sending(200, { ...GOOD, access_token: 'a b' }), { cause: 'response' }],
    [
      'a token too long for a header',
      sending(200, { ...GOOD, access_token: 'x'.repeat(9000) }),
      { cause: 'response' },
    ],
    ['no token', sending(200, { token_type: 'bearer' }), { cause: 'response' }],
    [
      'a token that is none',
      sending(200, { ...GOOD, access_token: { a: 1 } }),
      { cause: 'response' },
    ],
    [
      'a token of another type',
      sending(200, { ...GOOD, token_type: 'mac' }),
      { cause: 'response' },
    ],
    ['a negative life', sending(200, { ...GOOD, expires_in: -1 }), { cause: 'response' }],
    ['what is no JSON', sending(200, '<html>'), { cause: 'response' }],
    ['a page', sending(200, '<html>', { 'content-type': 'text/html' }), { cause: 'response' }],
    ['more than 64 KiB', sending(200, { ...GOOD, big }), { cause: 'response' }],
    ['an error', sending(500, 'x'), { cause: 'status', found: '500' }],
    ['nothing there', sending(404, 'x'), { cause: 'status', found: '404' }],
    [
      'a redirect',
      sending(302, '', { location: 'http://127.0.0.1:1/' }),
      { cause: 'status', found: '302' },
    ],
    ['a wrong client', sending(401, { error: 'invalid_client' }), { cause: 'invalid_client' }],
    [
      'a wrong client by a challenge',
      sending(401, '', { 'www-authenticate': 'Basic realm="x"' }),
      { cause: 'invalid_client' },
    ],
    [
      'a scope that it does not know',
      sending(400, { error: 'invalid_scope' }),
      { cause: 'oauth_error', found: 'invalid_scope' },
    ],
    [
      'an error code that is a story',
      sending(400, { error: 'SECRET <script>' }),
      { cause: 'oauth_error', found: 'unknown_error' },
    ],
    [
      'an end in the middle',
      (_request, response) => response.socket?.destroy(),
      { cause: 'reset' },
    ],
  ])('that sends %s gives none', async (_, listener, trouble) => {
    const { origin } = await serving(listener)
    const error = await failureOf(requestClientToken(recordOf(`${origin}/token`), deps()))
    expect([error.code, error.problem]).toEqual(['credential_token', trouble])
    // The response, which may have a token, is nowhere in what a log would write.
    expect(error.cause).toBeUndefined()
    expect(error.message).not.toMatch(/x-admin|script|the-secret/)
  })

  it('is not followed where it redirects', async () => {
    let visits = 0
    const elsewhere = await serving((_request, response) => {
      visits++
      response.end()
    })
    const { origin } = await serving(sending(307, '', { location: `${elsewhere.origin}/token` }))
    await failureOf(requestClientToken(recordOf(`${origin}/token`), deps()))
    expect(visits).toBe(0)
  })

  it.each<[string, string, object]>([
    ['refuses connections', 'http://127.0.0.1:1/token', { cause: 'refused' }],
    ['is not found', 'http://nowhere.invalid/token', { cause: 'dns' }],
  ])('that %s gives none', async (_, url, trouble) => {
    expect((await failureOf(requestClientToken(recordOf(url), deps()))).problem).toEqual(trouble)
  })

  it('that is no allowed destination is never reached', async () => {
    let visits = 0
    const { origin } = await serving(() => visits++)
    const guard = createGuard({ deny: readRules(['127.0.0.0/8']).rules })
    const error = await failureOf(requestClientToken(recordOf(`${origin}/token`), deps(guard)))
    expect([error.problem, visits]).toEqual([{ cause: 'denied' }, 0])
  })
})

describe('an exchange', () => {
  it('sends the token of the caller, and blames it where the server does', async () => {
    const forms: URLSearchParams[] = []
    const responses = [
      { ...GOOD, issued_token_type: 'x' },
      { error: 'invalid_request' },
      { error: 'unauthorized_client' },
    ]
    const { origin } = await serving((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += chunk.toString()))
      request.on('end', () => {
        forms.push(new URLSearchParams(text))
        const body = responses[forms.length - 1] ?? {}
        sending('error' in body ? 400 : 200, body)(request, response)
      })
    })
    const record = recordOf(`${origin}/token`, {
      audience: 'billing',
      token_endpoint_auth_method: 'client_secret_post' as const,
    })
    expect((await exchangeToken(record, 'of-alice', deps())).value).toBe('a.b-c_d')
    expect(Object.fromEntries(forms[0] ?? [])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: 'of-alice',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'billing',
      client_id: 'gateway',
      client_secret: 'the-secret',
    })
    expect((await failureOf(exchangeToken(record, 'of-alice', deps()))).code).toBe(
      'credential_subject',
    )
    expect((await failureOf(exchangeToken(record, 'of-alice', deps()))).code).toBe(
      'credential_token',
    )
  })

  const BEARER = { 'www-authenticate': 'Bearer error="invalid_token"' }
  const BASIC = { 'www-authenticate': 'Basic realm="x"' }
  it.each<[string, RequestListener, string, object | undefined]>([
    [
      'a challenge for the token of the caller',
      sending(401, { error: 'invalid_token' }, BEARER),
      'credential_subject',
      undefined,
    ],
    [
      'a challenge alone',
      sending(401, '', BEARER),
      'credential_token',
      { cause: 'status', found: '401' },
    ],
    [
      'a challenge for the client, which the body names',
      sending(401, { error: 'invalid_client' }, BASIC),
      'credential_token',
      { cause: 'invalid_client' },
    ],
    [
      'that somebody has to log in',
      sending(400, { error: 'interaction_required' }),
      'credential_subject',
      undefined,
    ],
    ['a limit', sending(429, 'slow'), 'credential_token', { cause: 'status', found: '429' }],
  ])('that is answered with %s says whom it is about', async (_, listener, code, trouble) => {
    const { origin } = await serving(listener)
    const error = await failureOf(exchangeToken(recordOf(`${origin}/token`), 'of-alice', deps()))
    expect([error.code, error.problem]).toEqual([code, trouble])
  })
})
