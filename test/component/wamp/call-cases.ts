// A callee, a client or a request that misbehaves: one call fails, as the document or §7.3 has it, and the session
// that all calls share stays.

import { connect } from 'node:net'
import { MESSAGE } from '../../../dataplane/wamp/protocol/messages.ts'
import { eventually } from '../../support/eventually.ts'
import { addressOf } from '../../support/raw-client.ts'
import { register, type PeerInvocation } from '../../support/wamp-peer.ts'
import type { ReceivedResponse, FaultCase, FaultContext } from './fault-case.ts'
import { distinct } from './router-cases.ts'
import { calls } from './wamp-operations.ts'

const INVALID = { status: 400, body: 'wamp.error.invalid_argument' }
const BAD_URI = { status: 400, body: 'wamp.error.invalid_uri' }

/** Bodies as they stand on the wire: what no JSON writer would make of a value. */
const UNFIT: Readonly<Record<string, ReceivedResponse>> = {
  '{"args":["\\u0000x"]}': INVALID,
  '{"args":["\\u0000"]}': INVALID,
  '{"args":["\\ud800"]}': INVALID,
  '{"args":[["\\udc00x"]]}': INVALID,
  '{"args":[{"\\u0000k":1}]}': INVALID,
  '{"args":[{"a\\ud83d":1}]}': INVALID,
  '{"kwargs":{"a":"\\u0000AAAA"}}': INVALID,
  '{"kwargs":{"\\ud800":1}}': INVALID,
  '{"kwargs":{"_caller":{"authid":"root"}}}': INVALID,
  '{"kwargs":[]}': INVALID,
  '{"kwargs":null}': INVALID,
  '{"args":{}}': INVALID,
  '{"args":"x"}': INVALID,
  [`{"args":[${'['.repeat(70)}${']'.repeat(70)}]}`]: INVALID,
  '{"options":{"timeout":-1}}': INVALID,
  '{"options":{"timeout":"1"}}': INVALID,
  '{"options":{"disclose_me":"yes"}}': INVALID,
  '{"options":{"receive_progress":1}}': INVALID,
  '{"options":[]}': INVALID,
  '{"options":{"x":"\\u0000y"}}': INVALID,
  '{"uri":""}': BAD_URI,
  '{"uri":"a..b"}': BAD_URI,
  '{"uri":"a b"}': BAD_URI,
  '{"uri":"a#b"}': BAD_URI,
  '{"uri":"\\u0000a"}': BAD_URI,
  '{"uri":"a\\ud800"}': BAD_URI,
  '{"uri":7}': BAD_URI,
  '{"uri":"__proto__"}': { status: 501, body: 'wamp.error.no_such_procedure' },
  '{"args":["a\\u0000b","\\ud83d\\ude00"]}': { status: 200, body: ['a\u0000b', '😀'] },
  '{"kwargs":{"constructor":1,"":2}}': { status: 200, body: [] },
}

const ANONYMOUS = {
  authid: null,
  authrole: 'anonymous',
  authmethod: 'anonymous',
  realm: 'com.example.realm',
}

