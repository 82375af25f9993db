// Starts a real OpenID provider on loopback, for the playground and for tests. Users have no password, and its keys
// exist only while it runs: it is never a provider for anybody else.

import { generateKeyPair, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { Provider } from 'oidc-provider/lib/provider.js'
import { DEMO_USERS, type IdpUser } from './accounts.ts'
import type { IdpClient } from './clients.ts'
import { configure } from './configuration.ts'
import { createLoginPages } from './login-pages.ts'
import { allowTokenExchange, type SubjectOf } from './token-exchange.ts'

export interface IdpOptions {
  readonly clients: readonly IdpClient[]
  /** alice and bob, where left out. */
  readonly users?: readonly IdpUser[]
  /** 127.0.0.1, where left out. */
  readonly host?: string
  /** 0: any free one. */
  readonly port: number
  /** Its issuer URL, where a proxy stands in front of it. */
  readonly issuer?: string
  /** RSA, to share among many providers; a new key if left out. */
  readonly signingKey?: KeyObject
  /** Finds whose token it is that a client wants to exchange (RFC 8693); undefined: it is refused. If left out, all are. */
  readonly subjectOf?: SubjectOf
}

export interface Idp extends AsyncDisposable {
  readonly issuer: string
  /** Where it listens: the issuer, if no proxy stands in front of it. */
  readonly origin: string
  readonly close: () => Promise<void>
}

/**
 * @throws the error of `listen`, such as EADDRINUSE
 * @example
 * await using idp = await startIdp({
 *   port: 0,
 *   clients: [{ clientId: 'gw', clientSecret: 'secret', redirectUris: ['http://127.0.0.1:8080/cb'] }],
 * })
 */
export const startIdp = async (options: IdpOptions): Promise<Idp> => {
  const { host = '127.0.0.1', port, users = DEMO_USERS } = options
  const server = createServer()
  server.listen(port, host)
  await once(server, 'listening')
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`
  const issuer = options.issuer ?? origin
  const signingKey = options.signingKey ?? (await newKey())
  const provider = new Provider(issuer, configure({ clients: options.clients, users, signingKey }))
  allowTokenExchange(provider, options.subjectOf)
  allowPostLogoutOrigins(provider, options.clients)
  const pages = createLoginPages(provider, users)
  const serve = provider.callback()
  server.on('request', (request, response) => {
    if (!pages(request, response)) void serve(request, response)
  })
  const close = (): Promise<void> => closeServer(server)
  return { issuer, origin, close, [Symbol.asyncDispose]: close }
}

/** The library compares whole URIs; of the clients that name an origin its pages count as well. */
const allowPostLogoutOrigins = (provider: Provider, clients: readonly IdpClient[]): void => {
  const origins = new Map(
    clients.map(({ clientId, postLogoutOrigin }) => [clientId, postLogoutOrigin]),
  )
  provider.Client.prototype.postLogoutRedirectUriAllowed = function (uri) {
    const origin = origins.get(this.clientId)
    const isOfOrigin = origin !== undefined && URL.parse(uri)?.origin === origin
    return isOfOrigin || this.postLogoutRedirectUris?.includes(uri) === true
  }
}

const newKey = async (): Promise<KeyObject> =>
  (await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })).privateKey

const closeServer = async (server: Server): Promise<void> => {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}
