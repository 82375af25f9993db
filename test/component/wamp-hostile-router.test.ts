// A router that sends garbage, or nothing at all: the process lives, the session is replaced where nothing can be made
// of it, and users of other realms notice nothing.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { MESSAGE, type SerializerName } from '../../dataplane/wamp/protocol/messages.ts'
import type { SessionState } from '../../language/wire/wire.ts'
import { openEventClient } from '../dataplane/http/sse/event-client.ts'
import { eventually } from '../support/eventually.ts'
import { type Exit, startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { addressOf } from '../support/raw-client.ts'
import { START_MS } from '../support/routers/router-under-test.ts'
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts'
import { post } from './gateway-client.ts'
import { GARBAGE, NET_FAILURE, RIGHT } from './wamp/garbage.ts'
import { measured } from './wamp/measured.ts'
import { startNeighbour, type Neighbour, NEIGHBOUR_PATH } from './wamp/neighbour.ts'
import { type ScriptedRouter, startScriptedRouter, type Visit } from './wamp/scripted-router.ts'
import { calls, follows } from './wamp/wamp-operations.ts'

/** Of four seconds, 10 ms apart, which is far below what a call or a connection may take: what holds up the gateway holds them up too. */
const STOP_LOOKS = 400

const ALL = GARBAGE.map((garbage, n) => ({
  ...garbage,
  title: `${garbage.serializer ?? 'json'}: ${garbage.name}`,
  realm: `com.example.hostile.r${n}`,
  path: `/r${n}/x`,
}))

let router: ScriptedRouter
/** Takes connections, and passes nothing on. */
let mute: TcpRelay
let neighbour: Neighbour
let gateway: GatewayProcess

const serve = async (realm: string, id: string, routerRecord: object): Promise<void> => {
  await post(gateway, '/realms', { uri: realm, router: routerRecord })
  const { status } = await post(gateway, '/api_specs', {
    id,
    host: '_',
    realm_uri: realm,
    versions: {
      v1: {
        base_path: `/${id}`,
        paths: {
          '/x': { post: calls('com.example.x', { args: [], timeout: 10_000 }, { body: 'fine' }) },
          '/topic': { get: follows('com.example.topic') },
        },
      },
    },
  })
  expect(status).toBe(204)
}

const load = async (realm: string, id: string, serializer: SerializerName): Promise<void> => {
  await serve(realm, id, { url: router.url, serializers: [serializer] })
  await eventually(async () => {
    const { text: body } = await request(`${gateway.management}/realms/${realm}`)
    if (!body.includes('"open"')) throw new Error(`not open: ${body}`)
  })
}

beforeAll(async () => {
  router = await startScriptedRouter(new Map(ALL.map(({ realm, script }) => [realm, script])))
  mute = await startTcpRelay(Number(new URL(router.url).port))
  mute.freeze()
  neighbour = await startNeighbour()
  gateway = await startGateway()
  await neighbour.serveOn(gateway)
}, START_MS)

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await neighbour[Symbol.asyncDispose]()
  await mute[Symbol.asyncDispose]()
  await router[Symbol.asyncDispose]()
}, START_MS)

const ask = async (path: string): Promise<{ status: number; code: unknown }> => {
  const response = await request(gateway.public + path, { method: 'POST', timeoutMs: 20_000 })
  const { status } = response
  if (status === 200) return { status, code: undefined }
  return { status, code: (response.json() as { readonly code?: unknown }).code }
}

const visitsOf = (realm: string): readonly Visit[] =>
  router.visits.filter((visit) => visit.realm === realm)

// Each realm is one test's.
describe('a router', () => {
  it.concurrent.each([
    ['ws', '/ws'],
    ['rs', ''],
  ])('that never says a word holds up nothing, by %s', async (scheme, path) => {
    const realm = `com.example.mute.${scheme}`
    const session = async (): Promise<SessionState | undefined> => {
      const response = await request(`${gateway.management}/realms/${realm}`)
      const { sessions } = response.json() as { readonly sessions: readonly SessionState[] }
      return sessions[0]
    }
    await serve(realm, `mute-${scheme}`, { url: `${scheme}://127.0.0.1:${mute.port}${path}` })
    // A machine that is held up sees the pause between two attempts.
    await eventually(async () => {
      expect(await session()).toMatchObject({ state: 'connecting' })
    })
    expect(await ask(`/mute-${scheme}/x`)).toEqual(NET_FAILURE)
    expect((await request(`${gateway.management}/ready`)).status).toBe(204)
    await eventually(
      async () => {
        expect((await session())?.reason).toContain('no connection within 5000 ms')
      },
      { withinMs: 15_000 },
    )
    expect(await ask(`/mute-${scheme}/x`)).toEqual(NET_FAILURE)
  })

  it.concurrent.each(ALL)(
    '$title',
    async ({ realm, path, serializer = 'json', response, isReplaced }) => {
      await load(realm, path.split('/')[1] ?? '', serializer)
      const neighbourly = ask(NEIGHBOUR_PATH)
      expect(await ask(path)).toEqual(response)
      expect(await neighbourly).toEqual(RIGHT)
      // The next call succeeds, on another session or the same.
      await eventually(async () => {
        expect(await ask(path)).toEqual(RIGHT)
      })
      // The end of one session may be heard of after the begin of the next.
      await eventually(() => {
        expect(visitsOf(realm).map(({ closed }) => closed === undefined)).toEqual(
          isReplaced ? [false, true] : [true],
        )
      })
    },
  )

  it('leaves no fault in the log, whatever it sends', () => {
    expect(
      gateway.logs().filter((line) => /"level":"error"|uncaught|unhandled/i.test(line)),
    ).toEqual([])
  })
})

it('streams of a topic are one SUBSCRIBE; the end of the document is UNSUBSCRIBE and GOODBYE', async () => {
  const realm = 'com.example.hostile.polite'
  await load(realm, 'polite', 'json')
  const streams = await Promise.all(
    Array.from({ length: 50 }, () =>
      openEventClient(addressOf(gateway.public), {
        path: '/polite/topic',
        headers: { accept: 'text/event-stream' },
      }),
    ),
  )
  await eventually(() => {
    expect(streams.filter(({ received }) => received?.status !== 200)).toHaveLength(0)
  })
  await request(`${gateway.management}/api_specs/polite`, { method: 'DELETE' })
  await eventually(() => {
    expect(streams.filter(({ received }) => received?.isWhole !== true)).toHaveLength(0)
    const [visit] = visitsOf(realm)
    expect(visit?.closed).toBeDefined()
    const { hello, subscribe, goodbye } = MESSAGE
    expect(visit?.types.filter((type) => type !== MESSAGE.unsubscribe)).toEqual([
      hello,
      subscribe,
      goodbye,
    ])
  })
  for (const { socket } of streams) socket.destroy()
})

it('SIGTERM ends it in order, and soon, whatever its routers say or do not', async () => {
  const sinceMs = performance.now()
  let exit: Exit | undefined
  void gateway.exited.then((ended) => (exit = ended))
  gateway.signal('SIGTERM')
  await eventually(
    () => {
      expect(exit).toEqual({ code: 0, signal: null })
    },
    { looks: STOP_LOOKS, everyMs: 10 },
  )
  const tookMs = performance.now() - sinceMs
  measured('scripted', 'a gateway stopped with a router that is mute', tookMs)
})
