// Streams of events while their router comes and goes, and when the gateway is told to stop.

import { once } from 'node:events'
import { isList } from '../../../language/expression/value.ts'
import { eventually } from '../../support/eventually.ts'
import { startGateway } from '../../support/gateway-process.ts'
import { addressOf } from '../../support/raw-client.ts'
import { request } from '../../support/http-request.ts'
import { call, publish, register } from '../../support/wamp-peer.ts'
import { type EventClient, openEventClient } from '../../dataplane/http/sse/event-client.ts'
import { post } from '../gateway-client.ts'
import type { FaultCase, FaultContext } from './fault-case.ts'
import { measured } from './measured.ts'
import { calls, follows, publishes } from './wamp-operations.ts'

const STREAMS = 20
const LOST = ': router connection lost; events may be missed'
const RESTORED = ': router connection restored'

export const STREAM_CASES: readonly FaultCase[] = [
  {
    name: 'they outlive a router that is killed and comes back, and say so',
    same: { texts: [['data: [1]', LOST, RESTORED, 'data: [2]']], while: 502, metric: STREAMS },
    run: async (context) => {
      const { router } = context
      const streams = await openStreams(context)
      const topic = `${context.uri}.topic`
      await publish(await context.open(), topic, { args: [1] })
      await untilAll(streams, 'data: [1]')
      await router.stop({ kill: true })
      await untilAll(streams, LOST)
      const refused = await context.ask('/topic', { headers: { accept: 'text/event-stream' } })
      await router.restart()
      const sinceMs = performance.now()
      await untilAll(streams, RESTORED)
      measured(router.name, `${STREAMS} streams restored`, performance.now() - sinceMs)
      await publish(await context.open(), topic, { args: [2] })
      await untilAll(streams, 'data: [2]')
      const texts = new Set(streams.map(({ body }) => JSON.stringify(linesOf(body))))
      const [metric = ''] = await context.metric('svc_gateway_event_streams ')
      return {
        texts: [...texts].map((text) => JSON.parse(text) as unknown),
        while: refused.status,
        metric: Number(metric.split(' ')[1]),
      }
    },
  },
  {
    name: 'what is published through the same gateway comes too, unless the document says no',
    same: { texts: [['data: [1]', 'data: [3]']] },
    run: async (context) => {
      const topic = `${context.uri}.topic`
      const streams = await openStreams(context, {
        '/publish': { post: publishes(topic) },
        '/to-others': { post: publishes(topic, { exclude_me: true }) },
      })
      await context.call('/publish', [1])
      await context.call('/to-others', [2])
      await context.call('/publish', [3])
      await untilAll(streams, 'data: [3]')
      const texts = new Set(streams.map(({ body }) => JSON.stringify(linesOf(body))))
      return { texts: [...texts].map((text) => JSON.parse(text) as unknown) }
    },
  },
  {
    name: 'progressive results end with a failure when the router is killed',
    on: ['embedded', 'nexus'],
    same: {
      isWhole: true,
      names: ['event: progress', 'event: progress', 'event: failure'],
      data: ['[1]', '[2]', 'wamp.error.net_failure'],
    },
    run: async (context) => {
      const { router, uri } = context
      await register(await context.open(), `${uri}.progress`, ({ progress }) => {
        for (const n of [1, 2]) progress([n])
        return undefined
      })
      await context.realm({ url: router.ws })
      await context.serve({
        '/progress': { get: calls(`${uri}.progress`, { args: [] }) },
      })
      await context.become('open')
      const stream = await context.listen('/progress')
      await untilAll([stream], 'data: [2]')
      await router.stop({ kill: true })
      await eventually(() => {
        if (stream.received?.isWhole !== true) throw new Error('the stream has not ended')
      })
      await router.restart()
      const lines = stream.body.split('\n')
      const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6))
      return {
        isWhole: stream.received?.isWhole,
        names: lines.filter((line) => line.startsWith('event: ')),
        data: data.map((text) => /wamp\.error\.\w+/.exec(text)?.[0] ?? text),
      }
    },
  },
  {
    name: 'they share one subscription, which goes with the last of them',
    each: {
      // It has no meta procedures of subscriptions.
      embedded: { during: 'wamp.error.no_such_procedure', after: 'wamp.error.no_such_procedure' },
      nexus: { during: 1, after: 0 },
      crossbar: { during: 1, after: 0 },
    },
    run: async (context) => {
      const streams = await openStreams(context)
      const peer = await context.open()
      const topic = `${context.uri}.topic`
      const subscribers = async (): Promise<unknown> => {
        const found = await call(peer, 'wamp.subscription.lookup', { args: [topic] })
        if ('error' in found) return found.error
        const id = isList(found.args) ? Number(found.args[0]) : 0
        if (id === 0) return 0
        const listed = await call(peer, 'wamp.subscription.list_subscribers', { args: [id] })
        const sessions = isList(listed.args) ? listed.args[0] : undefined
        return isList(sessions) ? sessions.length : 0
      }
      const during = await subscribers()
      for (const { socket } of streams) socket.destroy()
      const after = await eventually(async () => {
        const now = await subscribers()
        if (now === during && typeof now === 'number') throw new Error('it is still there')
        return now
      })
      return { during, after }
    },
  },
  {
    name: 'a gateway that stops ends them in order, and lets calls in flight end',
    same: {
      streams: [{ isWhole: true, last: ': the gateway is shutting down' }],
      inFlight: { status: 200, body: ['held'] },
      exit: 0,
      isInTime: true,
      sessions: 0,
    },
    run: async (context) => {
      const { uri, router } = context
      await using own = await startOwn(context, router.rawsocket)
      const released = Promise.withResolvers<undefined>()
      const asked = Promise.withResolvers<undefined>()
      await register(await context.open(), `${uri}.held`, async () => {
        asked.resolve(undefined)
        await released.promise
        return { args: ['held'] }
      })
      const streams = await own.streams()
      const inFlight = request(`${own.gateway.public}/own/held`, {
        method: 'POST',
        json: { args: [] },
      })
      await asked.promise
      const sinceMs = performance.now()
      own.gateway.signal('SIGTERM')
      await eventually(() => {
        if (streams.some(({ received }) => received?.isWhole !== true))
          throw new Error('a stream has not ended')
      })
      released.resolve(undefined)
      const response = await inFlight
      const { code } = await own.gateway.exited
      const tookMs = performance.now() - sinceMs
      measured(router.name, `a gateway with ${streams.length} streams stopped`, tookMs)
      const ends = new Set(
        streams.map(({ body, received }) =>
          JSON.stringify({ isWhole: received?.isWhole, last: linesOf(body).at(-1) }),
        ),
      )
      return {
        streams: [...ends].map((text) => JSON.parse(text) as unknown),
        inFlight: { status: response.status, body: response.json() },
        exit: code,
        isInTime: tookMs < DRAIN_MS,
        sessions: await context.untilSessions(0),
      }
    },
  },
  {
    name: 'a gateway stops in time while its router is frozen, with calls and streams on it',
    // It is the relay that is frozen: which router says nothing is all the same.
    on: ['embedded'],
    same: { exit: 0, isInTime: true, streams: [true], inFlight: 502 },
    run: async (context) => {
      const { uri, router } = context
      const { relay, url } = await context.relayTo('ws')
      await using own = await startOwn(context, url)
      const asked = Promise.withResolvers<undefined>()
      await register(await context.open(), `${uri}.held`, () => {
        asked.resolve(undefined)
        return undefined
      })
      const streams = await own.streams()
      const inFlight = request(`${own.gateway.public}/own/held`, {
        method: 'POST',
        json: { args: [] },
      })
      await asked.promise
      relay.freeze()
      const sinceMs = performance.now()
      own.gateway.signal('SIGTERM')
      const { status } = await inFlight
      const { code } = await own.gateway.exited
      const tookMs = performance.now() - sinceMs
      measured(router.name, 'a gateway with a frozen router stopped', tookMs)
      // What it sent last may be read after its end is known.
      await eventually(() => {
        if (streams.some(({ isClosed }) => !isClosed)) throw new Error('a stream has not ended')
      })
      return {
        exit: code,
        isInTime: tookMs < DRAIN_MS,
        streams: [...new Set(streams.map(({ received }) => received?.isWhole))],
        inFlight: status,
      }
    },
  },
]

