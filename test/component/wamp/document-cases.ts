// Documents and realms that change while calls and streams of theirs run: what has begun ends by the old rules, what
// begins after is served by the new ones.

import { eventually } from '../../support/eventually.ts'
import { publish, register } from '../../support/wamp-peer.ts'
import type { ReceivedResponse, FaultCase, FaultContext, Paths } from './fault-case.ts'
import { distinct } from './router-cases.ts'
import { calls, follows, publishes } from './wamp-operations.ts'

const GONE = { status: 404, body: 'svc.error.not_found' }

const LOADS = 10

export const DOCUMENT_CASES: readonly FaultCase[] = [
  {
    name: 'a request right after the load waits for the session, and gets its response',
    same: { responses: Array.from({ length: LOADS }, () => [200, 200, 200]), sessions: 0 },
    run: async (context) => {
      await context.realm({ url: context.router.ws })
      const responses: (readonly number[])[] = []
      for (let load = 0; load < LOADS; load++) {
        await context.serve({
          '/count': { post: calls('wamp.session.count', { args: [] }) },
          '/publish': { post: publishes(`${context.uri}.topic`) },
        })
        const three = ['/count', '/publish', '/count'].map((path) => context.call(path))
        responses.push((await Promise.all(three)).map(({ status }) => status))
        await context.manage('DELETE', `/api_specs/${context.id}`)
      }
      return { responses, sessions: await context.untilSessions(0) }
    },
  },
  {
    name: 'replaced: a call in flight ends by the old document, the next one by the new',
    same: {
      inFlight: { status: 200, body: { old: ['first'] } },
      next: { status: 200, body: { new: ['second'] } },
      failed: { status: 418, body: 'old' },
    },
    run: async (context) => {
      const { held, release } = await serveHeld(context, 'old')
      const inFlight = context.call('/held', ['first'])
      const failing = context.call('/failing', [])
      await held(2)
      await context.serve(paths(context, 'new'))
      release()
      const next = await context.call('/held', ['second'])
      return { inFlight: await inFlight, next, failed: await failing }
    },
  },
  {
    name: 'replaced: a stream goes on by the old document, the next one by the new',
    same: { old: ['old:[1]', 'old:[2]'], new: ['new:[2]'], isWhole: false },
    run: async (context) => {
      await serveHeld(context, 'old')
      const publisher = await context.open()
      const tell = (n: number) => publish(publisher, `${context.uri}.topic`, { args: [n] })
      const old = await followed(context)
      await tell(1)
      await eventually(() => {
        if (!old.body.includes('[1]')) throw new Error(`no event: ${old.body}`)
      })
      await context.serve(paths(context, 'new'))
      const young = await followed(context)
      await tell(2)
      await eventually(() => {
        if (!old.body.includes('[2]') || !young.body.includes('[2]')) throw new Error('no event')
      })
      const isWhole = old.received?.isWhole
      return { old: dataOf(old.body), new: dataOf(young.body), isWhole }
    },
  },
  {
    name: 'deleted, the last of its realm: streams end, calls in flight do so in time, the session closes',
    same: {
      stream: { isWhole: true, data: ['old:[1]'], hasFailure: true },
      call: { status: 200, body: { old: ['first'] } },
      state: [],
      metric: [],
      next: GONE,
      sessions: 0,
    },
    run: async (context) => {
      const { held, release } = await serveHeld(context, 'old')
      const publisher = await context.open()
      const stream = await followed(context)
      const inFlight = context.call('/held', ['first'])
      await held(1)
      await publish(publisher, `${context.uri}.topic`, { args: [1] })
      await eventually(() => {
        if (!stream.body.includes('[1]')) throw new Error('no event')
      })
      await context.manage('DELETE', `/api_specs/${context.id}`)
      await eventually(() => {
        if (stream.received?.isWhole !== true) throw new Error('the stream has not ended')
      })
      const state = await context.sessions()
      const metric = await context.metric('svc_gateway_wamp_sessions{realm="com.example.realm"')
      const next = await context.call('/held', ['second'])
      release()
      const [data] = dataOf(stream.body)
      return {
        stream: {
          isWhole: stream.received?.isWhole,
          data: [data],
          hasFailure: stream.body.includes('event: failure\n'),
        },
        call: await inFlight,
        state,
        metric: metric.filter((line) => !line.endsWith(' 0')),
        next,
        sessions: await context.untilSessions(0),
      }
    },
  },
  {
    name: 'deleted, another one of the realm stays: its streams go on',
    same: { data: ['old:[1]'], isWhole: false, sessions: 1 },
    run: async (context) => {
      await serveHeld(context, 'old')
      const other = `${context.id}-other`
      await context.manage('POST', '/api_specs', {
        id: other,
        host: '_',
        realm_uri: 'com.example.realm',
        versions: {
          v1: { base_path: `/${other}`, paths: { '/x': { post: calls(`${context.uri}.held`) } } },
        },
      })
      const stream = await followed(context)
      await context.manage('DELETE', `/api_specs/${other}`)
      await publish(await context.open(), `${context.uri}.topic`, { args: [1] })
      await eventually(() => {
        if (!stream.body.includes('[1]')) throw new Error('no event')
      })
      const sessions = await context.untilSessions(1)
      return { data: dataOf(stream.body), isWhole: stream.received?.isWhole, sessions }
    },
  },
  {
    name: 'a realm that is put again, by another transport, under load: no call fails',
    same: { responses: [200], sessions: 1, isOther: true },
    run: async (context) => {
      const { router } = context
      await serveHeld(context, 'old')
      const [before] = await context.sessions()
      const state = { isRunning: true }
      const responses: ReceivedResponse[] = []
      const lane = async (): Promise<void> => {
        while (state.isRunning) responses.push(await context.call('/echo', [1]))
      }
      const lanes = Array.from({ length: 8 }, lane)
      for (const transport of ['rawsocket', 'ws', 'rawsocket'] as const) {
        await context.realm({ url: router[transport] })
        await eventually(async () => {
          const [session] = await context.sessions()
          const isThere = session?.url.startsWith(new URL(router[transport]).protocol)
          if (isThere !== true || session?.state !== 'open') throw new Error('not there yet')
        })
      }
      state.isRunning = false
      await Promise.all(lanes)
      const [after] = await context.sessions()
      return {
        responses: distinct(responses.map(({ status }) => status)),
        sessions: await context.untilSessions(1),
        isOther: before?.url !== after?.url,
      }
    },
  },
  {
    name: 'a realm that is deleted and put again: its calls fail, then succeed',
    same: {
      gone: { status: 502, body: 'wamp.error.no_such_realm' },
      inFlight: { status: 200, body: { old: ['first'] } },
      back: 200,
      sessions: 1,
    },
    run: async (context) => {
      const { held, release } = await serveHeld(context, 'old')
      const inFlight = context.call('/held', ['first'])
      await held(1)
      await context.manage('DELETE', '/realms/com.example.realm')
      const gone = await context.call('/echo', [1])
      release()
      const ended = await inFlight
      await context.realm({ url: context.router.ws })
      const { status } = await eventually(async () => {
        const response = await context.call('/echo', [1])
        if (response.status !== 200) throw new Error(JSON.stringify(response))
        return response
      })
      return { gone, inFlight: ended, back: status, sessions: await context.untilSessions(1) }
    },
  },
]

