// Starts a server that speaks for a gateway's management URL as an older version would, without the members that came
// later. It adds nothing, and changes no request.

import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface OlderGateway extends AsyncDisposable {
  readonly port: number
}

/** What a reader may not count on: everything but `bootId`, `rootDigest`, digests, owners and results. */
const NEWER: ReadonlySet<string> = new Set(['gatewayVersion', 'version', 'warnings', 'sessions'])

/** @example await using older = await startOlderGateway(gateway.management) */
export const startOlderGateway = async (management: string): Promise<OlderGateway> => {
  const server = createServer((incoming, outgoing) => {
    forward(management, incoming).then(
      ({ status, etag, body }) => {
        outgoing.writeHead(status, {
          'content-type': 'application/json',
          ...(etag !== undefined && { etag }),
        })
        outgoing.end(body)
      },
      () => outgoing.destroy(),
    )
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => {
          resolve()
        })
      }),
  }
}

interface Forwarded {
  readonly status: number
  readonly etag: string | undefined
  readonly body: string
}

const forward = async (management: string, incoming: IncomingMessage): Promise<Forwarded> => {
  const { method, url = '', headers } = incoming
  const sent = await buffer(incoming)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(`${management}${url}`, { method, headers }, resolve).once('error', reject).end(sent)
  })
  const text = (await buffer(response)).toString()
  return {
    status: response.statusCode ?? 0,
    etag: response.headers.etag,
    body: text === '' ? '' : JSON.stringify(JSON.parse(text, dropNewer)),
  }
}

const dropNewer = (key: string, value: unknown): unknown => (NEWER.has(key) ? undefined : value)