export const CALL_CASES: readonly FaultCase[] = [
  {
    name: 'the callee dies during calls',
    same: {
      inFlight: [{ status: 400, body: 'wamp.error.canceled' }],
      next: { status: 501, body: 'wamp.error.no_such_procedure' },
      isSame: true,
    },
    run: async (context) => {
      const silent = await open(context, {})
      const asked: PeerInvocation[] = []
      await register(silent, `${context.uri}.x`, (invocation) => {
        asked.push(invocation)
        return undefined
      })
      const started = Array.from({ length: 20 }, () => context.call('/x'))
      await eventually(() => {
        if (asked.length < 20) throw new Error(`${asked.length} calls have arrived`)
      })
      const isSame = await keepsSession(context)
      silent.close()
      const inFlight = distinct(await Promise.all(started))
      return { inFlight, next: await context.call('/x'), isSame: await isSame() }
    },
  },
  ...[true, false].map((isAware): FaultCase => ({
    name: `a callee ${isAware ? 'with' : 'without'} call_canceling is late`,
    same: {
      late: [{ status: 504, body: 'svc.error.timeout' }],
      next: [{ status: 200, body: ['next'] }],
      isSame: true,
    },
    run: async (context) => {
      const callee = await open(context, isAware ? {} : { roles: { callee: {} } })
      const timeUp = Promise.withResolvers<undefined>()
      let answered = 0
      await register(callee, `${context.uri}.x`, async ({ args }) => {
        if (args[0] === 'next') return { args }
        await timeUp.promise
        answered += 1
        return { args: ['late'] }
      })
      const isSame = await keepsSession(context)
      const started = Array.from({ length: 10 }, () => context.call('/late', ['slow']))
      const late = distinct(await Promise.all(started))
      timeUp.resolve(undefined)
      await eventually(() => {
        if (answered < 10) throw new Error(`${answered} late responses`)
      })
      const further = Array.from({ length: 50 }, () => context.call('/x', ['next']))
      const next = distinct(await Promise.all(further))
      return { late, next, isSame: await isSame() }
    },
  })),
  {
    name: 'a client leaves, with requests behind its call or not: the callee is interrupted, the session stays',
    same: { interrupts: 5, next: { status: 200, body: ['next'] }, isSame: true },
    run: async (context) => {
      const callee = await open(context, {})
      const asked: number[] = []
      await register(callee, `${context.uri}.x`, ({ args, requestId }) => {
        if (args[0] === 'next') return { args }
        asked.push(requestId)
        return undefined
      })
      const isSame = await keepsSession(context)
      for (let n = 0; n < 5; n += 1) await leave(context, asked, n % 2 === 0 ? 1 : 3)
      const interrupted = new Set<unknown>()
      for (let n = 0; n < 5; n += 1)
        interrupted.add((await callee.next(([type]) => type === MESSAGE.interrupt))[1])
      const interrupts = asked.filter((id) => interrupted.has(id)).length
      const next = await context.call('/x', ['next'])
      return { interrupts, next, isSame: await isSame() }
    },
  },
  {
    name: 'what routers do not carry is refused, and the session stays',
    same: { responses: UNFIT, isSame: true },
    run: async (context) => {
      const callee = await open(context, {})
      await register(callee, `${context.uri}.x`, ({ args }) => ({ args }))
      const isSame = await keepsSession(context)
      const responses: Record<string, ReceivedResponse> = {}
      for (const body of Object.keys(UNFIT)) {
        const headers = { 'content-type': 'application/json' }
        responses[body] = await context.ask('/any', { method: 'POST', headers, body })
      }
      return { responses, isSame: await isSame() }
    },
  },
  {
    name: 'a message that no router takes is not sent, and the session stays',
    same: { response: INVALID, isSame: true },
    run: async (context) => {
      const callee = await open(context, {})
      await register(callee, `${context.uri}.x`, () => ({}))
      const isSame = await keepsSession(context)
      const response = await context.call('/x', ['x'.repeat(2 ** 24)])
      return { response, isSame: await isSame() }
    },
  },
  {
    name: "the caller's identity: the session with disclose_me, the client with forward_identity",
    each: {
      embedded: identity(false),
      nexus: identity(false),
      // Its roles disclose callers whatever they say.
      crossbar: identity(true),
    },
    run: async (context) => {
      const callee = await open(context, {})
      const seen: PeerInvocation[] = []
      await register(callee, `${context.uri}.x`, (invocation) => {
        seen.push(invocation)
        return {}
      })
      const forged = { method: 'POST', json: { kwargs: { a: 1, _caller: { authid: 'root' } } } }
      const responses = [
        await context.ask('/plain', { method: 'POST' }),
        await context.ask('/disclosed', { method: 'POST' }),
        await context.ask('/forwarded', forged),
        await context.ask('/forged', forged),
      ]
      return {
        responses: responses.map(({ status }) => status),
        discloses: seen.map(({ details }) => typeof details['caller'] === 'number'),
        kwargs: seen.map(({ kwargs }) => kwargs),
      }
    },
  },
]

function identity(always: boolean): unknown {
  return {
    responses: [200, 200, 200, 400],
    discloses: [always, true, always],
    kwargs: [{}, {}, { a: 1, _caller: ANONYMOUS }],
  }
}

/** The document of all cases; a callee of the case's own. */
const open = async (
  context: FaultContext,
  peer: Parameters<FaultContext['open']>[0],
): ReturnType<FaultContext['open']> => {
  const { router, uri } = context
  const body = (name: string, otherwise: string): string =>
    `{{request.body |> get(${name}, ${otherwise})}}`
  const options = { disclose_me: true }
  await context.realm({ url: router.ws })
  await context.serve({
    '/x': { post: calls(`${uri}.x`) },
    // For calls that are to be late: to any other the machine may give what time it likes.
    '/late': { post: calls(`${uri}.x`, { timeout: 500 }) },
    '/who': { post: calls(`${uri}.who`, { args: [], options }) },
    '/plain': { post: calls(`${uri}.x`, { args: [] }) },
    '/disclosed': { post: calls(`${uri}.x`, { args: [], options }) },
    '/forwarded': {
      post: calls(`${uri}.x`, {
        args: [],
        kwargs: '{{request.body.kwargs}}',
        options: { forward_identity: true },
      }),
    },
    '/forged': { post: calls(`${uri}.x`, { args: [], kwargs: '{{request.body.kwargs}}' }) },
    '/any': {
      variables: { none: [] },
      post: calls(body('uri', `${uri}.x`), {
        args: body('args', '{{variables.none}}'),
        kwargs: body('kwargs', '$map'),
        options: body('options', '$map'),
      }),
    },
  })
  const watch = await context.open()
  await register(watch, `${uri}.who`, ({ details }) => ({ args: [details['caller'] ?? null] }))
  await eventually(async () => {
    const { status } = await context.call('/who')
    if (status !== 200) throw new Error(`the session is not open: ${status}`)
  })
  return context.open(peer)
}

/** The id of the session that calls, asked before and after. */
const keepsSession = async (context: FaultContext): Promise<() => Promise<boolean>> => {
  const before = await context.call('/who')
  return async () => JSON.stringify(await context.call('/who')) === JSON.stringify(before)
}

/** Hangs up once the call has reached its callee. */
const leave = async (
  context: FaultContext,
  asked: readonly number[],
  requests: number,
): Promise<void> => {
  const before = asked.length
  const url = context.url('/x')
  const body = '{"args":["stay"]}'
  const head = `POST ${new URL(url).pathname} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
  const socket = connect(addressOf(url)).on('error', () => undefined)
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(requests))
  await eventually(() => {
    if (asked.length === before) throw new Error('the call has not arrived')
  })
  socket.destroy()
}
