// An HTTP server that is called back: what it was sent is kept, and what it answers goes by the path.

import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Delivered {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface CallbackReceiver extends AsyncDisposable {
  readonly origin: string
  readonly delivered: readonly Delivered[]
  readonly at: (path: string) => readonly Delivered[]
}

export type Behaviour = (response: ServerResponse, delivered: Delivered) => void

export const answersJson =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }

/** With the arguments that came. */
export const echoes: Behaviour = (response, { body }) => {
  const { args } = JSON.parse(body.toString()) as { readonly args: unknown }
  answersJson(200, { args })(response, { path: '', headers: {}, body })
}

/**
 * @param behaviours by path, without the query
 * @param port any free one if left out
 */
export const startReceiver = async (
  behaviours: Readonly<Record<string, Behaviour>>,
  port = 0,
): Promise<CallbackReceiver> => {
  const delivered: Delivered[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').replace(/\?.*/, '')
    const delivery = { path, headers: request.headers, body: await buffer(request) }
    delivered.push(delivery)
    behaviours[path]?.(response, delivery)
  }
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    serve(request, response).catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delivered,
    at: (path) => delivered.filter((delivery) => delivery.path === path),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
