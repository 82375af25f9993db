// Procedures and topics that HTTP callbacks stand behind: callbacks that are down, slow, refuse, redirect or say too
// much fail one call or lose one event, and reach nothing that they may not.

import { webcrypto } from 'node:crypto'
import { freePort } from '../../support/free-port.ts'
import { eventually } from '../../support/eventually.ts'
import { call, publish, type ReplyPlan } from '../../support/wamp-peer.ts'
import {
  answersJson,
  type Behaviour,
  type CallbackReceiver,
  type Delivered,
  echoes,
  startReceiver,
} from './callback-receiver.ts'
import type { ReceivedResponse, FaultCase, FaultContext } from './fault-case.ts'
import { registers, releases, subscribes } from './wamp-operations.ts'

const SECRET = 'webhook-secret-1f2e3d'
const MIB = 1 << 20
/** Of a whole delivery, however much else the machine has to do. */
const TIMEOUT_MS = 20_000
/** Of those that are to be late. */
const SHORT_MS = 1000
const LATE = 'svc.error.timeout'

/** What callers get for each behaviour of a callback. */
const BEHAVIOURS: Readonly<Record<string, readonly [Behaviour, outcome: unknown]>> = {
  '/echo': [echoes, { args: [1] }],
  '/value': [answersJson(200, 'just a text'), { args: ['just a text'] }],
  '/nothing': [(response) => response.writeHead(204).end(), {}],
  '/slow': [() => undefined, LATE],
  '/trickles': [
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 50)
      response.on('close', () => {
        clearInterval(timer)
      })
    },
    LATE,
  ],
  '/refuses': [answersJson(503, {}), 'svc.error.upstream.503'],
  '/fails': [
    answersJson(400, { error_uri: 'com.example.error.no', args: ['no'] }),
    'com.example.error.no',
  ],
  '/redirects': [answersJson(307, {}, { location: '/echo' }), 'svc.error.bad_gateway'],
  '/huge': [answersJson(200, 'x'.repeat(2 * MIB)), 'svc.error.bad_gateway'],
  '/text': [
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    'svc.error.bad_gateway',
  ],
  '/broken': [
    (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"args":'),
    'svc.error.bad_gateway',
  ],
  '/cut': [(response) => response.destroy(), 'svc.error.bad_gateway'],
  '/deep': [
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('['.repeat(500) + ']'.repeat(500))
    },
    'svc.error.bad_gateway',
  ],
  '/nul': [answersJson(200, { args: ['\u0000x'] }), 'svc.error.bad_gateway'],
}

const receiverOf = (): Promise<CallbackReceiver> =>
  startReceiver(
    Object.fromEntries(Object.entries(BEHAVIOURS).map(([path, [behaviour]]) => [path, behaviour])),
  )

