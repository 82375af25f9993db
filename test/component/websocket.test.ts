// `/ws` of a real gateway: carried to the realm's router, refused where there is none, closed in order when the
// gateway goes.

import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { WebSocket } from 'ws'
import { startRouter, type Router } from '../../dev/router/router.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { answers, api, post, REALM } from './gateway-client.ts'

let router: Router

beforeAll(async () => {
  router = await startRouter({ realms: [{ uri: REALM, anonymous: true }] })
})

afterAll(() => router.close())

const prepare = async (...flags: readonly string[]): Promise<GatewayProcess> => {
  const gateway = await startGateway({ flags })
  await post(gateway, '/realms', { uri: REALM, router: { url: router.wsUrl } })
  await post(gateway, '/api_specs', api('chat', { '/x': answers('x') }))
  return gateway
}

const connect = async (gateway: GatewayProcess): Promise<WebSocket> => {
  const url = `${gateway.public.replace('http:', 'ws:')}/chat/ws`
  const socket = new WebSocket(url, ['wamp.2.json'])
  await once(socket, 'open')
  return socket
}

/** The first message that comes for `message`. */
const ask = async (socket: WebSocket, message: unknown): Promise<unknown> => {
  const response = once(socket, 'message')
  socket.send(JSON.stringify(message))
  const [data] = (await response) as [Buffer]
  return JSON.parse(data.toString()) as unknown
}

const HELLO = [1, REALM, { roles: { caller: {} } }]

it.each([['one process'], ['two workers', '--processes', '2']])(
  'joins the realm of the document through %s, and is closed with 1001 when the gateway stops',
  async (_, ...flags) => {
    const gateway = await prepare(...flags)
    const sockets = await Promise.all(Array.from({ length: 4 }, () => connect(gateway)))
    for (const socket of sockets) {
      expect(await ask(socket, HELLO)).toMatchObject([2, expect.any(Number), {}])
      expect(await ask(socket, [48, 1, {}, 'com.nobody'])).toMatchObject([
        8,
        48,
        1,
        {},
        'wamp.error.no_such_procedure',
      ])
    }
    const closes = sockets.map(async (socket) => {
      const [code] = (await once(socket, 'close')) as [number]
      return code
    })
    const stopped = gateway.stop()
    expect(await Promise.all(closes)).toEqual([1001, 1001, 1001, 1001])
    await stopped
  },
  60_000,
)

it('tells plain requests to upgrade, and knows no /ws without a router', async () => {
  await using gateway = await prepare()
  const plain = await request(`${gateway.public}/chat/ws`)
  expect([plain.status, plain.headers.upgrade]).toEqual([426, 'websocket'])
  expect((await request(`${gateway.public}/chat/ws/more`)).status).toBe(404)
  await post(gateway, '/realms', { uri: REALM })
  expect((await request(`${gateway.public}/chat/ws`)).status).toBe(404)
  await expect(connect(gateway)).rejects.toThrow('404')
}, 60_000)
