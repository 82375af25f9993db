import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createPeer, loadAutobahn } from '../../../../dataplane/wamp/session/autobahn.ts'
import { createOutbox, type Outbox } from '../../../../dataplane/wamp/session/outbox.ts'
import { createParts } from '../../../../dataplane/wamp/session/operations.ts'
import { readHead, readMessage } from '../../../../dataplane/wamp/session/inbox.ts'
import type { WampMessage } from '../../../../dataplane/wamp/protocol/messages.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { ScriptedTransport, UNENCODABLE } from '../scripted-transport.ts'

const autobahn = await loadAutobahn()

const start = () => {
  const outbox: Outbox = createOutbox({
    account: (message) => {
      peer.receive(message)
    },
    onFault: () => undefined,
    onStuffed: () => undefined,
  })
  const peer = createPeer(autobahn, {
    realmUri: 'com.r',
    authmethods: ['anonymous'],
    authid: undefined,
    authextra: undefined,
    onChallenge: () => Promise.reject(new Error('none')),
    send: outbox.carry,
    close: () => undefined,
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
  const parts = createParts(peer, outbox, createSilentLog())
  /** autobahn's own list of calls: what stays in it stays for as long as the session does. */
  const books = () => Object.keys((peer.session as unknown as { _call_reqs: object })._call_reqs)
  const call = (args: readonly string[] = []) =>
    parts.calls.call(
      { procedure: 'com.p', args, kwargs: {}, options: {} },
      { onResult: nothing, onFailure: nothing, onProgress: nothing },
    )
  return { peer, parts, transport, books, call, receive: (m: WampMessage) => readMessage(parts, m) }
}

describe('autobahn keeps nothing of a call that', () => {
  it.each<[string, (started: ReturnType<typeof start>) => unknown]>([
    ['has its result', ({ receive }) => receive([50, 1, {}, [1, 2], { a: 1 }])],
    [
      'has a result with a mark that is no progress',
      ({ receive }) => receive([50, 1, { progress: 1 }]),
    ],
    ['has failed', ({ receive }) => receive([8, 48, 1, {}, 'com.e'])],
    ['has an answer that can’t be read', ({ parts }) => readHead(parts, [50, 1], 'bad')],
  ])('%s', (_name, settle) => {
    const started = start()
    started.call()
    started.receive([50, 1, { progress: true }, [1]])
    expect(started.books()).toEqual(['1'])
    settle(started)
    expect(started.books()).toEqual([])
  })

  it('was cancelled, or a probe, or never sent', () => {
    const { call, parts, books } = start()
    call().cancel()
    parts.calls.probe()
    expect(() => call([UNENCODABLE])).toThrow('no text for it')
    expect(books()).toEqual([])
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