const DRAIN_MS = 20_000

const openStreams = async (
  context: FaultContext,
  more: Parameters<FaultContext['serve']>[0] = {},
): Promise<readonly EventClient[]> => {
  await context.realm({ url: context.router.ws })
  await context.serve({ '/topic': { get: follows(`${context.uri}.topic`) }, ...more })
  await context.become('open')
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => context.listen('/topic')))
  await untilFollowing(streams)
  return streams
}

const untilFollowing = (streams: readonly EventClient[]): Promise<void> =>
  eventually(() => {
    const waiting = streams.filter(({ received }) => received?.status !== 200)
    if (waiting.length > 0) throw new Error(`${waiting.length} streams have not begun`)
  })

const untilAll = (streams: readonly EventClient[], text: string): Promise<void> =>
  eventually(
    () => {
      const lacking = streams.filter(({ body }) => !body.includes(`${text}\n`))
      if (lacking.length > 0) throw new Error(`${lacking.length} streams lack ${text}`)
    },
    { withinMs: 15_000 },
  )

/** Data and comments, but for heartbeats. */
const linesOf = (body: string): readonly string[] =>
  body.split('\n').filter((line) => line.startsWith('data: ') || line.startsWith(': '))

interface OwnGateway extends AsyncDisposable {
  readonly gateway: Awaited<ReturnType<typeof startGateway>>
  readonly streams: () => Promise<readonly EventClient[]>
}

/** A gateway of the case's own, for those that end it: `/own/held` and `/own/topic`. */
const startOwn = async ({ uri }: FaultContext, url: string): Promise<OwnGateway> => {
  const gateway = await startGateway()
  const realm = 'com.example.realm'
  await post(gateway, '/realms', { uri: realm, router: { url, keepalive: 2000 } })
  await post(gateway, '/api_specs', {
    id: 'own',
    host: '_',
    realm_uri: realm,
    versions: {
      v1: {
        base_path: '/own',
        paths: {
          '/held': { post: calls(`${uri}.held`) },
          '/topic': { get: follows(`${uri}.topic`) },
        },
      },
    },
  })
  await eventually(async () => {
    const { text } = await request(`${gateway.management}/realms/${realm}`)
    if (!text.includes('"open"')) throw new Error(`not open: ${text}`)
  })
  const streams: EventClient[] = []
  return {
    gateway,
    streams: async () => {
      for (let n = 0; n < 5; n += 1)
        streams.push(
          await openEventClient(addressOf(gateway.public), {
            path: '/own/topic',
            headers: { accept: 'text/event-stream' },
          }),
        )
      await untilFollowing(streams)
      return streams
    },
    [Symbol.asyncDispose]: async () => {
      for (const { socket, isClosed } of streams) {
        socket.destroy()
        if (!isClosed) await once(socket, 'close')
      }
      await gateway[Symbol.asyncDispose]()
    },
  }
}
