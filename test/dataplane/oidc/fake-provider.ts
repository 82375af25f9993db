// An OpenID provider on loopback that is honest until it is told otherwise: it signs what it is told, checks
// the code, the PKCE verifier and the client like a strict one, and counts who asked it for what.

import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT } from 'jose'

export type Claims = Record<string, unknown>

/** What is not honest this time. */
export interface Misbehaviour {
  discovery?: (response: ServerResponse, document: Claims) => void
  jwks?: (response: ServerResponse) => void
  token?: (response: ServerResponse, fields: Claims) => void
  /** Over, and from, the claims of an otherwise good ID token. */
  claims?: Claims
  without?: readonly string[]
  idToken?: (claims: Claims, provider: FakeProvider) => Promise<string> | string
  /** Over the parameters of the authorization response; undefined takes one away. */
  response?: Record<string, string | undefined>
}

export interface SigningPair {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

interface Grant {
  readonly nonce: string
  readonly challenge: string
  readonly redirectUri: string
}

export const CLIENT = { id: 'gateway', secret: 'client-secret/with:odd%chars' } as const

export const newPair = (kid: string): SigningPair => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { kid, ...pair }
}

export class FakeProvider {
  issuer = ''
  misbehaviour: Misbehaviour = {}
  pair: SigningPair
  published: readonly SigningPair[]
  /** Where its keys are, after the path. */
  jwksQuery = ''
  /** Paths that were asked for. */
  readonly asked: string[] = []
  readonly #server: Server
  readonly #grants = new Map<string, Grant>()
  #codes = 0

  private constructor(pair: SigningPair) {
    this.pair = pair
    this.published = [pair]
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error))
    })
  }

  static async open(pair: SigningPair): Promise<FakeProvider> {
    const provider = new FakeProvider(pair)
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve))
    provider.issuer = `http://127.0.0.1:${(provider.#server.address() as AddressInfo).port}`
    return provider
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  count(path: string): number {
    return this.asked.filter((each) => each === path).length
  }

  /** What a browser does at the authorization endpoint: the query of the callback. */
  authorize(location: string): URLSearchParams {
    const { searchParams: asked } = new URL(location)
    const code = `code-${(this.#codes += 1)}`
    this.#grants.set(code, {
      nonce: asked.get('nonce') ?? '',
      challenge: asked.get('code_challenge') ?? '',
      redirectUri: asked.get('redirect_uri') ?? '',
    })
    const response = new URLSearchParams({
      code,
      state: asked.get('state') ?? '',
      iss: this.issuer,
    })
    for (const [name, value] of Object.entries(this.misbehaviour.response ?? {})) {
      if (value === undefined) response.delete(name)
      else response.set(name, value)
    }
    return response
  }

  sign(claims: Claims, pair = this.pair, header: Claims = {}): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: pair.kid, ...header })
      .sign(pair.privateKey)
  }

  goodClaims(nonce: string): Claims {
    const now = Math.floor(Date.now() / 1000)
    const claims: Claims = {
      iss: this.issuer,
      aud: CLIENT.id,
      sub: 'u-alice',
      preferred_username: 'alice',
      roles: ['customer', 'admin'],
      sid: 'session-1',
      nonce,
      iat: now,
      exp: now + 300,
      ...this.misbehaviour.claims,
    }
    const without = new Set(this.misbehaviour.without)
    return Object.fromEntries(Object.entries(claims).filter(([name]) => !without.has(name)))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, search } = new URL(request.url ?? '/', this.issuer)
    this.asked.push(path)
    if (path === '/.well-known/openid-configuration') this.#discovery(response)
    else if (path === '/jwks' && search === this.jwksQuery) this.#jwks(response)
    else if (path === '/token') await this.#token(request, response)
    else response.writeHead(404).end()
  }

  #discovery(response: ServerResponse): void {
    const document = {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      end_session_endpoint: `${this.issuer}/end`,
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
    }
    const { discovery = sendJson } = this.misbehaviour
    discovery(response, document)
  }

  #jwks(response: ServerResponse): void {
    if (this.misbehaviour.jwks) this.misbehaviour.jwks(response)
    else
      sendJson(response, {
        keys: this.published.map(({ kid, publicKey }) => ({
          ...publicKey.export({ format: 'jwk' }),
          kid,
          use: 'sig',
          alg: 'RS256',
        })),
      })
  }

  async #token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    const code = form.get('code') ?? ''
    const grant = this.#grants.get(code)
    this.#grants.delete(code)
    if (!isOurClient(request.headers.authorization)) {
      sendJson(response, { error: 'invalid_client' }, 401)
      return
    }
    const verifier = form.get('code_verifier') ?? ''
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    if (grant?.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri')) {
      sendJson(response, { error: 'invalid_grant' }, 400)
      return
    }
    const claims = this.goodClaims(grant.nonce)
    const makeToken = this.misbehaviour.idToken ?? ((each: Claims) => this.sign(each))
    const fields = {
      access_token: 'at',
      token_type: 'Bearer',
      expires_in: 120,
      refresh_token: 'rt',
      id_token: await makeToken(claims, this),
    }
    const { token = sendJson } = this.misbehaviour
    token(response, fields)
  }
}

export const sendJson = (response: ServerResponse, body: Claims, status = 200): void => {
  response.statusCode = status
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}

/** An `alg` that no library would sign with. */
export const forge = (header: Claims, claims: Claims, signature: string): string =>
  [
    Buffer.from(JSON.stringify(header)).toString('base64url'),
    Buffer.from(JSON.stringify(claims)).toString('base64url'),
    signature,
  ].join('.')

export const rs256 = (input: string, { privateKey }: SigningPair): string =>
  createSign('RSA-SHA256').update(input).sign(privateKey).toString('base64url')

/** RFC 6749 §2.3.1: id and secret are form-encoded before they are joined. */
const isOurClient = (authorization = ''): boolean => {
  const [scheme = '', encoded = ''] = authorization.split(' ')
  const [id = '', secret = ''] = Buffer.from(encoded, 'base64').toString().split(':')
  const decode = (text: string): string => new URLSearchParams(`x=${text}`).get('x') ?? ''
  return scheme === 'Basic' && decode(id) === CLIENT.id && decode(secret) === CLIENT.secret
}
