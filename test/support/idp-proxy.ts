// Stands in front of a real OpenID provider and passes everything on, until it is told to misbehave: then one of
// discovery, keys and tokens answers wrongly, or ID tokens are made anew.

import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { decodeJwt, decodeProtectedHeader, exportJWK, type JWK } from 'jose'
import { startIdp, type Idp, type IdpOptions } from '../../dev/idp/idp.ts'
import { request as send } from './http-request.ts'

export type Claims = Readonly<Record<string, unknown>>
type Json = Readonly<Record<string, unknown>>

/** Takes the place of a response. */
export type Trouble = (response: ServerResponse) => void

/** An ID token as the provider made it, and keys to make another with. */
export interface Forgery {
  readonly jwt: string
  readonly header: Claims
  readonly claims: Claims
  /** The provider's own. */
  readonly key: KeyObject
  readonly publicKey: KeyObject
  /** Published nowhere. */
  readonly strangerKey: KeyObject
  readonly strangerJwk: JWK
}

export interface Misbehaviour {
  readonly discovery?: Trouble
  readonly jwks?: Trouble
  readonly token?: Trouble
  /** Before the honest response. */
  readonly tokenDelayMs?: number
  readonly discoveryDocument?: (document: Json) => Json
  readonly keys?: (keys: readonly JWK[], strangerJwk: JWK) => readonly JWK[]
  readonly tokenResponse?: (response: Json) => Json
  readonly idToken?: (forgery: Forgery) => Promise<string> | string
}

export type Endpoint = 'discovery' | 'jwks' | 'token' | 'other'

export interface IdpProxy extends AsyncDisposable {
  readonly issuer: string
  /** From now on. `{}`: as it should be. */
  readonly behave: (misbehaviour: Misbehaviour) => void
  readonly count: (endpoint: Endpoint) => number
  /** All that was asked for, without queries. */
  readonly paths: () => readonly string[]
  readonly close: () => Promise<void>
}

const PATHS: ReadonlyMap<string, Endpoint> = new Map([
  ['/.well-known/openid-configuration', 'discovery'],
  ['/jwks', 'jwks'],
  ['/token', 'token'],
])

/** Two pairs for a whole file of tests: making them takes longer than everything else. */
export interface ProxyKeys {
  readonly own: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
  readonly stranger: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
}

export const newProxyKeys = (): ProxyKeys => {
  const pair = (): ProxyKeys['own'] => generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { own: pair(), stranger: pair() }
}

/** @param options of the provider behind it; its issuer is the proxy's own origin */
export const startIdpProxy = async (
  options: Omit<IdpOptions, 'port' | 'issuer' | 'signingKey'>,
  keys: ProxyKeys = newProxyKeys(),
): Promise<IdpProxy> => {
  let misbehaviour: Misbehaviour = {}
  const asked: string[] = []
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const signingKey = keys.own.privateKey
  const idp: Idp = await startIdp({ ...options, port: 0, issuer, signingKey })
  server.on('request', (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    asked.push(path)
    const endpoint = endpointOf(path)
    const passing = { request, response, endpoint, idp, keys, misbehaviour }
    pass(passing).catch(() => response.destroy())
  })
  const close = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
    await idp.close()
  }
  return {
    issuer,
    behave: (next) => {
      misbehaviour = next
    },
    count: (endpoint) => asked.filter((path) => endpointOf(path) === endpoint).length,
    paths: () => asked,
    close,
    [Symbol.asyncDispose]: close,
  }
}

const endpointOf = (path: string): Endpoint => PATHS.get(path) ?? 'other'

interface Passing {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly endpoint: Endpoint
  readonly idp: Idp
  readonly keys: ProxyKeys
  readonly misbehaviour: Misbehaviour
}

const pass = async (passing: Passing): Promise<void> => {
  const { request, response, endpoint, idp, misbehaviour } = passing
  if (endpoint !== 'other') {
    const trouble = misbehaviour[endpoint]
    if (trouble !== undefined) {
      request.resume()
      trouble(response)
      return
    }
  }
  if (endpoint === 'token' && misbehaviour.tokenDelayMs !== undefined)
    await new Promise((resolve) => setTimeout(resolve, misbehaviour.tokenDelayMs))
  const body = await readText(request)
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  )
  const received = await send(`${idp.origin}${request.url ?? '/'}`, {
    method: request.method ?? 'GET',
    headers,
    ...(body === '' ? {} : { body }),
  })
  const altered = received.status === 200 ? await alter(passing, received.text) : received.text
  const kept = Object.entries(received.headers).filter(([name]) => !FRAMING.has(name))
  response.writeHead(received.status, Object.fromEntries(kept)).end(altered)
}

/** Of the response as it was. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'connection'])

const alter = async (passing: Passing, text: string): Promise<string> => {
  const { endpoint, misbehaviour, keys } = passing
  if (endpoint === 'other') return text
  const response = JSON.parse(text) as Json
  if (endpoint === 'discovery')
    return JSON.stringify(misbehaviour.discoveryDocument?.(response) ?? response)
  if (endpoint === 'token') return JSON.stringify(await alterTokens(response, passing))
  const published = response['keys'] as readonly JWK[]
  return JSON.stringify({
    keys: misbehaviour.keys?.(published, await exportJWK(keys.stranger.publicKey)) ?? published,
  })
}

const alterTokens = async (response: Json, { misbehaviour, keys }: Passing): Promise<Json> => {
  const { idToken, tokenResponse = (same: Json) => same } = misbehaviour
  const jwt = response['id_token']
  if (idToken === undefined || typeof jwt !== 'string') return tokenResponse(response)
  const forged = await idToken({
    jwt,
    header: { ...decodeProtectedHeader(jwt) },
    claims: decodeJwt(jwt),
    key: keys.own.privateKey,
    publicKey: keys.own.publicKey,
    strangerKey: keys.stranger.privateKey,
    strangerJwk: await exportJWK(keys.stranger.publicKey),
  })
  return tokenResponse({ ...response, id_token: forged })
}
