// Hundreds of sessions that are cut off, with streams and a callback on them: all come back, the router has as
// many as before, and nothing of the old ones stays in memory.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Inspector, openInspector } from '../bench/inspector.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { openRawPeer, type RawPeer } from '../support/raw-wamp-peer.ts'
import { routerAvailability } from '../support/routers/recipe.ts'
import { OPEN_REALM } from '../support/routers/router-config.ts'
import { prepareSuite, START_MS } from '../support/routers/router-under-test.ts'
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts'
import { post } from './gateway-client.ts'
import { sessionCount } from './wamp/fault-case.ts'
import { openTailClients, type TailClient } from './wamp/tail-client.ts'
import { follows, registers } from './wamp/wamp-operations.ts'

const POOL = 100
const ROUNDS = 2
const STREAMS = 20
const URI = 'com.example.reconnects'

const suite = await prepareSuite(routerAvailability('nexus').available ? 'nexus' : 'embedded')

const own = new AsyncDisposableStack()
let gateway: GatewayProcess
let inspector: Inspector
let peer: RawPeer
/** Of the router with itself, and `peer`. */
let others: number

beforeAll(async () => {
  await suite.start()
  own.defer(suite.stop)
  peer = own.use(await openRawPeer({ url: suite.running().rawsocket, realm: OPEN_REALM }))
  others = await sessionCount(peer)
  const inspectorPort = await freePort()
  gateway = own.use(
    await startGateway({ env: { NODE_OPTIONS: `--inspect-port=127.0.0.1:${inspectorPort}` } }),
  )
  inspector = own.use(await openInspector(gateway.pid, inspectorPort))
}, START_MS)

afterAll(() => own.disposeAsync(), START_MS)

const serve = async (url: string): Promise<void> => {
  await post(gateway, '/realms', {
    uri: OPEN_REALM,
    callback_origins: ['http://127.0.0.1:9'],
    router: { url, pool: POOL },
  })
  await post(gateway, '/api_specs', {
    id: 'reconnects',
    host: '_',
    realm_uri: OPEN_REALM,
    versions: {
      v1: {
        base_path: '/reconnects',
        paths: { '/topic': { get: follows(URI) }, '/register': { post: registers(URI) } },
      },
    },
  })
}

/** All sessions are open, by the word of gateway, router and relay, and the callback is registered. */
const untilWhole = (relay: TcpRelay): Promise<void> =>
  eventually(
    async () => {
      const { text } = await request(`${gateway.management}/realms/${OPEN_REALM}`)
      const open = text.split('"state":"open"').length - 1
      const counts = [relay.connections, open, (await sessionCount(peer)) - others]
      if (counts.some((count) => count !== POOL) || !text.includes('"isActive":true'))
        throw new Error(`not all are back: ${counts.join(', ')}: ${text}`)
    },
    { withinMs: 30_000 },
  )

const untilRestored = (streams: readonly TailClient[]): Promise<void> =>
  eventually(
    () => {
      const lacking = streams.filter(({ tail }) => !tail.includes('router connection restored'))
      if (lacking.length > 0) throw new Error(`${lacking.length} streams are not restored`)
    },
    { withinMs: 30_000 },
  )

it.each(['ws', 'rawsocket'] as const)(
  `${POOL} sessions by %s are cut off ${ROUNDS + 1} times`,
  async (transport) => {
    const url = new URL(suite.running()[transport])
    await using relay = await startTcpRelay(Number(url.port))
    url.port = String(relay.port)
    await serve(url.href)
    await eventually(async () => {
      const registered = await request(`${gateway.public}/reconnects/register`, {
        method: 'POST',
        json: { callback: 'http://127.0.0.1:9/x' },
      })
      expect(registered.status).toBe(200)
    })
    const streams = await openTailClients(`${gateway.public}/reconnects/topic`, STREAMS)
    await untilWhole(relay)
    const round = async (): Promise<void> => {
      for (const stream of streams) stream.tail = ''
      relay.cut()
      await untilRestored(streams)
      await untilWhole(relay)
    }
    await round()
    const before = await inspector.collect()
    for (let n = 0; n < ROUNDS; n += 1) await round()
    const after = await inspector.collect()
    process.stderr.write(
      `measured: heap ${before.toFixed(1)} MiB after ${POOL} reconnects by ${transport}, ` +
        `${after.toFixed(1)} MiB after ${(ROUNDS + 1) * POOL}\n`,
    )
    expect(after - before).toBeLessThan(1)
    for (const { socket } of streams) socket.destroy()
    await request(`${gateway.management}/api_specs/reconnects`, { method: 'DELETE' })
    await eventually(async () => {
      expect(await sessionCount(peer)).toBe(others)
    })
  },
  120_000,
)