export const WEBHOOK_CASES: readonly FaultCase[] = [
  {
    name: 'what callers get of a callback that fails, and no other caller is affected',
    same: {
      outcomes: Object.fromEntries(
        Object.entries(BEHAVIOURS).map(([path, [, outcome]]) => [path, outcome]),
      ),
      // None was followed or tried again.
      deliveries: Object.keys(BEHAVIOURS).length,
      held: Object.keys(BEHAVIOURS).length,
    },
    run: async (context) => {
      await using receiver = await receiverOf()
      await serveWebhooks(context, [receiver.origin], SHORT_MS)
      const paths = Object.keys(BEHAVIOURS)
      for (const path of paths) await registerAt(context, path, receiver.origin + path)
      const peer = await context.open()
      const outcomeAt = async (path: string): Promise<[string, unknown]> => {
        const outcome = await call(peer, uriOf(context, path), { args: [1] })
        return [path, 'error' in outcome ? outcome.error : outcome]
      }
      const late = paths.filter((path) => BEHAVIOURS[path]?.[1] === LATE)
      const calls = late.map(outcomeAt)
      await eventually(() => {
        if (receiver.delivered.length < late.length) throw new Error('not all have been delivered')
      })
      // A delivery keeps the time that it began with.
      await putRealm(context, [receiver.origin])
      calls.push(...paths.filter((path) => !late.includes(path)).map(outcomeAt))
      const outcomes = Object.fromEntries(await Promise.all(calls))
      const held = (await callbacks(context)).length
      return { outcomes, deliveries: receiver.delivered.length, held }
    },
  },
  {
    name: 'a callback that is down, and comes up',
    same: { down: 'svc.error.bad_gateway', up: { args: ['up'] } },
    run: async (context) => {
      const port = await freePort()
      const origin = `http://127.0.0.1:${port}`
      await serveWebhooks(context, [origin])
      await registerAt(context, '/echo', `${origin}/echo`)
      const peer = await context.open()
      const uri = uriOf(context, '/echo')
      const down = errorOf(await call(peer, uri, { args: ['down'] }))
      context.use(await startReceiver({ '/echo': echoes }, port))
      return { down, up: await call(peer, uri, { args: ['up'] }) }
    },
  },
  {
    name: 'the signature is right, the delivery has an id, the listing no query',
    same: { isRight: true, isForged: false, ids: 2, callback: '/echo', type: 'application/json' },
    run: async (context) => {
      await using receiver = await receiverOf()
      await serveWebhooks(context, [receiver.origin])
      await registerAt(context, '/echo', `${receiver.origin}/echo?token=hidden`)
      const peer = await context.open()
      for (const n of [1, 2]) await call(peer, uriOf(context, '/echo'), { args: [n, '€'] })
      const [first, second] = receiver.delivered
      if (first === undefined || second === undefined) throw new Error('it was not delivered')
      const [listed = ''] = await callbacks(context)
      return {
        isRight: (await isSigned(first)) && (await isSigned(second)),
        isForged: await isSigned({ ...first, body: Buffer.from(`${String(first.body)} `) }),
        ids: new Set([first, second].map(({ headers }) => headers['x-svc-delivery'])).size,
        callback: listed.replace(receiver.origin, ''),
        type: first.headers['content-type'],
      }
    },
  },
  {
    name: 'where callbacks may not go',
    same: {
      foreign: { status: 403, body: 'wamp.error.not_authorized' },
      linkLocal: 'svc.error.bad_gateway',
      own: 'svc.error.bad_gateway',
      withdrawn: 'wamp.error.not_authorized',
      deliveries: 0,
    },
    run: async (context) => {
      await using receiver = await receiverOf()
      const linkLocal = 'http://169.254.169.254'
      const own = context.gateway.management
      await serveWebhooks(context, [receiver.origin, linkLocal, own])
      const foreign = await register(context, '/foreign', 'http://127.0.0.1:9/x')
      await registerAt(context, '/link-local', `${linkLocal}/latest/meta-data`)
      await registerAt(context, '/own', `${own}/realms`)
      await registerAt(context, '/echo', `${receiver.origin}/echo`)
      const peer = await context.open()
      const reached = async (path: string): Promise<unknown> =>
        errorOf(await call(peer, uriOf(context, path)))
      const before = { linkLocal: await reached('/link-local'), own: await reached('/own') }
      await putRealm(context, [linkLocal])
      const withdrawn = await reached('/echo')
      return { foreign, ...before, withdrawn, deliveries: receiver.delivered.length }
    },
  },
  {
    name: 'they outlive a router that is killed, and end when they are released',
    on: ['embedded', 'nexus'],
    same: {
      before: { args: [1] },
      after: { args: [2] },
      events: [['a'], ['b']],
      released: 200,
      gone: 'wamp.error.no_such_procedure',
      again: { status: 502, body: 'wamp.error.no_such_registration' },
      unknown: { status: 502, body: 'wamp.error.no_such_subscription' },
      held: 1,
    },
    run: async (context) => {
      const { router } = context
      await using receiver = await startReceiver({
        '/echo': echoes,
        '/event': answersJson(200, {}),
      })
      await serveWebhooks(context, [receiver.origin])
      const id = await registerAt(context, '/echo', `${receiver.origin}/echo`)
      await context.ask('/subscribe', {
        method: 'POST',
        json: { uri: `${context.uri}.topic`, callback: `${receiver.origin}/event` },
      })
      const uri = uriOf(context, '/echo')
      const peer = await context.open()
      const before = await call(peer, uri, { args: [1] })
      await publish(peer, `${context.uri}.topic`, { args: ['a'] })
      // Its publisher may hear of it before the gateway does.
      await eventually(() => {
        if (receiver.at('/event').length === 0) throw new Error('the event has not come')
      })
      await router.stop({ kill: true })
      await router.restart()
      const later = await context.open()
      const after = await eventually(async () => {
        const outcome = await call(later, uri, { args: [2] })
        if ('error' in outcome) throw new Error(outcome.error)
        return outcome
      })
      await eventually(async () => {
        const { isActive } = await listed(context, 'subscription')
        if (!isActive) throw new Error('the subscription is not active')
      })
      await publish(later, `${context.uri}.topic`, { args: ['b'] })
      const events = await eventually(() => {
        const all = receiver.at('/event')
        if (all.length < 2) throw new Error(`${all.length} events`)
        return all.map(({ body }) => (JSON.parse(body.toString()) as { args: unknown }).args)
      })
      const { status: released } = await release(context, '/unregister', id)
      return {
        before,
        after,
        events,
        released,
        gone: errorOf(await call(later, uri)),
        again: await release(context, '/unregister', id),
        unknown: await release(context, '/unsubscribe', id),
        held: (await callbacks(context)).length,
      }
    },
  },
  {
    name: 'events for a callback that is slow or fails are lost and counted, in order otherwise',
    same: { isOrdered: true, lost: { failed: true, overloaded: true }, alive: { args: ['alive'] } },
    run: async (context) => {
      const open = Promise.withResolvers<undefined>()
      await using receiver = await startReceiver({
        '/echo': echoes,
        '/fails': answersJson(500, {}),
        '/held': (response) => {
          void open.promise.then(() => response.writeHead(204).end())
        },
      })
      await serveWebhooks(context, [receiver.origin])
      for (const path of ['/held', '/fails'])
        await context.ask('/subscribe', {
          method: 'POST',
          json: {
            uri: `${context.uri}${path.replace('/', '.')}`,
            callback: receiver.origin + path,
          },
        })
      await registerAt(context, '/echo', `${receiver.origin}/echo`)
      const peer = await context.open()
      await publish(peer, `${context.uri}.fails`, { args: [0] })
      for (let n = 0; n < 300; n += 1) await publish(peer, `${context.uri}.held`, { args: [n] })
      const lost = await eventually(async () => {
        const lines = await context.metric('svc_gateway_callbacks_lost_total')
        const has = (why: string): boolean => lines.some((line) => line.includes(`"${why}"`))
        if (!has('overloaded') || !has('failed')) throw new Error(lines.join('\n'))
        return { failed: has('failed'), overloaded: has('overloaded') }
      })
      const alive = await call(peer, uriOf(context, '/echo'), { args: ['alive'] })
      open.resolve(undefined)
      const order = await eventually(
        () => {
          const all = receiver.at('/held').map(({ body }) => {
            const { args } = JSON.parse(body.toString()) as { readonly args: readonly number[] }
            return args[0] ?? -1
          })
          // One was on its way, 256 waited.
          if (all.length < 257) throw new Error(`${all.length} were delivered`)
          return all
        },
        { withinMs: 30_000 },
      )
      return { isOrdered: order.every((n, index) => n === index), lost, alive }
    },
  },
]

