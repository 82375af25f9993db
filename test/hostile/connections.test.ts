// Clients that take all connections they can get: another client is served nevertheless.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals'
import { answers, api, load } from '../component/gateway-client.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { proxyBinary, proxyLine } from '../support/proxy-header.ts'

const BALANCER = '127.0.0.200'
const TRUSTED = '127.0.0.201'
const ANOTHER = '127.0.0.99'
const REQUEST = 'GET /here/ok HTTP/1.1\r\nHost: a\r\n'

let gateway: GatewayProcess
const sockets: Socket[] = []

beforeAll(async () => {
  gateway = await startGateway({
    flags: [
      '--max-connections',
      '100',
      '--public-proxy-protocol',
      BALANCER,
      '--trusted-proxies',
      TRUSTED,
    ],
  })
  await load(gateway, api('here', { '/ok': answers('fine') }))
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await eventually(async () => {
    if ((await connections()) > 0) throw new Error('connections are still open')
  })
})

afterAll(() => gateway.stop(), 15_000)

const metric = async (series: string): Promise<number> => {
  const { text: page } = await request(`${gateway.management}/metrics`)
  const line = page.split('\n').find((each) => each.startsWith(`${series} `))
  return Number(line?.split(' ')[1] ?? 0)
}

const connections = (): Promise<number> => metric('svc_gateway_connections{listener="public"}')

const refusals = (reason: string): Promise<number> =>
  metric(`svc_gateway_connections_refused_total{reason="${reason}"}`)

/** Who connects, and what they send first. */
interface Client {
  readonly from: string
  readonly sent?: string | Buffer
}

const open = async ({ from, sent = '' }: Client): Promise<Socket> => {
  const { hostname, port } = new URL(gateway.public)
  const socket = connect({ host: hostname, port: Number(port), localAddress: from })
  socket.on('error', () => undefined)
  sockets.push(socket)
  await once(socket, 'connect')
  socket.write(sent)
  return socket
}

const openMany = async (count: number, client: Client): Promise<void> => {
  for (let each = 0; each < count; each++) (await open(client)).resume()
}

/** The whole response; empty where the connection is closed instead. */
const ask = async ({ from, sent = '' }: Client): Promise<string> => {
  const socket = await open({ from, sent })
  socket.write(`${REQUEST}Connection: close\r\n\r\n`)
  return text(socket).catch(() => '')
}

const behindBalancer = (header: Buffer): Client => ({ from: BALANCER, sent: header })

const settled = (count: number): Promise<void> =>
  eventually(async () => {
    expect(await connections()).toBe(count)
  })

it.each<[string, (number: number) => Client, Client]>([
  ['one address', () => ({ from: '127.0.0.5' }), { from: ANOTHER }],
  [
    'one address behind a balancer',
    () => behindBalancer(proxyBinary('192.0.2.1')),
    behindBalancer(proxyBinary('192.0.2.2')),
  ],
  [
    'one network of IPv6 behind a balancer',
    (number) => behindBalancer(proxyLine(`2001:db8::${number}`)),
    behindBalancer(proxyLine('2001:db8:0:1::1')),
  ],
])('%s that opens three times as many as there are', async (_, attacker, another) => {
  const before = await refusals('share')
  for (let number = 0; number < 300; number++) await openMany(1, attacker(number))
  await settled(81)
  expect((await refusals('share')) - before).toBeGreaterThan(0)
  expect(await ask(another)).toMatch(/^HTTP\/1\.1 200 /)
})

it.each([
  ['say nothing', ''],
  ['begin a request and never end it', REQUEST],
  ['ask and then stay', `${REQUEST}\r\n`],
])('several addresses that take all and %s', async (_, sent) => {
  const before = await refusals('made_room')
  for (const from of ['127.0.0.5', '127.0.0.6', '127.0.0.7', '127.0.0.8'])
    await openMany(25, { from, sent })
  await settled(100)
  expect(await ask({ from: ANOTHER })).toMatch(/^HTTP\/1\.1 200 /)
  expect((await refusals('made_room')) - before).toBe(1)
  await settled(99)
  await openMany(10, { from: '127.0.0.6', sent })
  await settled(99)
})

it('a proxy may take all, and its client is served by what it has', async () => {
  const first = await open({ from: TRUSTED })
  await openMany(99, { from: TRUSTED })
  await settled(100)
  first.write(`${REQUEST}Connection: close\r\n\r\n`)
  expect(await text(first)).toMatch(/^HTTP\/1\.1 200 /)
  await settled(99)
  await openMany(1, { from: TRUSTED })
  await settled(100)
  expect(await ask({ from: ANOTHER })).toMatch(/^HTTP\/1\.1 200 /)
})

it('a balancer that sends no header keeps no other client out', async () => {
  await openMany(300, { from: BALANCER })
  await settled(100)
  expect(await ask({ from: ANOTHER })).toMatch(/^HTTP\/1\.1 200 /)
  await settled(99)
  expect(await ask(behindBalancer(proxyBinary('192.0.2.1')))).toMatch(/^HTTP\/1\.1 200 /)
})

it('the management API has connections of its own', async () => {
  await openMany(300, { from: '127.0.0.5' })
  expect((await request(`${gateway.management}/ready`)).status).toBe(204)
})
