// Callbacks over the real upstream, against receivers on loopback.

import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCallbackPoster } from '../../../../../dataplane/actions/wamp/callback/poster.ts'
import { createUnboundedMemory } from '../../../../../dataplane/memory/memory-budget.ts'
import {
  callbackOf,
  type CallbackRules,
} from '../../../../../dataplane/actions/wamp/callback/url.ts'
import { createGuard, readRules } from '../../../../../dataplane/upstream/destinations/guard.ts'
import { createUpstream } from '../../../../../dataplane/upstream/pooled-upstream.ts'
import type { Upstream, UpstreamSink } from '../../../../../dataplane/upstream/upstream.ts'
import { UpstreamError } from '../../../../../dataplane/upstream/upstream.ts'
import {
  WampError,
  type InvocationHandler,
} from '../../../../../dataplane/wamp/session/joined-session.ts'
import { eventually } from '../../../../support/eventually.ts'
import { freePort } from '../../../../support/free-port.ts'
import { SYSTEM_CLOCK } from '../../../../../base/clock.ts'
import { createManualClock } from '../../../../support/manual-clock.ts'
import { settled } from '../../../../support/settled.ts'
import { roundTrip } from '../../../round-trip.ts'
import { stopTimers } from '../../../stop-timers.ts'
import { bodyOf } from '../../forward/forward-fixture.ts'
import { eventOf } from '../wamp-fixture.ts'

stopTimers()

/** Time passes while it is waited for. */
const passing = async <T>(outcome: Promise<T>): Promise<T> => {
  const state = { isSettled: false }
  const settle = (): void => {
    state.isSettled = true
  }
  outcome.then(settle, settle)
  while (!state.isSettled) {
    jest.advanceTimersByTime(10)
    await settled()
  }
  return outcome
}

const open: (() => Promise<unknown>)[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()))
})

interface Received {
  readonly request: IncomingMessage
  readonly body: Buffer
}

type Respond = (response: ServerResponse, received: Received) => void

const json =
  (value: unknown, status = 200): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(value))
  }

