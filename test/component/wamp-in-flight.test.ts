// As many calls in flight as a document allows, each of its own client, and one more: everyone is answered
// exactly once, by the callee, by the end of the router, or at once.

import { expect } from '@jest/globals'
import { eventually } from '../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { openRawPeer, type RawPeer } from '../support/raw-wamp-peer.ts'
import { OPEN_REALM } from '../support/routers/router-config.ts'
import { describeWithRouter } from '../support/routers/describe-with-router.ts'
import { prepareSuite } from '../support/routers/router-under-test.ts'
import { idOf, register, type PeerInvocation } from '../support/wamp-peer.ts'
import { post } from './gateway-client.ts'
import { affordableClients, type ManyClients, startClients } from './wamp/many-clients.ts'
import { measured } from './wamp/measured.ts'
import { calls } from './wamp/wamp-operations.ts'

const COUNT = affordableClients(10_000)
const URI = 'com.example.load'

// Its default of 64 messages per client loses calls.
const suite = await prepareSuite('nexus', { config: { out_queue_size: 3 * COUNT } })

let gateway: GatewayProcess
let clients: ManyClients

const start = async (): Promise<void> => {
  await suite.start()
  gateway = await startGateway({
    // A proxy may have all connections, any other address a share.
    flags: ['--max-connections', String(COUNT + 100), '--trusted-proxies', '127.0.0.1'],
  })
  const router = { url: suite.running().rawsocket }
  await post(gateway, '/realms', { uri: OPEN_REALM, router, call_timeout: 90_000 })
  await post(gateway, '/api_specs', {
    id: 'load',
    host: '_',
    realm_uri: OPEN_REALM,
    versions: {
      v1: {
        base_path: '/load',
        pool_size: COUNT,
        paths: { '/echo': { post: calls(`${URI}.echo`) }, '/held': { post: calls(`${URI}.held`) } },
      },
    },
  })
  clients = await startClients(gateway.public, COUNT)
}

const stop = async (): Promise<void> => {
  await clients[Symbol.asyncDispose]()
  await gateway.stop()
  await suite.stop()
}

interface Callee extends AsyncDisposable {
  /** Resolves when all calls wait there. */
  readonly untilAll: () => Promise<void>
  readonly answerAll: () => void
}

/** Answers no call before `answerAll`. */
const holdCalls = async (): Promise<Callee> => {
  const callee = await join()
  const waiting: { readonly invocation: PeerInvocation; readonly answer: () => void }[] = []
  idOf(
    await register(callee, `${URI}.held`, async (invocation) => {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      waiting.push({
        invocation,
        answer: () => {
          resolve(undefined)
        },
      })
      await promise
      return { args: invocation.args }
    }),
  )
  return {
    untilAll: () =>
      eventually(
        () => {
          if (waiting.length !== COUNT) throw new Error(`${waiting.length} calls have arrived`)
        },
        { withinMs: 60_000 },
      ),
    answerAll: () => {
      for (const { answer } of waiting) answer()
    },
    [Symbol.asyncDispose]: () => callee[Symbol.asyncDispose](),
  }
}

const join = (): Promise<RawPeer> =>
  openRawPeer({ url: suite.running().rawsocket, realm: OPEN_REALM })

interface Row {
  readonly title: string
  readonly expected: unknown
  readonly observe: () => unknown
}

const NOTHING_ODD = { wrong: 0, surplus: 0, lost: 0, tookMs: expect.any(Number) }

const ROWS: readonly Row[] = [
  {
    title: `${COUNT} calls at once are each answered once, with their own response`,
    expected: { responses: { '200': COUNT }, ...NOTHING_ODD },
    observe: async () => {
      await using callee = await join()
      idOf(await register(callee, `${URI}.echo`, ({ args }) => ({ args })))
      const report = await clients.round('/load/echo')
      measured('nexus', `${COUNT} calls at once were answered`, report.tookMs)
      return report
    },
  },
  {
    title: `${COUNT} calls in flight, and one more is refused at once`,
    expected: {
      inFlight: ['svc_gateway_requests_in_flight ' + String(COUNT)],
      surplus: { status: 503, code: 'svc.error.overloaded', hasRetryAfter: true },
      report: { responses: { '200': COUNT }, ...NOTHING_ODD },
      next: 200,
    },
    observe: async () => {
      await using callee = await holdCalls()
      const round = clients.round('/load/held')
      await callee.untilAll()
      const { text } = await request(`${gateway.management}/metrics`)
      const inFlight = text.split('\n').filter((line) => line.startsWith('svc_gateway_requests_in'))
      const sinceMs = performance.now()
      const { status, headers, json } = await request(`${gateway.public}/load/held`, {
        method: 'POST',
        json: { args: ['one more'] },
      })
      measured('nexus', 'one call too many was refused', performance.now() - sinceMs)
      const { code } = json() as { readonly code?: unknown }
      const surplus = { status, code, hasRetryAfter: Number(headers['retry-after']) > 0 }
      callee.answerAll()
      const report = await round
      await using echo = await join()
      idOf(await register(echo, `${URI}.echo`, ({ args }) => ({ args })))
      const next = await request(`${gateway.public}/load/echo`, {
        method: 'POST',
        json: { args: [] },
      })
      return { inFlight, surplus, report, next: next.status }
    },
  },
  {
    title: `${COUNT} calls in flight when the router is killed: each fails once`,
    expected: { responses: { '502 wamp.error.net_failure': COUNT }, ...NOTHING_ODD },
    observe: async () => {
      await using callee = await holdCalls()
      const round = clients.round('/load/held')
      await callee.untilAll()
      const sinceMs = performance.now()
      await suite.running().stop({ kill: true })
      const report = await round
      const what = `${COUNT} calls in flight were settled after the router was killed`
      measured('nexus', what, performance.now() - sinceMs)
      return report
    },
  },
]

describeWithRouter(suite, () => ({ rows: ROWS, start, stop }), 120_000)
