// The router goes, is told to go, ends the session, is cut off or freezes: calls in flight are answered at once,
// everything else goes on, and calls succeed again when it is back.

import { eventually } from '../../support/eventually.ts'
import { call, idOf, register } from '../../support/wamp-peer.ts'
import { request } from '../../support/http-request.ts'
import type { ReceivedResponse, FaultCase, FaultContext, Transport } from './fault-case.ts'
import { measured } from './measured.ts'
import { calls, follows, publishes, registers } from './wamp-operations.ts'

const TRANSPORTS: readonly Transport[] = ['ws', 'rawsocket']
const IN_FLIGHT = 50
/** Far below the time-out of the calls, 60 s. */
const AT_ONCE_MS = 20_000
const NET_FAILURE: ReceivedResponse = { status: 502, body: 'wamp.error.net_failure' }

/** What is seen around a router that goes and comes back. */
const INTERRUPTED = {
  inFlight: [NET_FAILURE],
  isAtOnce: true,
  meanwhile: {
    call: NET_FAILURE,
    state: 'waiting',
    hasReason: true,
    metric: ['waiting'],
    ready: 204,
    loaded: 204,
    neighbour: { status: 200, body: ['hello'] },
  },
  back: { status: 200, body: ['back'] },
  metric: ['open'],
}

