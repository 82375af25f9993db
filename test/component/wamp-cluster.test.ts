// A gateway of two processes is one gateway to the clients that use WAMP through it: sessions, streams and what is held for
// callbacks, whichever process a client happens to reach, and when one of them is killed.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { DurableListing } from '../../dataplane/wamp/realm/wamp-client.ts'
import type { SessionState } from '../../language/wire/wire.ts'
import { type EventClient, openEventClient } from '../dataplane/http/sse/event-client.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { addressOf } from '../support/raw-client.ts'
import { openRawPeer, type RawPeer } from '../support/raw-wamp-peer.ts'
import { routerAvailability } from '../support/routers/recipe.ts'
import { OPEN_REALM } from '../support/routers/router-config.ts'
import { prepareSuite, START_MS } from '../support/routers/router-under-test.ts'
import { call, publish, register } from '../support/wamp-peer.ts'
import { post } from './gateway-client.ts'
import { type CallbackReceiver, echoes, startReceiver } from './wamp/callback-receiver.ts'
import { sessionCount } from './wamp/fault-case.ts'
import { measured } from './wamp/measured.ts'
import { calls, follows, registers, releases } from './wamp/wamp-operations.ts'

const URI = 'com.example.cluster'
const WORKERS = 2

const suite = await prepareSuite(routerAvailability('nexus').available ? 'nexus' : 'embedded')

let gateway: GatewayProcess
let receiver: CallbackReceiver
let peer: RawPeer

beforeAll(async () => {
  await suite.start()
  receiver = await startReceiver({ '/echo': echoes })
  gateway = await startGateway({ flags: ['--processes', String(WORKERS)] })
  const { ws, rawsocket } = suite.running()
  peer = await openRawPeer({ url: rawsocket, realm: OPEN_REALM })
  await register(peer, `${URI}.echo`, ({ args }) => ({ args }))
  await post(gateway, '/realms', {
    uri: OPEN_REALM,
    router: { url: ws },
    callback_origins: [receiver.origin],
  })
  await post(gateway, '/api_specs', {
    id: 'cluster',
    host: '_',
    realm_uri: OPEN_REALM,
    versions: {
      v1: {
        base_path: '/cluster',
        paths: {
          '/echo': { post: calls(`${URI}.echo`) },
          '/topic': { get: follows(`${URI}.topic`) },
          '/register': { post: registers('{{request.body.uri}}') },
          '/unregister': { post: releases('wamp_unregister') },
        },
      },
    },
  })
  await untilOpen(WORKERS)
}, START_MS)

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  peer.close()
  await receiver[Symbol.asyncDispose]()
  await suite.stop()
}, START_MS)

interface RealmView {
  readonly sessions: readonly SessionState[]
  readonly callbacks: readonly DurableListing[]
}

const realm = async (): Promise<RealmView> =>
  (await request(`${gateway.management}/realms/${OPEN_REALM}`)).json() as RealmView

const untilOpen = (wanted: number): Promise<void> =>
  eventually(
    async () => {
      const { sessions } = await realm()
      expect(sessions.map(({ state }) => state)).toEqual(
        Array.from({ length: wanted }, () => 'open'),
      )
    },
    { withinMs: 15_000 },
  )

const ask = async (path: string, json: object): Promise<{ status: number; body: unknown }> => {
  const { status, text } = await request(`${gateway.public}/cluster${path}`, {
    method: 'POST',
    json,
  })
  return { status, body: text === '' ? '' : (JSON.parse(text) as unknown) }
}

const registerMany = async (prefix: string, count: number): Promise<number[]> => {
  const responses = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      ask('/register', { uri: `${URI}.${prefix}${n}`, callback: `${receiver.origin}/echo` }),
    ),
  )
  expect(responses.filter(({ status }) => status !== 200)).toEqual([])
  return responses.map(({ body }) => (body as { registration_id: number }).registration_id)
}

const workersOf = async (pid: number): Promise<number[]> => {
  const text =
    platform() === 'linux'
      ? await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
      : (await promisify(execFile)('pgrep', ['-P', String(pid)])).stdout
  return text.trim().split(/\s+/).map(Number)
}

const openStreams = async (count: number): Promise<EventClient[]> => {
  const streams = await Promise.all(
    Array.from({ length: count }, () =>
      openEventClient(addressOf(gateway.public), {
        path: '/cluster/topic',
        headers: { accept: 'text/event-stream' },
      }),
    ),
  )
  await eventually(() => {
    expect(streams.filter(({ received }) => received?.status !== 200)).toHaveLength(0)
  })
  return streams
}

