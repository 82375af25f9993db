// What holds the slots of an upstream: bodies that hardly come, one connection with many requests, one client with
// many connections. Others are served all the same, in their turn.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { load, REALM } from '../component/gateway-client.ts'
import { type Listening, listenHttp } from '../dataplane/upstream/servers.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { addressOf, openRawClient } from '../support/raw-client.ts'

let gateway: GatewayProcess
let upstream: Listening
const sockets: Socket[] = []
const hanging: ServerResponse[] = []
let hangs = true

beforeAll(async () => {
  upstream = await listenHttp((asked, response) => {
    if (asked.url?.endsWith('/hang') === true && hangs) hanging.push(response)
    else asked.resume().once('end', () => response.end('x'))
  })
  gateway = await startGateway()
  const operation = { action: { type: 'forward', host: upstream.origin }, response: {} }
  const paths = { '/:p': { get: operation, post: operation } }
  const versions = {
    v1: { base_path: '/slow', paths },
    v2: { base_path: '/narrow', paths, pool_size: 2 },
  }
  await load(gateway, { id: 'slow', host: '_', realm_uri: REALM, versions })
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  hangs = false
  for (const response of hanging.splice(0)) response.end()
  await eventually(async () => {
    if ((await requestsInFlight()) > 0) throw new Error('requests are still at work')
  })
  hangs = true
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

const send = (text: string): Socket => {
  const socket = connect(addressOf(gateway.public)).on('error', () => undefined)
  sockets.push(socket)
  socket.write(text)
  return socket
}

const expectAnotherServed = async (): Promise<void> => {
  // Sooner than who waits for a slot is refused.
  const response = await request(`${gateway.public}/slow/x`, { timeoutMs: 7000 })
  expect(response.status).toBe(200)
}

const inUse = async (): Promise<number> => {
  const { text } = await request(`${gateway.management}/metrics`)
  const line = /^svc_gateway_upstream_connections\{[^}]*state="running"[^}]*\} (\d+)/m.exec(text)
  return Number(line?.[1] ?? 0)
}

const requestsInFlight = async (): Promise<number> => {
  const { text } = await request(`${gateway.management}/metrics`)
  return Number(/^svc_gateway_requests_in_flight (\d+)/m.exec(text)?.[1] ?? 0)
}

it.each([
  ['of unknown length', 'POST', 'Transfer-Encoding: chunked\r\n\r\n6\r\nslowly\r\n'],
  ['that are declared to be large', 'POST', 'Content-Length: 1000000\r\n\r\nslowly'],
  ['of requests that have none', 'GET', 'Transfer-Encoding: chunked\r\n\r\n6\r\nslowly\r\n'],
])('250 bodies %s leave half of the slots', async (_, method, rest) => {
  for (let each = 0; each < 250; each++) send(`${method} /slow/x HTTP/1.1\r\nHost: a\r\n${rest}`)
  // A request is at work before its connection to the upstream is open.
  await eventually(async () => {
    expect([await requestsInFlight(), await inUse()]).toEqual([250, 100])
  })
  await expectAnotherServed()
  expect(await inUse()).toBe(100)
})

it('500 requests on one connection take one slot', async () => {
  send('GET /slow/hang HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(500))
  await eventually(async () => {
    expect(await inUse()).toBe(1)
  })
  await expectAnotherServed()
  // The one that was served counts until the gateway has heard of its end.
  await eventually(async () => {
    expect([await inUse(), await requestsInFlight()]).toEqual([1, 1])
  })
})

it.each([
  ['', ''],
  [' with requests behind it', 'GET /slow/x HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100)],
])('a request%s whose client hangs up lets its slot go, and the upstream', async (_, behind) => {
  const before = upstream.open()
  const socket = send(`GET /slow/hang HTTP/1.1\r\nHost: a\r\n\r\n${behind}`)
  await eventually(async () => {
    expect(await inUse()).toBe(1)
  })
  socket.destroy()
  await eventually(async () => {
    expect(await inUse()).toBe(0)
  })
  // It hears of that on its own.
  await eventually(() => {
    expect(upstream.open()).toBeLessThanOrEqual(before)
  })
  await expectAnotherServed()
})

it('responses of endpoints of the gateway come in their turn too', async () => {
  await using client = await openRawClient(addressOf(gateway.public), 15_000)
  client.send(
    ['/slow/hang', '/.well-known/jwks.json', '/slow/x'].map((path) =>
      Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`),
    ),
  )
  await eventually(() => {
    expect(hanging).toHaveLength(1)
  })
  hanging.splice(0)[0]?.end('late')
  const texts: string[] = []
  for (let each = 0; each < 3; each++) texts.push((await client.response()).body.toString())
  expect(texts).toEqual(['late', expect.stringMatching(/^\{"keys":/), 'x'])
})

it('a client whose many connections wait for slots does not keep another one waiting', async () => {
  for (let each = 0; each < 100; each++) send('GET /narrow/hang HTTP/1.1\r\nHost: a\r\n\r\n')
  await eventually(async () => {
    expect([hanging.length, await requestsInFlight()]).toEqual([2, 100])
  })
  const other = connect({ ...addressOf(gateway.public), localAddress: '127.0.0.2' })
  sockets.push(other)
  other.write('GET /narrow/x HTTP/1.1\r\nHost: a\r\n\r\n')
  await eventually(async () => {
    expect(await requestsInFlight()).toBe(101)
  })
  hanging.shift()?.end()
  hanging.shift()?.end()
  const [response] = (await once(other, 'data')) as [Buffer]
  expect(String(response)).toMatch(/^HTTP\/1\.1 200 /)
  await expectAnotherServed()
})
