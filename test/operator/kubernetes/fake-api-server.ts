// Starts an HTTP server on loopback that answers by a handler, and records what it was asked: for what a real API
// server will not do when a test wants it to.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Cluster } from '../../../operator/kubernetes/config/cluster.ts'

export interface FakeRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type RequestHandler = (request: FakeRequest, response: ServerResponse) => void

export interface FakeApiServer extends AsyncDisposable {
  readonly cluster: Cluster
  readonly requests: readonly FakeRequest[]
  /** Connections that were ever made. */
  readonly connections: number
  /** The handler from now on. */
  answering(handler: RequestHandler): void
}

export interface FakeApiServerOptions {
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly cluster?: Partial<Cluster>
}

export const startFakeApiServer = async (
  handler: RequestHandler,
  { tls, cluster }: FakeApiServerOptions = {},
): Promise<FakeApiServer> => {
  const requests: FakeRequest[] = []
  let current = handler
  let connections = 0
  const take = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', headers } = incoming
    const url = new URL(incoming.url ?? '/', 'http://localhost')
    const body = await text(incoming)
    const request = { method, headers, body, path: url.pathname, query: url.searchParams }
    requests.push(request)
    current(request, response)
  }
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    take(incoming, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined)
    })
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  server.on('connection', () => (connections += 1))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const none = { headers: {}, tls: {} }
  return {
    requests,
    get connections() {
      return connections
    },
    cluster: {
      server: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
      namespace: 'default',
      credentials: () => Promise.resolve(none),
      ...cluster,
    },
    answering: (next) => {
      current = next
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const answerJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export const failWith = (
  response: ServerResponse,
  code: number,
  more: Readonly<Record<string, unknown>> = {},
): void => {
  const retry = more['retryAfter']
  const headers = typeof retry === 'string' ? { 'retry-after': retry } : {}
  answerJson(response, code, { kind: 'Status', status: 'Failure', code, ...more }, headers)
}