export const ROUTER_CASES: readonly FaultCase[] = [
  ...TRANSPORTS.flatMap((transport) =>
    [true, false].map((kill): FaultCase => ({
      name: `${kill ? 'killed' : 'stopped'} and back, by ${transport}`,
      // Crossbar needs seconds to start.
      on: kill === (transport === 'ws') ? ['embedded', 'nexus', 'crossbar'] : ['embedded', 'nexus'],
      same: INTERRUPTED,
      run: async (context) => {
        const { router } = context
        await serveCalls(context, router[transport])
        const inFlight = await startCalls(context)
        const what = `after the router was ${kill ? 'killed' : 'stopped'} (${transport})`
        const sinceMs = performance.now()
        const stopped = router.stop({ kill })
        const settled = await settle(context, inFlight, sinceMs, what)
        await stopped
        const meanwhile = await lookAround(context)
        await router.restart()
        return { ...settled, meanwhile, ...(await succeedAgain(context, what)) }
      },
    })),
  ),
  ...TRANSPORTS.map((transport): FaultCase => ({
    name: `frozen behind a relay is noticed within the keep-alive, by ${transport}`,
    // While it is frozen no router is like another; each has to let go of the old session.
    on: transport === 'ws' ? ['embedded', 'crossbar'] : ['embedded', 'nexus'],
    same: { ...INTERRUPTED, ready: 204, sessions: 1 },
    run: async (context) => {
      const { relay, url } = await context.relayTo(transport)
      await serveCalls(context, url, 2000)
      const inFlight = await startCalls(context)
      const what = `after the router froze (${transport}, keepalive 2000)`
      const sinceMs = performance.now()
      relay.freeze()
      const settled = await settle(context, inFlight, sinceMs, what)
      const meanwhile = await lookAround(context)
      relay.thaw()
      const again = await succeedAgain(context, what)
      return {
        ...settled,
        meanwhile,
        ...again,
        ready: await readiness(context),
        sessions: await context.untilSessions(1),
      }
    },
  })),
  {
    name: 'a call that may be tried again waits for the router; publications and streams do not',
    on: ['embedded', 'nexus'],
    same: { patient: 200, publish: NET_FAILURE, follow: NET_FAILURE, register: NET_FAILURE },
    run: async (context) => {
      const { router, uri } = context
      await context.realm({ url: router.ws }, { callback_origins: ['http://127.0.0.1:9'] })
      await context.serve(
        {
          // There from the router's first moment.
          '/patient': {
            post: calls('wamp.session.count', { args: [], retries: 100, retry_timeout: 20_000 }),
          },
          '/publish': { post: publishes(`${uri}.topic`) },
          '/follow': { get: follows(`${uri}.topic`) },
          '/register': { post: registers(`${uri}.x`) },
        },
        { version: { defaults: { connect_timeout: 100 } } },
      )
      await context.become('open')
      await router.stop({ kill: true })
      await context.become('waiting')
      const patient = context.call('/patient')
      const publish = await context.call('/publish')
      const follow = await context.ask('/follow', { headers: { accept: 'text/event-stream' } })
      const register = await context.ask('/register', {
        method: 'POST',
        json: { callback: 'http://127.0.0.1:9/x' },
      })
      await router.restart()
      return { patient: (await patient).status, publish, follow, register }
    },
  },
  {
    name: 'restarted at 50 requests a second: what comes before back-off, and after it, is answered',
    on: ['embedded', 'nexus'],
    same: { failed: [NET_FAILURE], again: [200], leftOver: 200, sessions: 1 },
    run: async (context) => {
      await context.realm({ url: context.router.ws })
      await context.serve({ '/count': { post: calls('wamp.session.count', { args: [] }) } })
      const asked: Promise<ReceivedResponse>[] = []
      const timer = setInterval(() => asked.push(context.call('/count')), 20)
      const stop = (): Promise<void> => {
        clearInterval(timer)
        return Promise.resolve()
      }
      context.use({ [Symbol.asyncDispose]: stop })
      await eventually(() => succeed(context, '/count', []))
      await context.router.stop({ kill: true })
      // Back-off begins within milliseconds of the first failure: the call that sees it may be the only one that fails.
      await eventually(async () => {
        const response = context.call('/count')
        asked.push(response)
        if ((await response).status === 200) throw new Error('it is still there')
      })
      await context.router.restart()
      await context.become('open')
      const before = asked.length
      await eventually(() => {
        if (asked.length < before + 25) throw new Error('more are to come')
      })
      await stop()
      const responses = await Promise.all(asked)
      const again = distinct(responses.slice(before).map(({ status }) => status))
      const failed = distinct(responses.filter(({ status }) => status !== 200))
      const leftOver = (await succeed(context, '/count', [])).status
      return { failed, again, leftOver, sessions: await context.untilSessions(1) }
    },
  },
  {
    name: 'wamp.session.kill: calls in flight fail, and it joins again',
    same: { killed: true, inFlight: [NET_FAILURE], isAtOnce: true, isOther: true, sessions: 1 },
    run: async (context) => {
      await serveCalls(context, context.router.rawsocket)
      const inFlight = await startCalls(context)
      const peer = await context.open()
      const first = await callerOf(context)
      const sinceMs = performance.now()
      const killed = await call(peer, 'wamp.session.kill', { args: [first] })
      const settled = await settle(context, inFlight, sinceMs, 'after wamp.session.kill')
      const second = await eventually(() => callerOf(context))
      const sessions = await context.untilSessions(1)
      return { killed: !('error' in killed), ...settled, isOther: second !== first, sessions }
    },
  },
  {
    name: 'the realm is closed by the router, and opened again',
    on: ['nexus'],
    same: {
      inFlight: [NET_FAILURE],
      isAtOnce: true,
      state: 'refused',
      reason: 'wamp.error.no_such_realm',
      call: { status: 502, body: 'wamp.error.no_such_realm' },
      ready: 204,
      neighbour: { status: 200, body: ['hello'] },
      back: { status: 200, body: ['back'] },
      metric: ['open'],
      sessions: 1,
    },
    run: async (context) => {
      const { openRealm } = context.router
      await serveCalls(context, context.router.ws)
      const inFlight = await startCalls(context)
      const what = 'after their realm was closed'
      const sinceMs = performance.now()
      openRealm?.close()
      const settled = await settle(context, inFlight, sinceMs, what)
      const { state, reason } = await context.become('refused')
      const call = await context.call('/echo', ['away'])
      const ready = await readiness(context)
      const neighbour = await context.neighbour()
      await loadAnother(context)
      openRealm?.reopen()
      const again = await succeedAgain(context, what)
      const sessions = await context.untilSessions(1)
      return { ...settled, state, reason, call, ready, neighbour, ...again, sessions }
    },
  },
  {
    name: 'cut off three times: no session is left behind',
    same: { responses: [200], sessions: 1 },
    run: async (context) => {
      const peer = await context.open()
      await register(peer, `${context.uri}.echo`, ({ args }) => ({ args }))
      const { relay, url } = await context.relayTo('rawsocket')
      await context.realm({ url })
      await context.serve({ '/echo': { post: calls(`${context.uri}.echo`) } })
      const responses = new Set<number>()
      for (let round = 0; round <= 3; round += 1) {
        const response = await eventually(() => succeed(context, '/echo', [round]))
        responses.add(response.status)
        if (round < 3) relay.cut()
      }
      return { responses: [...responses], sessions: await context.untilSessions(1) }
    },
  },
  {
    name: 'loaded and unloaded ten times: a session each, none is left behind',
    same: { responses: [200], sessions: 0 },
    run: async (context) => {
      const peer = await context.open()
      await register(peer, `${context.uri}.echo`, ({ args }) => ({ args }))
      await context.realm({ url: context.router.ws, pool: 3 })
      const responses = new Set<number>()
      for (let round = 0; round < 10; round += 1) {
        await context.serve({ '/echo': { post: calls(`${context.uri}.echo`) } })
        responses.add((await eventually(() => succeed(context, '/echo', [round]))).status)
        await context.manage('DELETE', `/api_specs/${context.id}`)
      }
      return { responses: [...responses], sessions: await context.untilSessions(0) }
    },
  },
]