const subscribers = async (): Promise<number> => {
  const found = await call(peer, 'wamp.subscription.lookup', { args: [`${URI}.topic`] })
  const id = Array.isArray(found.args) ? Number(found.args[0]) : 0
  const listed = await call(peer, 'wamp.subscription.list_subscribers', { args: [id] })
  const sessions: unknown = Array.isArray(listed.args) ? listed.args[0] : []
  return Array.isArray(sessions) ? sessions.length : 0
}

it('sessions of all processes are listed, and the router has no more', async () => {
  const { sessions } = await realm()
  expect(sessions).toHaveLength(WORKERS)
  expect(await sessionCount(peer)).toBe(WORKERS + 1)
})

it('what one process holds for a callback, any process can release', async () => {
  const ids = await registerMany('held', 10)
  await eventually(async () => {
    expect((await realm()).callbacks.map(({ id }) => id).sort()).toEqual([...ids].sort())
  })
  const outcomes = await Promise.all(
    ids.map((_, n) => call(peer, `${URI}.held${n}`, { args: [n] })),
  )
  expect(outcomes).toEqual(ids.map((_, n) => ({ args: [n] })))
  // Each on a connection of its own: half of them reach the other process.
  const released = await Promise.all(ids.map((id) => ask('/unregister', { id })))
  expect(released.map(({ status }) => status)).toEqual(ids.map(() => 200))
  const again = await ask('/unregister', { id: ids[0] })
  expect(again).toMatchObject({ status: 502, body: { code: 'wamp.error.no_such_registration' } })
  await eventually(async () => {
    expect((await realm()).callbacks).toEqual([])
  })
  expect(await call(peer, `${URI}.held0`)).toMatchObject({ error: 'wamp.error.no_such_procedure' })
})

it('streams of all processes get every event, by one subscription of each', async () => {
  const streams = await openStreams(20)
  // The playground's router has no meta procedures of subscriptions.
  expect(await subscribers()).toBe(suite.name === 'nexus' ? WORKERS : 0)
  for (let n = 0; n < 10; n += 1) await publish(peer, `${URI}.topic`, { args: [n] })
  await eventually(() => {
    for (const { body } of streams) {
      const data = body.split('\n').filter((line) => line.startsWith('data: '))
      expect(data).toEqual(Array.from({ length: 10 }, (_, n) => `data: [${n}]`))
    }
  })
  for (const { socket } of streams) socket.destroy()
})

it('a process that is killed takes its callbacks along, and another one takes its place', async () => {
  const workers = await workersOf(gateway.pid)
  expect(workers).toHaveLength(WORKERS)
  const ids = await registerMany('killed', 20)
  const streams = await openStreams(20)
  await eventually(async () => {
    expect((await realm()).callbacks).toHaveLength(ids.length)
  })
  const sinceMs = performance.now()
  process.kill(workers[0] ?? 0, 'SIGKILL')
  const left = await eventually(async () => {
    const { callbacks } = await realm()
    expect(callbacks.length).toBeLessThan(ids.length)
    return callbacks.map(({ uri }) => uri)
  })
  measured(suite.name, 'callbacks of a killed process gone', performance.now() - sinceMs)
  await untilOpen(WORKERS)
  measured(suite.name, 'sessions whole after a killed process', performance.now() - sinceMs)
  // The router hears of the end of a session by itself.
  await eventually(async () => {
    expect(await sessionCount(peer)).toBe(WORKERS + 1)
  })
  expect(left.length).toBeGreaterThan(0)
  const outcomes = await Promise.all(
    ids.map(async (_, n) => {
      const uri = `${URI}.killed${n}`
      const outcome = await call(peer, uri, { args: [n] })
      return left.includes(uri) === !('error' in outcome)
    }),
  )
  expect(outcomes).not.toContain(false)
  // The other process serves on, and streams of it go on.
  const living = streams.filter(({ isClosed }) => !isClosed)
  expect(living.length).toBeGreaterThan(0)
  expect(living.length).toBeLessThan(streams.length)
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => ask('/echo', { args: [n] })),
  )
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
  const young = await openStreams(10)
  await publish(peer, `${URI}.topic`, { args: ['after'] })
  await eventually(() => {
    const all = [...living, ...young]
    expect(all.filter(({ body }) => !body.includes('data: ["after"]'))).toHaveLength(0)
  })
  expect(await sessionCount(peer)).toBe(WORKERS + 1)
  for (const { socket } of [...streams, ...young]) socket.destroy()
})

it('SIGTERM: streams of all processes end in order, all sessions say goodbye', async () => {
  const streams = await openStreams(10)
  gateway.signal('SIGTERM')
  expect((await gateway.exited).code).toBe(0)
  for (const { socket, isClosed } of streams) if (!isClosed) await once(socket, 'close')
  expect(streams.filter(({ received }) => received?.isWhole !== true)).toHaveLength(0)
  await eventually(async () => {
    expect(await sessionCount(peer)).toBe(1)
  })
})
