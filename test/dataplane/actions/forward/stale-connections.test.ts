// Requests on connections that have served others and that the upstream closes while they are sent. The upstream is
// scripted: it closes when the request has come, which is what a client sees whose request has crossed the close.

import type { Socket } from 'node:net'
import { expect, it } from '@jest/globals'
import { createGuard } from '../../../../dataplane/upstream/destinations/guard.ts'
import type { RetryBudget } from '../../../../dataplane/upstream/retry-budget.ts'
import { createUpstream } from '../../../../dataplane/upstream/pooled-upstream.ts'
import { constant } from '../../../../language/expression/template.ts'
import { listenRaw, until } from '../../upstream/servers.ts'
import { call, type Call, READ_ALL } from './forward-fixture.ts'
import { gatewayTo, opened } from './forward-rig.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

type Reaction = (socket: Socket) => unknown
const reset: Reaction = (socket) => socket.resetAndDestroy()
const end: Reaction = (socket) => socket.end()
const ok: Reaction = (socket) => socket.write(OK)

interface Scripted {
  readonly origin: string
  /** `2 PUT`: of the second connection. */
  readonly seen: string[]
}

/** @param script what becomes of the requests of each connection, in order; `ok` after that */
const scripted = async (...script: readonly (readonly Reaction[])[]): Promise<Scripted> => {
  const seen: string[] = []
  const sockets: Socket[] = []
  const counts: number[] = []
  const { origin } = await opened(
    listenRaw((socket, text) => {
      const method = /^([A-Z]+) \S+ HTTP/.exec(text)?.[1]
      if (method === undefined) return
      const at = sockets.includes(socket) ? sockets.indexOf(socket) : sockets.push(socket) - 1
      const count = (counts[at] ?? 0) + 1
      counts[at] = count
      seen.push(`${at + 1} ${method}`)
      ;(script[at]?.[count - 1] ?? ok)(socket)
    }),
  )
  return { origin, seen }
}

it.each<[string, Reaction, Call]>([
  ['GET, reset', reset, { method: 'GET' }],
  ['GET, closed', end, { method: 'GET' }],
  ['HEAD', reset, { method: 'HEAD' }],
  ['OPTIONS', reset, { method: 'OPTIONS' }],
  ['DELETE', reset, { method: 'DELETE' }],
  ['PUT', reset, { method: 'PUT', body: 'x' }],
  ['PUT of 64 KiB', reset, { method: 'PUT', body: Buffer.alloc(65_536) }],
])('is sent once more, on a new connection: %s', async (_, reaction, asked) => {
  const { origin, seen } = await scripted([ok, reaction])
  const gateway = await gatewayTo(origin)
  await call(gateway)
  expect((await call(gateway, asked)).status).toBe(200)
  const method = asked.method ?? ''
  expect(seen).toEqual(['1 GET', `1 ${method}`, `2 ${method}`])
  expect([gateway.failures, gateway.scope.size]).toEqual([[], 0])
})