const putRealm = (
  context: FaultContext,
  origins: readonly string[],
  timeoutMs = TIMEOUT_MS,
): Promise<void> =>
  context.realm(
    { url: context.router.rawsocket },
    { callback_origins: origins, callback_secret: SECRET, call_timeout: timeoutMs },
  )

const serveWebhooks = async (
  context: FaultContext,
  origins: readonly string[],
  timeoutMs = TIMEOUT_MS,
): Promise<void> => {
  await putRealm(context, origins, timeoutMs)
  await context.serve({
    '/register': { post: registers('{{request.body.uri}}') },
    '/subscribe': { post: subscribes('{{request.body.uri}}') },
    '/unregister': { post: releases('wamp_unregister') },
    '/unsubscribe': { post: releases('wamp_unsubscribe') },
  })
  await context.become('open')
}

const uriOf = ({ uri }: FaultContext, path: string): string =>
  uri + path.replace('/', '.').replace('-', '_')

const register = (
  context: FaultContext,
  path: string,
  callback: string,
): Promise<ReceivedResponse> =>
  context.ask('/register', { method: 'POST', json: { uri: uriOf(context, path), callback } })

const registerAt = async (
  context: FaultContext,
  path: string,
  callback: string,
): Promise<unknown> => {
  const { status, body } = await register(context, path, callback)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return (body as { readonly registration_id?: unknown }).registration_id
}

const release = (context: FaultContext, path: string, id: unknown): Promise<ReceivedResponse> =>
  context.ask(path, { method: 'POST', json: { id } })

interface Listing {
  readonly kind: string
  readonly callback: string
  readonly isActive: boolean
}

const listings = async (context: FaultContext): Promise<readonly Listing[]> => {
  const realm = (await context.read('/realms/com.example.realm')) as {
    readonly callbacks: readonly Listing[]
  }
  return realm.callbacks
}

const callbacks = async (context: FaultContext): Promise<readonly string[]> =>
  (await listings(context)).map(({ callback }) => callback)

const listed = async (context: FaultContext, wanted: string): Promise<Listing> => {
  const found = (await listings(context)).find(({ kind }) => kind === wanted)
  if (found === undefined) throw new Error(`no ${wanted} is listed`)
  return found
}

const errorOf = (outcome: ReplyPlan): unknown => ('error' in outcome ? outcome.error : outcome)

/** As docs say that a receiver does it, with another implementation of HMAC than the sender's. */
const isSigned = async ({ headers, body }: Delivered): Promise<boolean> => {
  const header = String(headers['x-svc-signature'])
  const [, seconds = '', hex = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? []
  if (Math.abs(Number(seconds) - Date.now() / 1000) > 300) return false
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await webcrypto.subtle.importKey('raw', Buffer.from(SECRET), algorithm, false, [
    'verify',
  ])
  const signed = Buffer.concat([Buffer.from(`${seconds}.`), body])
  return webcrypto.subtle.verify('HMAC', key, Buffer.from(hex, 'hex'), signed)
}
