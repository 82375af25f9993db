import { afterEach, describe, expect, it, jest } from '@jest/globals'
import {
  createPeer,
  loadAutobahn,
  type PendingRequest,
} from '../../../../dataplane/wamp/session/autobahn.ts'
import { createOutbox, type Outbox } from '../../../../dataplane/wamp/session/outbox.ts'
import { createSessionParts } from '../../../../dataplane/wamp/session/operations.ts'
import { peerError } from '../../../../dataplane/wamp/session/joined-session.ts'
import { readHead, readMessage } from '../../../../dataplane/wamp/session/inbox.ts'
import type { WampMessage } from '../../../../dataplane/wamp/protocol/messages.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { ScriptedTransport, UNENCODABLE } from '../scripted-transport.ts'

const autobahn = await loadAutobahn()

const start = () => {
  const closes: string[] = []
  const outbox: Outbox = createOutbox({
    forget: (type, requestId, error) => {
      peer.fail(type, requestId, error)
    },
    onUnencodable: () => undefined,
    onBacklog: () => undefined,
  })
  const peer = createPeer(autobahn, {
    realmUri: 'com.r',
    authmethods: ['anonymous'],
    authid: undefined,
    authextra: undefined,
    onChallenge: () => Promise.reject(new Error('none')),
    send: outbox.carry,
    close: () => closes.push('close'),
  })
  const target = {
    url: '',
    serializers: ['json'],
    keepaliveMs: 0,
    connectTimeoutMs: 1,
    maxMessageBytes: 1,
  } as const
  const nothing = () => undefined
  const handlers = { onOpen: nothing, onMessage: nothing, onUnreadable: nothing, onClose: nothing }
  const transport = new ScriptedTransport(target, handlers)
  outbox.connect(transport)
  peer.join()
  peer.receive([2, 7, { roles: { broker: {}, dealer: {} } }])
  const parts = createSessionParts(peer, outbox, createSilentLog())
  /** autobahn's own list of calls: what stays in it stays for as long as the session does. */
  const books = () => Object.keys((peer.session as unknown as { _call_reqs: object })._call_reqs)
  const call = (args: readonly string[] = []) =>
    parts.calls.call(
      { procedure: 'com.p', args, kwargs: {}, options: {} },
      { onResult: nothing, onFailure: nothing, onProgress: nothing },
    )
  return {
    peer,
    parts,
    transport,
    closes,
    books,
    call,
    receive: (m: WampMessage) => readMessage(parts, m),
  }
}

describe('autobahn keeps nothing of a call that', () => {
  it.each<[string, (started: ReturnType<typeof start>) => unknown]>([
    ['has its result', ({ receive }) => receive([50, 1, {}, [1, 2], { a: 1 }])],
    [
      'has a result with a mark that is no progress',
      ({ receive }) => receive([50, 1, { progress: 1 }]),
    ],
    ['has failed', ({ receive }) => receive([8, 48, 1, {}, 'com.e'])],
    ['has a response that can’t be read', ({ parts }) => readHead(parts, [50, 1], 'bad')],
  ])('%s', (_name, settle) => {
    const started = start()
    started.call()
    started.receive([50, 1, { progress: true }, [1]])
    expect(started.books()).toEqual(['1'])
    settle(started)
    expect(started.books()).toEqual([])
  })

  it('was cancelled, or never sent', () => {
    const { call, books } = start()
    call().cancel()
    expect(() => call([UNENCODABLE])).toThrow('no text for it')
    expect(books()).toEqual([])
  })

  it('was a probe, once there is another', () => {
    const { parts, books, receive } = start()
    for (let probes = 0; probes < 5; probes++) parts.calls.probe()
    expect(books()).toEqual(['5'])
    expect(receive([50, 1, {}, [3]])).toBeUndefined()
    expect(receive([8, 48, 5, {}, 'wamp.error.not_authorized'])).toBeUndefined()
    expect(books()).toEqual([])
  })
})

describe('a response is settled by autobahn', () => {
  const listen = (started: ReturnType<typeof start>, pending: PendingRequest) => {
    const heard: unknown[] = []
    pending.listener = {
      onResponse: (response, value) => heard.push([response, value, started.books()]),
      onProgress: (response) => heard.push([response, 'progress']),
      onFailure: ({ uri }) => heard.push(uri),
    }
    return heard
  }

  const call = (started: ReturnType<typeof start>, options = {}) =>
    started.peer.session.call('com.p', undefined, undefined, options)

  it('which finds the request, forgets it, and has its listener called with the whole response', () => {
    const started = start()
    const first = listen(started, call(started))
    const second = listen(started, call(started))
    const response: WampMessage = [50, 2, { callee: 5 }, [1, 2], { a: 1 }]
    expect(started.peer.settle(response)).toBe(true)
    expect(second).toEqual([
      [response, expect.objectContaining({ args: [1, 2], kwargs: { a: 1 } }), ['1']],
    ])
    expect(started.peer.fail(48, 1, peerError('com.e', 'no'))).toBe(true)
    expect(first).toEqual(['com.e'])
  })

  it('once: what comes after is refused, and says nothing to anybody', () => {
    const started = start()
    const globals = Object.keys(globalThis)
    const heard = listen(started, call(started))
    expect(started.peer.settle([8, 48, 1, {}, 'com.e'])).toBe(true)
    const later: WampMessage[] = [
      [50, 1, {}],
      [8, 48, 1, {}, 'com.e'],
      [17, 1, 5],
      [65, 1, 5],
    ]
    for (const response of later) expect(started.peer.settle(response)).toBe(false)
    expect(started.peer.fail(48, 1, peerError('com.e', 'no'))).toBe(false)
    expect(heard).toEqual(['com.e'])
    expect([started.closes, Object.keys(globalThis)]).toEqual([[], globals])
  })

  it('and kept back where progress was not requested, or has another mark', () => {
    const started = start()
    const plain = listen(started, call(started))
    const progressive = listen(started, call(started, { receive_progress: true }))
    expect(started.peer.settle([50, 1, { progress: true }, [1]])).toBe(false)
    expect(started.peer.settle([50, 2, { progress: true }, [1]])).toBe(true)
    expect(started.peer.settle([50, 2, { progress: 1 }, [2]])).toBe(true)
    expect(plain).toEqual([])
    expect(progressive).toEqual([
      [[50, 2, { progress: true }, [1]], 'progress'],
      [[50, 2, { progress: 1 }, [2]], null, ['1']],
    ])
  })
})

describe('loadAutobahn', () => {
  afterEach(() => {
    jest.restoreAllMocks()
  })

  it('gives one library, which keeps to itself', async () => {
    expect(await loadAutobahn()).toBe(autobahn)
    const said = (['log', 'warn', 'error'] as const).map((method) =>
      jest.spyOn(console, method).mockImplementation(() => undefined),
    )
    const { peer } = start()
    // What the shape check keeps from it otherwise: a protocol violation, then an end that it warns of.
    peer.receive([999])
    peer.receive([6, {}, 'wamp.close.normal'])
    for (const spy of said) expect(spy).not.toHaveBeenCalled()
  })
})
