// What the rows of the callback table say in words, acted out by the proxy before the provider or on the way of
// the browser back.

import { createHmac, createSign, type KeyObject } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Claims, Forgery, Misbehaviour } from '../../support/idp-proxy.ts'

export interface Act {
  readonly proxy?: Misbehaviour
  /** With the response that the browser carries to the callback. */
  readonly answer?: (query: URLSearchParams) => void
}

type Header = Readonly<Record<string, unknown>>

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const rs256 = (header: Header, claims: Claims, key: KeyObject): string => {
  const unsigned = `${part(header)}.${part(claims)}`
  return `${unsigned}.${createSign('RSA-SHA256').update(unsigned).sign(key).toString('base64url')}`
}

const hs256 = (header: Header, claims: Claims, secret: string): string => {
  const unsigned = `${part({ ...header, alg: 'HS256' })}.${part(claims)}`
  return `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`
}

const token = (idToken: (forgery: Forgery) => string): Act => ({ proxy: { idToken } })

/** The provider's own signature over other claims; undefined takes one away. */
export const saying = (change: Claims | ((claims: Claims) => Claims)): Act =>
  token(({ header, claims, key }) => {
    const changed = { ...claims, ...(typeof change === 'function' ? change(claims) : change) }
    return rs256(header, changed, key)
  })

const status =
  (code: number, body = 'something went wrong at db-1.internal') =>
  (response: ServerResponse): void => {
    response.writeHead(code, { 'content-type': 'text/html' }).end(body)
  }

const json =
  (code: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void => {
    response
      .writeHead(code, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body))
  }

const reset = (response: ServerResponse): void => {
  response.socket?.resetAndDestroy()
}

const hang = (): void => undefined

const truncated = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '4000' })
  response.write('{"access_token":')
  setTimeout(() => response.destroy(), 20)
}

const huge = (response: ServerResponse): void => {
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
}

const without = (object: Readonly<Record<string, unknown>>, name: string): typeof object =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))

const seconds = (): number => Math.floor(Date.now() / 1000)