it.each<[string, Reaction, Call]>([
  ['POST', reset, { method: 'POST', body: 'x' }],
  ['POST without a body', end, { method: 'POST' }],
  ['PATCH', reset, { method: 'PATCH', body: 'x' }],
  ['PUT of more than is kept', reset, { method: 'PUT', body: Buffer.alloc(65_537) }],
  ['PUT in chunks, which are not kept', reset, { method: 'PUT', body: 'x', chunked: true }],
  ['a byte of a response came', (socket) => socket.end('H'), { method: 'GET' }],
  [
    'an interim response came',
    (socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'),
    { method: 'GET' },
  ],
  ['what came is no HTTP', (socket) => socket.end('hello\r\n\r\n'), { method: 'GET' }],
])('is not sent again: %s', async (_, reaction, asked) => {
  const { origin, seen } = await scripted([ok, reaction])
  const gateway = await gatewayTo(origin, READ_ALL)
  await call(gateway)
  const response = await call(gateway, asked)
  expect(response.json()).toMatchObject({ error: { error_uri: 'svc.error.bad_gateway' } })
  expect(seen).toEqual(['1 GET', `1 ${asked.method ?? ''}`])
  expect(gateway.failures).toMatchObject([{ attempts: 1 }])
})

it('is not sent again if the connection is new', async () => {
  const { origin, seen } = await scripted([reset])
  const gateway = await gatewayTo(origin, READ_ALL)
  expect((await call(gateway)).status).toBe(504)
  expect(seen).toEqual(['1 GET'])
})

it('is not sent again if the upstream is silent', async () => {
  const { origin, seen } = await scripted([ok, () => undefined])
  const gateway = await gatewayTo(origin, READ_ALL, { timeoutMs: 100 })
  await call(gateway)
  expect((await call(gateway)).json()).toMatchObject({ error: { error_uri: 'svc.error.timeout' } })
  expect(seen).toEqual(['1 GET', '1 GET'])
})

it.each<['get' | 'post', string, string[], number]>([
  ['post', 'GET', ['1 POST', '1 POST'], 504],
  ['get', 'POST', ['1 GET', '1 GET', '2 GET'], 200],
])('what counts is the method that is sent: %s for %s', async (...[method, own, seen, status]) => {
  const server = await scripted([ok, reset])
  const gateway = await gatewayTo(server.origin, { ...READ_ALL, action: { method } })
  await call(gateway, { method: own })
  expect((await call(gateway, { method: own })).status).toBe(status)
  expect(server.seen).toEqual(seen)
})

it('is sent once more at most, and each time counts', async () => {
  const { origin, seen } = await scripted([ok, reset], [reset])
  const upstream = createUpstream({ guard: createGuard() })
  const gateway = await gatewayTo(origin, READ_ALL, { upstream })
  await call(gateway)
  expect((await call(gateway)).status).toBe(504)
  expect(seen).toEqual(['1 GET', '1 GET', '2 GET'])
  expect(gateway.failures).toMatchObject([{ reason: 'reset', attempts: 2 }])
  expect(upstream.counts().read()).toMatchObject([{ label: origin, requests: 3 }])
  expect(upstream.counts().readFailures()).toEqual([{ origin, cause: 'reset', count: 2 }])
})

it('goes on a connection that was never used, not on another idle one', async () => {
  const held: Socket[] = []
  const { origin, seen } = await scripted(
    [(socket) => held.push(socket), reset],
    [(socket) => held.push(socket), reset],
  )
  const gateway = await gatewayTo(origin)
  const both = [call(gateway), call(gateway)]
  await until(() => held.length === 2, 'both have asked')
  for (const socket of held) socket.write(OK)
  await Promise.all(both)
  expect((await call(gateway)).status).toBe(200)
  expect(seen.slice(2).map((each) => each.slice(1))).toEqual([' GET', ' GET'])
  expect(seen.at(-1)).toBe('3 GET')
})

it('is no retry: it waits for nothing, and takes nothing from the budget', async () => {
  const { origin, seen } = await scripted([ok, reset])
  const budget = {
    open: () => ({ hasLeft: false, spend: () => undefined }),
  } as unknown as RetryBudget
  const parts = { limits: { retries: constant(1) } }
  const gateway = await gatewayTo(origin, parts, { retryBudget: budget })
  await call(gateway)
  expect((await call(gateway)).status).toBe(200)
  expect(seen).toEqual(['1 GET', '1 GET', '2 GET'])
})

it('keeps its slot, also where others wait for one', async () => {
  let isWaiting = false
  const dying: Socket[] = []
  const { origin, seen } = await scripted([ok, (socket) => dying.push(socket)])
  const gateway = await gatewayTo(
    origin,
    {},
    { poolSize: 1, change: ({ context }) => (isWaiting ||= context.request.path === '/waits') },
  )
  await call(gateway)
  const first = call(gateway, { method: 'DELETE' })
  await until(() => dying.length === 1, 'it is sent')
  const second = call(gateway, { method: 'PUT', path: '/waits', body: 'x' })
  await until(() => isWaiting, 'the other waits')
  dying[0]?.resetAndDestroy()
  expect([(await first).status, (await second).status]).toEqual([200, 200])
  expect(seen).toEqual(['1 GET', '1 DELETE', '2 DELETE', '2 PUT'])
})