/** `/silent` is never answered, `/echo` is, `/who` tells the session that calls. */
const serveCalls = async (
  context: FaultContext,
  url: string,
  keepalive = 10_000,
): Promise<void> => {
  const { uri } = context
  await registerEcho(context)
  await context.realm({ url, keepalive })
  await context.serve({
    // Who comes just after the end of a session waits for the next one.
    '/echo': { post: calls(`${uri}.echo`, { connect_timeout: 200 }) },
    '/silent': { post: calls(`${uri}.silent`, { timeout: 60_000 }) },
    '/who': { post: calls(`${uri}.who`, { options: { disclose_me: true } }) },
  })
  await context.become('open')
}

const registerEcho = async (context: FaultContext): Promise<void> => {
  const callee = await context.open()
  await register(callee, `${context.uri}.echo`, ({ args }) => ({ args }))
  await register(callee, `${context.uri}.who`, ({ details }) => ({
    args: [details['caller'] ?? null],
  }))
}

/** Resolves when all have reached their callee. */
const startCalls = async (context: FaultContext): Promise<readonly Promise<ReceivedResponse>[]> => {
  const callee = await context.open()
  let count = 0
  const silent = (): undefined => {
    count += 1
  }
  idOf(await register(callee, `${context.uri}.silent`, silent))
  const started = Array.from({ length: IN_FLIGHT }, () => context.call('/silent'))
  await eventually(() => {
    if (count !== IN_FLIGHT) throw new Error(`${count} calls have arrived`)
  })
  return started
}

const settle = async (
  { router }: FaultContext,
  inFlight: readonly Promise<ReceivedResponse>[],
  sinceMs: number,
  what: string,
): Promise<{ inFlight: readonly unknown[]; isAtOnce: boolean }> => {
  const responses = await Promise.all(inFlight)
  const tookMs = performance.now() - sinceMs
  measured(router.name, `${IN_FLIGHT} calls in flight were settled ${what}`, tookMs)
  return { inFlight: distinct(responses), isAtOnce: tookMs < AT_ONCE_MS }
}

/** While the router is away. */
const lookAround = async (context: FaultContext): Promise<unknown> => {
  const { state, reason = '' } = await context.become('waiting')
  return {
    call: await context.call('/echo', ['away']),
    state,
    hasReason: reason !== '',
    metric: await statesInMetric(context),
    ready: await readiness(context),
    loaded: await loadAnother(context),
    neighbour: await context.neighbour(),
  }
}

/** The procedures have to be there again first, on a session that is not ours. */
const succeedAgain = async (
  context: FaultContext,
  what: string,
): Promise<{ back: ReceivedResponse; metric: readonly string[] }> => {
  const sinceMs = performance.now()
  // Its realm may be later than the router.
  const callee = await eventually(() => context.open())
  await register(callee, `${context.uri}.back`, ({ args }) => ({ args }))
  const back = await eventually(() => succeed(context, '/back', ['back']), {
    everyMs: 5,
    withinMs: 15_000,
  })
  measured(
    context.router.name,
    `calls succeed again ${what} and returned`,
    performance.now() - sinceMs,
  )
  await context.become('open')
  return { back, metric: await statesInMetric(context) }
}

const succeed = async (
  context: FaultContext,
  path: string,
  args: readonly unknown[],
): Promise<ReceivedResponse> => {
  const response = await context.call(path, args)
  if (response.status !== 200) throw new Error(JSON.stringify(response))
  return response
}

const callerOf = async (context: FaultContext): Promise<number> => {
  const { body } = await succeed(context, '/who', [])
  return Number(Array.isArray(body) ? body[0] : NaN)
}

/** States that the metric counts sessions in. */
const statesInMetric = async (context: FaultContext): Promise<readonly string[]> => {
  const lines = await context.metric('svc_gateway_wamp_sessions{realm="com.example.realm"')
  return lines
    .filter((line) => !line.endsWith(' 0'))
    .map((line) => /state="(\w+)"/.exec(line)?.[1] ?? line)
}

const readiness = async ({ gateway }: FaultContext): Promise<number> =>
  (await request(`${gateway.management}/ready`)).status

/** A document of the realm whose router is away; it serves the path of after. */
const loadAnother = async (context: FaultContext): Promise<number> => {
  const { gateway, id, uri } = context
  const document = {
    id: `${id}-other`,
    host: '_',
    realm_uri: 'com.example.realm',
    versions: {
      v1: { base_path: `/${id}`, paths: { '/back': { post: calls(`${uri}.back`) } } },
    },
  }
  const response = await request(`${gateway.management}/api_specs`, {
    method: 'POST',
    json: document,
  })
  context.use({
    [Symbol.asyncDispose]: () => context.manage('DELETE', `/api_specs/${id}-other`),
  })
  return response.status
}

export const distinct = (values: readonly unknown[]): readonly unknown[] =>
  [...new Set(values.map((value) => JSON.stringify(value)))].map(
    (text) => JSON.parse(text) as unknown,
  )
