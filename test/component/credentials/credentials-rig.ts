// An upstream that says what it was sent, an authorization server whose token endpoint counts, and the realm and documents
// of tests of credentials.

import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { post } from '../gateway-client.ts'

export const REALM_URI = 'com.credentials'

export interface Seen {
  readonly authorization: string | undefined
  readonly rawHeaders: readonly string[]
  readonly path: string
  /** Common name of the client's certificate. */
  readonly certificate: string | undefined
  readonly body: string
}

export interface Upstream extends AsyncDisposable {
  readonly origin: string
  readonly seen: Seen[]
  /** Status of each request; 200 if left out. */
  status: (seen: Seen) => number
}

interface TlsOptions {
  readonly cert: string
  readonly key: string
  /** Of clients. */
  readonly ca: string
}

/** Answers with what it was sent. */
export const startUpstream = async (tls?: TlsOptions): Promise<Upstream> => {
  const seen: Seen[] = []
  const server =
    tls === undefined
      ? createServer()
      : createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: true })
  const upstream = {
    origin: '',
    seen,
    status: (): number => 200,
    [Symbol.asyncDispose]: () => closed(server),
  }
  server.on('request', (request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { authorization } = request.headers
      const peer =
        request.socket instanceof TLSSocket ? request.socket.getPeerCertificate() : undefined
      const each: Seen = {
        authorization,
        rawHeaders: request.rawHeaders,
        path: request.url ?? '',
        certificate: peer?.subject.CN?.toString(),
        body: Buffer.concat(chunks).toString(),
      }
      seen.push(each)
      const of: Upstream = upstream
      response.writeHead(of.status(each), { 'content-type': 'text/plain' })
      response.end('ok')
    })
  })
  const port = await listening(server)
  upstream.origin = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  return upstream
}

export interface TokenEndpoint extends AsyncDisposable {
  readonly url: string
  /** Forms that were posted. */
  readonly asked: URLSearchParams[]
  /** Authorization headers of clients. */
  readonly clients: (string | undefined)[]
  /** Body and status of the next responses, given how many were asked before. */
  respond: (count: number) => { readonly status?: number; readonly body: unknown }
}

/** A token endpoint that gives `token-1`, `token-2`, … unless a test sets another response. */
export const startTokenEndpoint = async (): Promise<TokenEndpoint> => {
  const server = createServer()
  const endpoint = {
    url: '',
    asked: [] as URLSearchParams[],
    clients: [] as (string | undefined)[],
    respond: (count: number): { readonly status?: number; readonly body: unknown } => ({
      body: { access_token: `token-${count}`, token_type: 'Bearer', expires_in: 3600 },
    }),
    [Symbol.asyncDispose]: () => closed(server),
  }
  server.on('request', (request: IncomingMessage, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      endpoint.asked.push(new URLSearchParams(text))
      endpoint.clients.push(request.headers.authorization)
      const { status = 200, body } = endpoint.respond(endpoint.asked.length)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    })
  })
  endpoint.url = `http://127.0.0.1:${await listening(server)}/token`
  return endpoint
}

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const closed = async (server: Server): Promise<void> => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

/** Loads realm and document; throws unless both are taken. */
export const loadCredentials = async (
  gateway: GatewayProcess,
  realm: object,
  paths: Readonly<Record<string, object>>,
): Promise<void> => {
  const document = {
    id: 'credentials',
    host: '_',
    realm_uri: REALM_URI,
    versions: { v1: { base_path: '/v1', paths } },
  }
  for (const response of [
    await post(gateway, '/realms', { uri: REALM_URI, ...realm }),
    await post(gateway, '/api_specs', document),
  ])
    if (response.status !== 204) throw new Error(`${response.status}: ${response.text}`)
}

/** Passes everything on. */
export const forwarding = (host: string, credential: string, more: object = {}): object => ({
  action: { type: 'forward', host, credential, ...more },
  response: {},
})