export const ACTS: Readonly<Record<string, Act>> = {
  fine: {},
  'authid-default': {},
  'bad-signature': token(({ jwt }) => {
    const [head, body, signature = ''] = jwt.split('.')
    return [head, body, `${signature.slice(0, 20)}AAAA${signature.slice(24)}`].join('.')
  }),
  'other-key-same-kid': token(({ header, claims, strangerKey }) =>
    rs256(header, claims, strangerKey),
  ),
  'other-key': token(({ header, claims, strangerKey }) =>
    rs256({ ...header, kid: 'stranger' }, claims, strangerKey),
  ),
  'alg-none': {
    proxy: {
      discoveryDocument: (document) => ({
        ...document,
        id_token_signing_alg_values_supported: ['RS256', 'none'],
      }),
      idToken: ({ claims }) => `${part({ alg: 'none' })}.${part(claims)}.`,
    },
  },
  'cut-signature': token(({ header, claims }) => `${part(header)}.${part(claims)}.`),
  'hs256-secret': token(({ header, claims }) => hs256(header, claims, 'idp-secret')),
  'hs256-public': token(({ header, claims, publicKey }) =>
    hs256(header, claims, publicKey.export({ type: 'spki', format: 'pem' }).toString()),
  ),
  'jwk-header': token(({ header, claims, strangerKey, strangerJwk }) =>
    rs256({ ...header, kid: 'mine', jwk: strangerJwk }, claims, strangerKey),
  ),
  'jku-header': token(({ header, claims, strangerKey }) => {
    const evil = `${String(claims['iss'])}/evil`
    return rs256({ ...header, kid: 'mine', jku: evil, x5u: evil }, claims, strangerKey)
  }),
  'not-jwt': token(() => 'plain text'),
  'wrong-iss': saying({ iss: 'https://evil.example' }),
  'iss-slash': saying((claims) => ({ iss: `${String(claims['iss'])}/` })),
  'wrong-aud': saying({ aud: 'another-client' }),
  'aud-other-list': saying({ aud: ['another-client', 'a-third'] }),
  'aud-list': saying({ aud: ['another-client', 'gateway'], azp: 'gateway' }),
  'azp-other': saying({ aud: ['another-client', 'gateway'], azp: 'another-client' }),
  'no-nonce': saying({ nonce: undefined }),
  'other-nonce': saying({ nonce: 'n-of-another-login' }),
  expired: saying(() => ({ iat: seconds() - 7200, exp: seconds() - 3600 })),
  'no-exp': saying({ exp: undefined }),
  'nbf-future': saying(() => ({ nbf: seconds() + 3600 })),
  'iat-future': saying(() => ({ iat: seconds() + 7200, exp: seconds() + 9000 })),
  'no-sub': saying({ sub: undefined }),
  'sub-number': saying({ sub: 42 }),
  'invalid-grant': { proxy: { token: json(400, { error: 'invalid_grant' }) } },
  'invalid-client': {
    proxy: {
      token: json(401, { error: 'invalid_client' }, { 'www-authenticate': 'Basic realm="idp"' }),
    },
  },
  'token-500': { proxy: { token: status(500) } },
  'token-503': { proxy: { token: status(503) } },
  'token-reset': { proxy: { token: reset } },
  'token-hang': { proxy: { token: hang } },
  'token-html': { proxy: { token: status(200) } },
  'token-empty': { proxy: { token: status(200, '') } },
  'token-truncated': { proxy: { token: truncated } },
  'token-huge': { proxy: { token: huge } },
  'no-id-token': { proxy: { tokenResponse: (response) => without(response, 'id_token') } },
  'token-slow': { proxy: { tokenDelayMs: 2000 } },
  'no-refresh': { proxy: { tokenResponse: (response) => without(response, 'refresh_token') } },
  'jwks-500': { proxy: { jwks: status(500) } },
  'jwks-hang': { proxy: { jwks: hang } },
  'jwks-empty': { proxy: { keys: () => [] } },
  'jwks-other': {
    proxy: {
      keys: ([own], stranger) => [
        {
          ...stranger,
          use: 'sig',
          alg: 'RS256',
          ...(own?.kid === undefined ? {} : { kid: own.kid }),
        },
      ],
    },
  },
  'jwks-html': { proxy: { jwks: status(200) } },
  'discovery-500': { proxy: { discovery: status(500) } },
  'discovery-hang': { proxy: { discovery: hang } },
  'discovery-html': { proxy: { discovery: status(200) } },
  'discovery-issuer': {
    proxy: { discoveryDocument: (document) => ({ ...document, issuer: 'https://evil.example' }) },
  },
  'discovery-redirect': {
    proxy: {
      discovery: (response) => {
        response.writeHead(302, { location: '/elsewhere' }).end()
      },
    },
  },
  'discovery-404': { proxy: { discovery: status(404) } },
  'discovery-reset': { proxy: { discovery: reset } },
  'discovery-no-authorization': {
    proxy: { discoveryDocument: (document) => without(document, 'authorization_endpoint') },
  },
  unreachable: {},
  'iss-other': {
    answer: (query) => {
      query.set('iss', 'https://evil.example')
    },
  },
  'iss-missing': {
    answer: (query) => {
      query.delete('iss')
    },
  },
  'iss-not-promised': {
    proxy: {
      discoveryDocument: (document) =>
        without(document, 'authorization_response_iss_parameter_supported'),
    },
    answer: (query) => {
      query.delete('iss')
    },
  },
  'access-denied': {
    answer: (query) => {
      query.delete('code')
      query.set('error', 'access_denied')
    },
  },
  'authid-10k': saying({ preferred_username: 'a'.repeat(10_000) }),
  'roles-huge': saying({ roles: Array.from({ length: 1000 }, (_, index) => `role-${index}`) }),
  'id-token-large': saying({ picture: 'p'.repeat(4000) }),
  'id-token-fits': saying({ picture: 'p'.repeat(700) }),
}