/** One document in two editions, told apart by a mark. */
const paths = ({ uri }: FaultContext, mark: string): Paths => ({
  '/held': { post: calls(`${uri}.held`, {}, { body: { [mark]: '{{action.result.args}}' } }) },
  '/echo': { post: calls(`${uri}.echo`) },
  '/failing': {
    post: {
      action: { type: 'wamp_call', procedure: `${uri}.failing` },
      response: {
        on_result: {},
        on_error: { status_code: mark === 'old' ? 418 : 500, body: { code: mark } },
      },
    },
  },
  '/topic': { get: follows(`${uri}.topic`, `${mark}:`) },
})

interface Held {
  /** Resolves when so many calls wait. */
  readonly held: (count: number) => Promise<void>
  /** They and all that follow are answered. */
  readonly release: () => void
}

const serveHeld = async (context: FaultContext, mark: string): Promise<Held> => {
  const { router, uri } = context
  const callee = await context.open()
  const released = Promise.withResolvers<undefined>()
  let waiting = 0
  await register(callee, `${uri}.echo`, ({ args }) => ({ args }))
  await register(callee, `${uri}.held`, async ({ args }) => {
    waiting += 1
    await released.promise
    return { args }
  })
  await register(callee, `${uri}.failing`, async () => {
    waiting += 1
    await released.promise
    return { error: 'com.example.error.failing' }
  })
  await context.realm({ url: router.ws })
  await context.serve(paths(context, mark))
  await context.become('open')
  return {
    held: (count) =>
      eventually(() => {
        if (waiting < count) throw new Error(`${waiting} calls wait`)
      }),
    release: () => {
      released.resolve(undefined)
    },
  }
}

/** A stream whose head has come: the router has acknowledged. */
const followed = async (context: FaultContext): ReturnType<FaultContext['listen']> => {
  const stream = await context.listen('/topic')
  await eventually(() => {
    if (stream.received?.status !== 200) throw new Error('no stream')
  })
  return stream
}

const dataOf = (body: string): readonly string[] =>
  body.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