const receiver = async (answer: Respond) => {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      received.push({ request, body })
      answer(response, { request, body })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

interface PosterOptions {
  readonly deny?: readonly string[]
  readonly upstream?: Upstream
  readonly secret?: string
  readonly timeoutMs?: number
  readonly confinedTo?: () => string | undefined
}

const posterFor = (origin: string, options: PosterOptions = {}) => {
  const upstream =
    options.upstream ??
    createUpstream({ guard: createGuard({ deny: readRules(options.deny ?? []).rules }) })
  open.push(() => upstream.close())
  const lost: string[] = []
  const news: object[] = []
  const clock = createManualClock()
  const callbacks = createCallbackPoster({
    upstream,
    clock: { ...clock, after: SYSTEM_CLOCK.after },
    wallClock: Date.now,
    newId: randomUUID,
    onLost: ({ isNews, ...loss }) => {
      lost.push(loss.why)
      if (isNews) news.push(loss)
    },
    memory: createUnboundedMemory(),
  })
  const realm: { rules: CallbackRules | undefined } = {
    rules: {
      callback_origins: [origin],
      ...(options.secret !== undefined && { callback_secret: options.secret }),
    },
  }
  const url = callbackOf({ callback: `${origin}/hook?a=b` }, realm.rules, 'com.acme')
  const { confinedTo, timeoutMs = 5000 } = options
  const target = { url, confinedTo, rules: () => realm.rules, timeoutMs: () => timeoutMs }
  return { callbacks, target, lost, news, clock, realm }
}

const INVOCATION = { args: [1, 'x'], kwargs: { a: { b: null } }, details: { procedure: 'a.b' } }

const errorOf = async (answered: ReturnType<InvocationHandler>): Promise<WampError> => {
  try {
    await answered
  } catch (error) {
    if (error instanceof WampError) return error
    throw error
  }
  throw new Error('it was answered')
}

const invoking = async (respond: Respond, options: PosterOptions = {}) => {
  const { origin, received } = await receiver(respond)
  const { callbacks, target, realm } = posterFor(origin, options)
  return { handler: callbacks.invocations(target), received, realm }
}

describe('an invocation', () => {
  it('is posted as JSON', async () => {
    const { handler, received } = await invoking(json({ args: [3], kwargs: { ok: true } }))
    expect(await handler(INVOCATION)).toEqual({ args: [3], kwargs: { ok: true } })
    const [{ request, body } = { request: undefined, body: Buffer.of() }] = received
    expect(received).toHaveLength(1)
    expect([request?.method, request?.url]).toEqual(['POST', '/hook?a=b'])
    expect(JSON.parse(body.toString())).toEqual(INVOCATION)
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(body.length),
      'user-agent': 'svc-gateway',
      'x-svc-delivery': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(request?.headers).not.toHaveProperty('x-svc-signature')
  })

  it('is signed so that a receiver can tell it from a forgery', async () => {
    const { handler, received } = await invoking(json(null), { secret: 'shared secret' })
    await handler({ ...INVOCATION, args: ['Größe', new Uint8Array([1, 2])] })
    const isGenuine = ({ request, body }: Received, secret: string): boolean => {
      const header = String(request.headers['x-svc-signature'])
      const [, time = '', digest = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? []
      if (Math.abs(Date.now() / 1000 - Number(time)) > 300) return false
      const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest()
      const given = Buffer.from(digest, 'hex')
      return given.length === expected.length && timingSafeEqual(given, expected)
    }
    const [first] = received
    if (first === undefined) throw new Error('nothing was received')
    expect(isGenuine(first, 'shared secret')).toBe(true)
    expect(isGenuine(first, 'another secret')).toBe(false)
    expect(isGenuine({ ...first, body: Buffer.from('{}') }, 'shared secret')).toBe(false)
  })

  it.each([
    ['shared secret', Buffer.from('shared secret')],
    ['whsec_c2hhcmVkIHNlY3JldA==', Buffer.from('shared secret')],
    ['whsec_shared secret', Buffer.from('whsec_shared secret')],
  ])('is signed for libraries of Standard Webhooks too, with %s', async (secret, key) => {
    const { handler, received } = await invoking(json(null), { secret })
    await handler({ ...INVOCATION, args: ['Größe'] })
    const [{ request, body } = { request: undefined, body: Buffer.of() }] = received
    const { 'webhook-id': id, 'webhook-timestamp': time, ...rest } = request?.headers ?? {}
    expect(id).toBe(rest['x-svc-delivery'])
    expect(rest['x-svc-signature']).toMatch(new RegExp(`^t=${String(time)},v1=`))
    const mac = createHmac('sha256', key)
      .update(`${String(id)}.${String(time)}.`)
      .update(body)
    expect(rest['webhook-signature']).toBe(`v1,${mac.digest('base64')}`)
  })

  it.each<[string, Respond, object]>([
    ['args alone', json({ args: [1] }), { args: [1], kwargs: {} }],
    ['kwargs alone', json({ kwargs: { a: 1 } }), { args: [], kwargs: { a: 1 } }],
    ['an empty map', json({}), { args: [], kwargs: {} }],
    ['another map', json({ args: [1], more: 2 }), { args: [{ args: [1], more: 2 }], kwargs: {} }],
    ['args that are no list', json({ args: 1 }), { args: [{ args: 1 }], kwargs: {} }],
    ['a list', json([1, 2]), { args: [[1, 2]], kwargs: {} }],
    ['null', json(null), { args: [null], kwargs: {} }],
    ['a text', json('x', 201), { args: ['x'], kwargs: {} }],
    [
      'another JSON type',
      (response) => response.writeHead(200, { 'content-type': 'application/x+json' }).end('5'),
      { args: [5], kwargs: {} },
    ],
    ['nothing', (response) => response.writeHead(200).end(), { args: [], kwargs: {} }],
    ['204', (response) => response.writeHead(204).end(), { args: [], kwargs: {} }],
  ])('answered with %s', async (_, response, payload) => {
    const { handler } = await invoking(response)
    expect(await handler(INVOCATION)).toEqual(payload)
  })

  it.each<[string, Respond, string, object]>([
    [
      'an error of its own',
      json({ error_uri: 'com.acme.no', args: [1], kwargs: { a: 2 }, more: 3 }, 409),
      'com.acme.no',
      { args: [1], kwargs: { a: 2 } },
    ],
    ['the short name', json({ error: 'com.acme.no' }, 500), 'com.acme.no', { args: [] }],
    [
      'an error that is no URI',
      json({ error: 'not found' }, 404),
      'svc.error.upstream.404',
      { args: ['The callback responded with status 404.'] },
    ],
    ['a status alone', json(null, 503), 'svc.error.upstream.503', {}],
    ['a status that is no error of WAMP', json(['x'], 400), 'svc.error.upstream.400', {}],
    [
      'values that no router carries',
      json({ error_uri: 'com.acme.no', args: ['\u0000'] }, 400),
      'com.acme.no',
      { args: [] },
    ],
    ['text', (response) => response.end('ok'), 'svc.error.bad_gateway', {}],
    [
      'broken JSON',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'svc.error.bad_gateway',
      {},
    ],
    ['a text that begins with U+0000', json('\u0000'), 'svc.error.bad_gateway', {}],
    [
      'a redirect',
      (response) => response.writeHead(307, { location: '/elsewhere' }).end(),
      'svc.error.bad_gateway',
      {},
    ],
    [
      'a broken connection',
      (response) => response.socket?.destroy(),
      'svc.error.bad_gateway',
      { args: [expect.any(String)] },
    ],
    [
      'more than 1 MiB',
      json('x'.repeat(1024 * 1024)),
      'svc.error.bad_gateway',
      { args: ['The callback responded with more than 1 MiB.'] },
    ],
  ])('that fails: %s', async (_, response, uri, more) => {
    const { handler, received } = await invoking(response)
    expect(await errorOf(handler(INVOCATION))).toMatchObject({ uri, ...more })
    expect(received).toHaveLength(1)
  })

  it.each<[string, Respond]>([
    ['no response', () => undefined],
    [
      'a response that never ends',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const more = (): void => {
          response.write(' ')
          if (!response.destroyed) setImmediate(more)
        }
        more()
      },
    ],
  ])('times out: %s', async (_, response) => {
    const { handler, received } = await invoking(response, { timeoutMs: 100 })
    const error = errorOf(handler(INVOCATION))
    await eventually(() => {
      expect(received).toHaveLength(1)
    })
    expect(await passing(error)).toMatchObject({ uri: 'svc.error.timeout' })
    expect(received).toHaveLength(1)
  })

  it('fails where nothing listens, and where the destination is denied', async () => {
    const origin = `http://127.0.0.1:${await freePort()}`
    const { callbacks, target } = posterFor(origin)
    expect(await passing(errorOf(callbacks.invocations(target)(INVOCATION)))).toMatchObject({
      uri: 'svc.error.bad_gateway',
    })
    const { handler, received } = await invoking(json(1), { deny: ['127.0.0.0/8'] })
    expect(await errorOf(handler(INVOCATION))).toMatchObject({ uri: 'svc.error.bad_gateway' })
    expect(received).toEqual([])
  })

  it('goes nowhere once the realm has withdrawn the origin', async () => {
    const { handler, received, realm } = await invoking(json(1))
    await handler(INVOCATION)
    for (const rules of [{ callback_origins: ['http://other'] }, {}, undefined]) {
      realm.rules = rules
      expect(await errorOf(handler(INVOCATION))).toMatchObject({
        uri: 'wamp.error.not_authorized',
      })
    }
    expect(received).toHaveLength(1)
  })

  it('stays in the namespace of its document, as the document is at each delivery', async () => {
    let namespace: string | undefined
    const { handler, received } = await invoking(json(1), { confinedTo: () => namespace })
    await handler(INVOCATION)
    namespace = 'shop'
    expect(await errorOf(handler(INVOCATION))).toMatchObject({ uri: 'svc.error.bad_gateway' })
    namespace = undefined
    await handler(INVOCATION)
    expect(received).toHaveLength(2)
  })

  it('is signed with the secret of the day', async () => {
    const { handler, received, realm } = await invoking(json(1), { secret: 'old' })
    await handler(INVOCATION)
    realm.rules = { ...realm.rules, callback_secret: 'new' }
    await handler(INVOCATION)
    const [first, second] = received.map(({ request }) => request.headers['x-svc-signature'])
    expect(first).toBeDefined()
    expect(second).not.toBe(first)
  })

  it('is one of 64 at once and 256 that wait, else it is overloaded', async () => {
    const held: ServerResponse[] = []
    let mayAnswer = false
    const { handler, received } = await invoking((response) => {
      if (mayAnswer) response.writeHead(204).end()
      else held.push(response)
    })
    const responses = Array.from({ length: 64 + 256 }, () => handler(INVOCATION))
    expect(await errorOf(handler(INVOCATION))).toMatchObject({ uri: 'svc.error.overloaded' })
    await eventually(() => {
      expect(received).toHaveLength(64)
    })
    await roundTrip()
    expect(received).toHaveLength(64)
    mayAnswer = true
    for (const response of held.splice(0)) response.writeHead(204).end()
    await Promise.all(responses)
    expect(received).toHaveLength(64 + 256)
  })
})

/** Fails each attempt as told, in turn; a number answers with that status. */
/** Three bytes for each character. */
const textOf = (mebibytes: number): string => '漢'.repeat((mebibytes * 2 ** 20) / 3)

const scripted = (script: readonly (number | ConstructorParameters<typeof UpstreamError>[0])[]) => {
  const sent: (readonly string[])[] = []
  const upstream: Upstream = {
    send: (request, sink: UpstreamSink) => {
      const step = script[sent.length] ?? 204
      sent.push(request.headers)
      queueMicrotask(() => {
        if (typeof step !== 'number') sink.onError(new UpstreamError(step, `was ${step}`, false))
        else {
          sink.onHead(step, [])
          sink.onEnd()
        }
      })
      return { abort: () => undefined, resume: () => undefined }
    },
    stats: () => [],
    close: () => Promise.resolve(),
  }
  return { upstream, sent }
}

it('invocations are overloaded beyond 64 MiB', async () => {
  const { upstream } = scripted([])
  const { callbacks, target } = posterFor('http://hooks', { upstream })
  const invoke = callbacks.invocations(target)
  const large = { ...INVOCATION, args: [textOf(33)] }
  const first = invoke(large)
  expect(await errorOf(invoke(large))).toMatchObject({ uri: 'svc.error.overloaded' })
  expect(await first).toEqual({ args: [], kwargs: {} })
  expect(await invoke(large)).toEqual({ args: [], kwargs: {} })
})

describe('retries of a delivery', () => {
  it.each([
    [['refused', 'connect_timeout', 204] as const, undefined, 3],
    [['refused', 'refused', 'refused', 204] as const, 'svc.error.bad_gateway', 3],
    [['reset', 204] as const, 'svc.error.bad_gateway', 1],
    [['denied', 204] as const, 'svc.error.bad_gateway', 1],
    [['malformed', 204] as const, 'svc.error.bad_gateway', 1],
    [['timeout', 204] as const, 'svc.error.timeout', 1],
    [[503, 204] as const, 'svc.error.upstream.503', 1],
  ])('%j: %s after %d', async (script, uri, count) => {
    const { upstream, sent } = scripted(script)
    const { callbacks, target } = posterFor('http://hooks', { upstream })
    const answered = callbacks.invocations(target)(INVOCATION)
    const outcome = await passing(answered.catch((error: unknown) => error))
    expect(outcome).toMatchObject(uri === undefined ? { args: [], kwargs: {} } : { uri })
    expect(sent).toHaveLength(count)
    expect(new Set(sent.map((headers) => headers.join())).size).toBe(1)
  })
})

describe('events', () => {
  it('are posted one after the other, in order', async () => {
    const held: ServerResponse[] = []
    const { origin, received } = await receiver((response) => held.push(response))
    const { callbacks, target, lost } = posterFor(origin)
    const { onEvent: tell } = callbacks.events(target)
    const ids = [1, 2, 3, 4, 5]
    for (const publicationId of ids) tell(eventOf({ publicationId, kwargs: { publicationId } }))
    for (const id of ids) {
      await eventually(() => {
        expect(held).toHaveLength(1)
      })
      expect(JSON.parse(received.at(-1)?.body.toString() ?? '')).toEqual({
        publication_id: id,
        topic: 'com.acme.topic',
        args: [],
        kwargs: { publicationId: id },
        details: { topic: 'com.acme.topic' },
      })
      held.pop()?.writeHead(200).end('whatever')
    }
    await roundTrip()
    expect([received.length, lost]).toEqual([5, []])
  })

  it('are not posted any more after the end, but for the one that is on its way', async () => {
    const held: ServerResponse[] = []
    const { origin, received } = await receiver((response) => held.push(response))
    const { callbacks, target, lost } = posterFor(origin)
    const { onEvent, onEnd } = callbacks.events(target)
    for (const publicationId of [1, 2, 3]) onEvent(eventOf({ publicationId }))
    await eventually(() => {
      expect(held).toHaveLength(1)
    })
    onEnd()
    held.pop()?.writeHead(200).end()
    await roundTrip()
    expect([received.length, lost]).toEqual([1, []])
  })

  it('are lost and counted beyond 257', () => {
    const { upstream } = scripted([])
    const { callbacks, target, lost } = posterFor('http://hooks', { upstream })
    const { onEvent: tell } = callbacks.events(target)
    for (let publicationId = 0; publicationId < 260; publicationId++)
      tell(eventOf({ publicationId }))
    expect(lost).toEqual(['overloaded', 'overloaded', 'overloaded'])
  })

  it('are lost and counted beyond 64 MiB, but for one alone; those that fit are posted', async () => {
    const { upstream, sent } = scripted([])
    const { callbacks, target, lost } = posterFor('http://hooks', { upstream })
    const { onEvent: tell } = callbacks.events(target)
    const ofMebibytes = (count: number) => eventOf({ args: [textOf(count)] })
    tell(ofMebibytes(65))
    tell(ofMebibytes(0))
    expect(lost).toEqual(['overloaded'])
    await eventually(() => {
      expect(sent).toHaveLength(1)
    })
    await settled()
    for (const size of [40, 20, 5, 1]) tell(ofMebibytes(size))
    expect(lost).toEqual(['overloaded', 'overloaded'])
    await eventually(() => {
      expect(sent).toHaveLength(4)
    })
  })

  it.each([['reset'], [500], [307]] as const)(
    'that end in %s are counted, and others follow',
    async (end) => {
      const { upstream, sent } = scripted([end, 204])
      const { callbacks, target, lost } = posterFor('http://hooks', { upstream })
      const { onEvent: tell } = callbacks.events(target)
      tell(eventOf())
      tell(eventOf())
      await eventually(() => {
        expect(sent).toHaveLength(2)
      })
      expect(lost).toEqual(['failed'])
    },
  )

  it('are reported once a minute, with the reason, and never with the query', async () => {
    const { upstream } = scripted([500, 500, 'reset', 500])
    const { callbacks, target, lost, news, clock } = posterFor('http://hooks', { upstream })
    const { onEvent: tell } = callbacks.events(target)
    const loseMore = async (count: number): Promise<void> => {
      const before = lost.length
      for (let event = 0; event < count; event++) tell(eventOf())
      await eventually(() => {
        expect(lost).toHaveLength(before + count)
      })
    }
    await loseMore(3)
    const told = { why: 'failed', callback: 'http://hooks/hook' }
    expect(news).toEqual([{ ...told, reason: 'It responded with status 500.' }])
    clock.advance(60_000)
    await loseMore(1)
    expect(news).toHaveLength(2)
    for (let event = 0; event < 260; event++) tell(eventOf())
    expect(news.slice(2)).toEqual([
      { ...told, why: 'overloaded', reason: 'Too many events are waiting for it.' },
    ])
  })

  it('are counted where the realm allows the callback no more', async () => {
    const { upstream, sent } = scripted([])
    const { callbacks, target, lost, realm } = posterFor('http://hooks', { upstream })
    realm.rules = undefined
    callbacks.events(target).onEvent(eventOf())
    await eventually(() => {
      expect(lost).toEqual(['failed'])
    })
    expect(sent).toEqual([])
  })
})
