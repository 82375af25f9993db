// Serves the example backend over HTTP on a loopback port: a small orders service, endpoints that are slow or fail on
// demand, a WebSocket that echoes, webhooks and pages. Forgets everything when it closes; never writes a file.

import { parseJson } from '../base/parse-json.ts'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { answerHook } from './backend-hooks.ts'
import { readIcon, readPage } from './backend-pages.ts'
import type { Asked, Reply } from './backend-reply.ts'

export interface Backend extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly close: () => Promise<void>
}

/**
 * @param port 0 for any free one
 * @throws the error of `listen`, such as EADDRINUSE
 * @example
 * await using backend = await startBackend(0)
 * await fetch(`${backend.origin}/orders`)
 */
export const startBackend = async (port: number): Promise<Backend> => {
  const state: State = { orders: new Map(FIRST_ORDERS), flakyCalls: 0 }
  const server = createServer((request, response) => {
    answer(state, request).then(
      (reply) => {
        write(response, reply)
      },
      () => response.destroy(),
    )
  })
  const sockets = echoAt('/socket', server)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = (): Promise<void> => {
    for (const socket of sockets.clients) socket.terminate()
    return stop(server)
  }
  const { port: taken } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${taken}`, close, [Symbol.asyncDispose]: close }
}

/** Sends every message of a WebSocket back. */
const echoAt = (path: string, server: Server): WebSocketServer => {
  const sockets = new WebSocketServer({ server, path, maxPayload: MAX_MESSAGE_BYTES })
  sockets.on('connection', (socket) => {
    // `ws` has closed the connection by then.
    socket.on('error', () => undefined)
    socket.on('message', (data, binary) => {
      socket.send(data as Buffer, { binary })
    })
  })
  // The same error of the server, a second time.
  sockets.on('error', () => undefined)
  return sockets
}

/** The token that the example documents send; a real one would only be kept in a Secret. */
const PARTNER_TOKEN = 'open-sesame'

interface Order {
  readonly id: string
  readonly sku: string
  readonly quantity: number
  readonly status: 'open' | 'sent'
  /** The user that the gateway has named in `x-user`. */
  readonly by?: string
}

interface State {
  readonly orders: Map<string, Order>
  flakyCalls: number
}

type Endpoint = (asked: Asked, state: State) => Reply | Promise<Reply>

const FIRST_ORDERS: readonly (readonly [string, Order])[] = [
  ['1', { id: '1', sku: 'A-1', quantity: 2, status: 'open' }],
  ['2', { id: '2', sku: 'B-2', quantity: 1, status: 'sent' }],
  ['3', { id: '3', sku: 'A-1', quantity: 5, status: 'open' }],
]

const MAX_ORDERS = 1000
const MAX_SLEEP_MS = 30_000
const MAX_MESSAGE_BYTES = 64 * 1024

/** First segment of the path and method → handler. */
const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  // The list names its next page by the address that it is reached under.
  [
    'GET orders',
    ({ request, url, rest }, state) => ({
      ...readOrders(state, url, rest[0]),
      headers: { link: `<http://${request.headers.host ?? ''}/orders?page=2>; rel="next"` },
    }),
  ],
  [
    'POST orders',
    ({ request, body }, state) =>
      createOrder(state, body.toString(), request.headers['x-user']?.toString()),
  ],
  [
    'DELETE orders',
    ({ rest }, state) => (state.orders.delete(rest[0] ?? '') ? { status: 204 } : NO_SUCH_ORDER),
  ],
  ['POST hooks', answerHook],
  ['GET pages', readPage],
  ['GET favicon.ico', readIcon],
  // /slow?ms=2000 responds after that time.
  [
    'GET slow',
    async ({ url }) => {
      const ms = Math.min(Number(url.searchParams.get('ms') ?? 1000) || 0, MAX_SLEEP_MS)
      await sleep(ms)
      return { status: 200, json: { slept_ms: ms } }
    },
  ],
  // Fails twice, succeeds the third time, and so on.
  [
    'GET flaky',
    (_asked, state) => {
      const attempt = (state.flakyCalls++ % 3) + 1
      const json = { attempt }
      return { status: attempt === 3 ? 200 : 503, json }
    },
  ],
  // /fail/418 responds with that status.
  [
    'GET fail',
    ({ rest }) => {
      const status = Number(rest[0])
      const isStatus = Number.isInteger(status) && status >= 400 && status <= 599
      return { status: isStatus ? status : 500, json: { error: 'as you asked' } }
    },
  ],
  [
    'GET partner',
    ({ request }) =>
      request.headers.authorization === `Bearer ${PARTNER_TOKEN}`
        ? { status: 200, json: { stock: { 'A-1': 12, 'B-2': 0 } } }
        : { status: 401, json: { error: 'the token is missing or wrong' } },
  ],
])

const NO_SUCH_ORDER: Reply = { status: 404, json: { error: 'no such order' } }

const answer = async (state: State, request: IncomingMessage): Promise<Reply> => {
  const body = await buffer(request)
  const url = new URL(request.url ?? '/', 'http://backend')
  const [first = '', ...rest] = url.pathname.slice(1).split('/')
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET')
  const endpoint = ENDPOINTS.get(`${method} ${first}`) ?? echo
  return endpoint({ request, url, rest, body }, state)
}

const readOrders = (state: State, url: URL, id: string | undefined): Reply => {
  if (id !== undefined) {
    const order = state.orders.get(id)
    return order === undefined ? NO_SUCH_ORDER : { status: 200, json: order }
  }
  const status = url.searchParams.get('status')
  const all = [...state.orders.values()]
  const items = status === null ? all : all.filter((order) => order.status === status)
  return { status: 200, json: { items, total: items.length } }
}

const createOrder = (state: State, body: string, by: string | undefined): Reply => {
  const { sku, quantity } = parseObject(body)
  if (typeof sku !== 'string' || typeof quantity !== 'number') {
    return { status: 422, json: { error: 'sku (text) and quantity (number) are needed' } }
  }
  if (state.orders.size >= MAX_ORDERS) return { status: 507, json: { error: 'no room left' } }
  const id = String(Math.max(0, ...Array.from(state.orders.keys(), Number)) + 1)
  const order: Order = { id, sku, quantity, status: 'open', ...(by !== undefined && { by }) }
  state.orders.set(id, order)
  return { status: 201, json: order, headers: { location: `/orders/${id}` } }
}

/** Any other request is shown as it arrived, so that one sees what the gateway sends. */
const echo: Endpoint = ({ request, url, body }) => ({
  status: 200,
  json: {
    method: request.method,
    path: url.pathname,
    query: url.search.slice(1),
    headers: request.headers,
    body: body.toString(),
  },
})

const parseObject = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = parseJson(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

const write = (response: ServerResponse, { status, json, file, headers = {} }: Reply): void => {
  if (json === undefined && file === undefined) {
    response.writeHead(status, headers).end()
    return
  }
  const bytes = file?.bytes ?? Buffer.from(JSON.stringify(json))
  const described = {
    'content-type': file?.type ?? 'application/json',
    'content-length': bytes.length,
  }
  response.writeHead(status, { ...described, ...headers }).end(bytes)
}

const stop = async (server: Server): Promise<void> => {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
