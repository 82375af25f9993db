import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { createAuthentication } from '../../../../dataplane/wamp/session/authentication.ts'
import { openSession, type SessionEnd } from '../../../../dataplane/wamp/session/session.ts'
import type { WampError } from '../../../../dataplane/wamp/session/joined-session.ts'
import type { WampMessage } from '../../../../dataplane/wamp/protocol/messages.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import {
  autobahn,
  begin,
  endedWith,
  join,
  request,
  startCall,
  VIOLATION,
} from '../scripted-session.ts'
import { UNENCODABLE, type ScriptedTransport } from '../scripted-transport.ts'

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

describe('joining', () => {
  it('says HELLO, and is open with WELCOME', () => {
    const { transport, joined } = begin({ method: 'ticket', authid: 'joe', secret: 's3cret' })
    expect(transport.sent).toEqual([])
    transport.open()
    const hello = { authmethods: ['ticket'], authid: 'joe', roles: expect.anything() }
    expect(transport.sent).toEqual([[1, 'com.r', expect.objectContaining(hello)]])
    transport.receive(4, 'ticket', {})
    expect(joined).toEqual([])
    transport.receive(2, 2 ** 53, { roles: {} })
    expect(joined.map(({ id }) => id)).toEqual([2 ** 53])
  })

  it('answers one CHALLENGE', async () => {
    const { transport, ends } = begin({ method: 'ticket', secret: 's3cret' })
    transport.open()
    transport.receive(4, 'ticket', {})
    await jest.advanceTimersByTimeAsync(1)
    expect(transport.sent.at(-1)).toEqual([5, 's3cret', {}])
    transport.receive(4, 'ticket', {})
    expect(ends).toEqual(endedWith('failed', VIOLATION))
  })

  it('does not give a ticket to a router that asks for a signature', async () => {
    const { transport, ends } = begin({ method: 'ticket', secret: 's3cret' })
    transport.open()
    transport.receive(4, 'wampcra', { challenge: 'x' })
    await jest.advanceTimersByTimeAsync(1)
    expect(transport.sent.at(-1)?.[0]).toBe(3)
    expect(ends).toEqual(endedWith('refused', 'wamp.error.cannot_authenticate'))
    expect(JSON.stringify([transport.sent, ends])).not.toContain('s3cret')
    expect(transport.isClosed).toBe(true)
  })

  it.each([
    ['wamp.error.no_such_realm', 'refused'],
    ['wamp.error.authentication_failed', 'refused'],
    ['wamp.close.system_shutdown', 'failed'],
  ])('ABORT %s: %s', (uri, kind) => {
    const { transport, ends, joined } = begin()
    transport.open()
    transport.receive(3, { message: 'no' }, uri)
    expect(ends).toEqual([{ kind, uri, text: 'no' }])
    expect(transport.isClosed).toBe(true)
    transport.receive(2, 5, { roles: {} })
    transport.end('closed')
    expect(joined).toEqual([])
    expect(ends).toHaveLength(1)
  })

  it.each<[string, WampMessage]>([
    ['WELCOME without roles', [2, 5, {}]],
    ['WELCOME with roles that are none', [2, 5, { roles: null }]],
    ['WELCOME with session 0', [2, 0, { roles: {} }]],
    ['WELCOME with a text for an id', [2, '5', { roles: {} }]],
    ['WELCOME alone', [2]],
    ['ABORT without details', [3, null, 'x']],
    ['ABORT with a reason that is no text', [3, {}, 5]],
    ['CHALLENGE without extra', [4, 'ticket']],
    ['RESULT', [50, 1, {}]],
    ['GOODBYE', [6, {}, 'wamp.close.normal']],
    ['what a client says', [1, 'com.r', {}]],
    ['a type that is none', [999]],
    ['a type that every object has', ['constructor']],
  ])('%s ends it', (_name, message) => {
    const { transport, ends } = begin()
    transport.open()
    transport.receive(...message)
    expect(ends).toEqual(endedWith('failed', VIOLATION))
    expect(transport.sent.at(-1)).toEqual([3, expect.anything(), VIOLATION])
    expect(transport.isClosed).toBe(true)
  })

  it('ends when what it can’t read comes first, or the router is gone, or does not answer', () => {
    const unreadable = begin()
    unreadable.transport.open()
    unreadable.transport.receiveUnreadable(2)
    expect(unreadable.ends).toEqual(endedWith('failed', VIOLATION))

    const away = begin()
    away.transport.end('unreachable', 'ECONNREFUSED')
    const text = 'unreachable, ECONNREFUSED'
    expect(away.ends).toEqual([{ kind: 'failed', uri: 'wamp.error.net_failure', text }])

    const mute = begin()
    mute.transport.open()
    jest.advanceTimersByTime(4999)
    expect(mute.ends).toEqual([])
    jest.advanceTimersByTime(1)
    expect(mute.ends).toEqual(endedWith('failed', 'wamp.error.net_failure'))
    expect(mute.transport.isClosed).toBe(true)
  })

  it('a HELLO that can’t be encoded is a refusal', () => {
    const { transport, ends } = begin({ method: 'anonymous' }, UNENCODABLE)
    transport.open()
    expect(ends).toEqual(endedWith('refused', 'wamp.error.cannot_authenticate'))
  })

  it('reports an end within the opening of its transport afterwards', async () => {
    const ends: SessionEnd[] = []
    openSession(
      {
        autobahn,
        openTransport: (target, handlers) => {
          handlers.onClose({ kind: 'unreachable', reason: target.url })
          return { send: () => undefined, bufferedBytes: 0, hasRoom: true, close: () => undefined }
        },
        target: {
          url: 'bad',
          serializers: ['json'],
          keepaliveMs: 0,
          connectTimeoutMs: 1,
          maxMessageBytes: 1,
        },
        realmUri: 'com.r',
        authentication: createAuthentication({ method: 'anonymous' }),
        log: createSilentLog(),
      },
      { onJoined: () => undefined, onEnd: (end) => ends.push(end) },
    )
    expect(ends).toEqual([])
    await jest.advanceTimersByTimeAsync(0)
    expect(ends).toEqual(endedWith('failed', 'wamp.error.net_failure'))
  })
})

describe('what can’t be read', () => {
  it.each<[string, (transport: ScriptedTransport) => void]>([
    [
      'RESULT',
      (transport) => {
        transport.receiveUnreadable(50, 1)
      },
    ],
    [
      'ERROR',
      (transport) => {
        transport.receiveUnreadable(8, 48, 1)
      },
    ],
    [
      'arguments that are no list',
      (transport) => {
        transport.receive(50, 1, {}, 'text')
      },
    ],
    [
      'keywords that are no map',
      (transport) => {
        transport.receive(50, 1, {}, [], [1])
      },
    ],
    [
      'ERROR with bytes for arguments',
      (transport) => {
        transport.receive(8, 48, 1, {}, 'com.e', new Uint8Array(1))
      },
    ],
  ])('%s: that call fails, the session goes on', (_name, receive) => {
    const { session, transport, ends } = join()
    const { told } = startCall(session)
    receive(transport)
    receive(transport)
    expect(told).toEqual([['failure', 'svc.error.bad_gateway']])
    expect(session.pendingCalls).toBe(0)
    expect(ends).toEqual([])
  })

  it('ERROR of a publication: that publication fails', async () => {
    const { session, transport, ends } = join()
    const published = session.publish('com.t', { args: [], kwargs: {} }, {})
    transport.receiveUnreadable(8, 16, 1)
    await expect(published).rejects.toMatchObject({ uri: 'svc.error.bad_gateway' })
    expect(ends).toEqual([])
  })

  it('INVOCATION: the caller gets an ERROR', () => {
    const { transport, ends } = join()
    transport.receiveUnreadable(68, 9)
    transport.receive(68, 10, 3, {}, 'no list')
    expect(transport.sent).toMatchObject([
      [8, 68, 9, {}, 'wamp.error.invalid_argument', [expect.any(String)]],
      [8, 68, 10, {}, 'wamp.error.invalid_argument', [expect.any(String)]],
    ])
    expect(ends).toEqual([])
  })

  it('EVENT: dropped, logged once', () => {
    const { transport, ends, warnings } = join()
    transport.receiveUnreadable(36, 1, 2)
    transport.receive(36, 1, 2, {}, 'no list')
    expect(warnings).toHaveLength(1)
    expect(ends).toEqual([])
  })

  it.each([[[17]], [[33, 1]], [[6]], [[8, 32, 5]], [[50, 99]], [[8, 48, 99]], [[999]]])(
    '%j ends the session',
    (head) => {
      const { transport, ends } = join()
      transport.receiveUnreadable(...head)
      expect(ends).toEqual(endedWith('lost', VIOLATION))
    },
  )
})

describe('a router that misbehaves', () => {
  it.each<[string, readonly unknown[]]>([
    ['RESULT of a call never made', [50, 99, {}]],
    ['ERROR of a call never made', [8, 48, 99, {}, 'com.e']],
    ['ERROR of what is no request', [8, 1, 1, {}, 'com.e']],
    ['ERROR of an invocation', [8, 68, 1, {}, 'com.e']],
    ['ERROR of a subscription never asked for', [8, 32, 1, {}, 'com.e']],
    ['an id from the prototype', [50, 'constructor', {}]],
    ['a request type from the prototype', [8, 'constructor', 1, {}, 'com.e']],
    ['an id that is no number', [50, null, {}]],
    ['half an id', [50, 0.5, {}]],
    ['an id below 0', [50, -1, {}]],
    ['an id beyond all', [50, 2 ** 60, {}]],
    ['RESULT without details', [50, 1]],
    ['RESULT with a list for details', [50, 1, []]],
    ['ERROR without a URI', [8, 48, 1, {}]],
    ['ERROR with a number for a URI', [8, 48, 1, {}, 5]],
    ['PUBLISHED without a request', [17, 1, 5]],
    ['PUBLISHED for a call', [17, 1, 5]],
    ['SUBSCRIBED without a request', [33, 1, 5]],
    ['SUBSCRIBED with a text id', [33, 1, '__proto__']],
    ['UNSUBSCRIBED without a request', [35, 1]],
    ['REGISTERED without a request', [65, 1, 5]],
    ['UNREGISTERED without a request', [67, 1]],
    ['EVENT without a publication', [36, 1]],
    ['EVENT with details that are none', [36, 1, 2, 'x']],
    ['EVENT of a subscription from the prototype', [36, 'constructor', 2, {}]],
    ['INVOCATION without details', [68, 1, 2]],
    ['INVOCATION with a text id', [68, 'toString', 2, {}]],
    ['INTERRUPT without options', [69, 1]],
    ['GOODBYE without a reason', [6, {}]],
    ['GOODBYE with details that are none', [6, null, 'x']],
    ['a second WELCOME', [2, 5, { roles: {} }]],
    ['CHALLENGE', [4, 'ticket', {}]],
    ['HELLO', [1, 'com.r', {}]],
    ['CALL', [48, 1, {}, 'com.p']],
    ['YIELD', [70, 1, {}]],
    ['a type that is none', [1000]],
    ['a type that every object has', ['__proto__', 1, {}]],
    ['nothing', []],
  ])('%s ends the session, and what waits fails', (_name, message) => {
    const { session, transport, ends } = join()
    const { told } = startCall(session)
    transport.receive(...message)
    expect(ends).toEqual(endedWith('lost', VIOLATION))
    expect(told).toEqual([['failure', 'wamp.error.net_failure']])
    expect(transport.sent.at(-1)).toEqual([3, expect.anything(), VIOLATION])
    expect(transport.isClosed).toBe(true)
    transport.receive(50, 1, {})
    transport.receive(2, 5, { roles: {} })
    transport.receiveUnreadable(50, 1)
    transport.end('closed')
    expect(ends).toHaveLength(1)
    expect(told).toHaveLength(1)
  })

  it.each<[string, readonly unknown[]]>([
    ['a heartbeat', [7, 1, 2]],
    ['an event of no subscription of ours', [36, 5, 6, {}]],
    ['an interrupt of nothing', [69, 5, {}]],
    ['a revocation of no subscription of ours', [35, 0, { subscription: 'constructor' }]],
    ['a revocation without details', [67, 0]],
  ])('%s is let be', (_name, message) => {
    const { session, transport, ends } = join()
    const { told } = startCall(session)
    transport.receive(...message)
    transport.receive(50, 1, {})
    expect(told).toHaveLength(1)
    expect(ends).toEqual([])
  })
})

describe('a quiet router', () => {
  it.each([
    ['answers', [50, 1, {}, [3]]],
    ['refuses', [8, 48, 1, {}, 'wamp.error.not_authorized']],
  ])('is requested anything at all, and %s', (_name, response) => {
    const { session, transport, ends } = join()
    transport.quiet()
    expect(transport.sent).toEqual([[48, 1, {}, 'wamp.session.count']])
    expect(session.pendingCalls).toBe(0)
    transport.receive(...response)
    expect(ends).toEqual([])
    const { told } = startCall(session)
    transport.receive(50, 2, {})
    expect(told).toHaveLength(1)
  })

  it('is not called before it is joined, nor after', () => {
    const { opened, transport } = begin()
    transport.quiet()
    expect(transport.sent).toEqual([])
    transport.welcome()
    void opened.close()
    transport.sent.length = 0
    transport.quiet()
    expect(transport.sent).toEqual([])
  })
})

describe('the end', () => {
  const ways: [string, (transport: ScriptedTransport) => void, object][] = [
    [
      'GOODBYE',
      (transport) => {
        transport.receive(6, { message: 'bye' }, 'wamp.close.system_shutdown')
      },
      { kind: 'lost', uri: 'wamp.close.system_shutdown', text: 'bye' },
    ],
    [
      'ABORT',
      (transport) => {
        transport.receive(3, {}, 'wamp.error.x')
      },
      { kind: 'lost', uri: 'wamp.error.x', text: '' },
    ],
    [
      'silence',
      (transport) => {
        transport.end('silent', 'nothing came in for 10 s')
      },
      { kind: 'lost', uri: 'wamp.error.net_failure', text: 'silent, nothing came in for 10 s' },
    ],
  ]

  it.each(ways)(
    'by %s: all that waits fails before the end is reported',
    async (_name, end, expected) => {
      const { session, transport, ends } = join()
      const told: string[] = []
      const fail = (what: string) => (error: WampError) => {
        expect(ends).toEqual([])
        told.push(`${what} ${error.uri} ${String(error.wasSent)}`)
      }
      const ignore = () => undefined
      const subscribed = session.subscribe('com.t', {}, ignore)
      const registered = session.register('com.p', {}, () => Promise.reject(new Error('no')))
      transport.receive(33, 1, 11)
      transport.receive(65, 2, 12)
      const subscription = await subscribed
      const registration = await registered
      session.call(request(), { onResult: ignore, onFailure: fail('call') })
      const waiting = [
        session.publish('com.t', { args: [], kwargs: {} }, {}),
        session.subscribe('com.t2', {}, ignore),
        session.register('com.p2', {}, () => Promise.reject(new Error('no'))),
        subscription.release(),
      ]
      const settled = Promise.allSettled(waiting)
      end(transport)
      expect(told).toEqual(['call wamp.error.net_failure true'])
      expect(ends).toEqual([expected])
      expect(await settled).toEqual(
        waiting.map(() => ({
          status: 'rejected',
          reason: expect.objectContaining({ uri: 'wamp.error.net_failure' }),
        })),
      )
      expect(session.pendingCalls).toBe(0)
      await registration.release()
      expect(transport.isClosed).toBe(true)
    },
  )

  it('answers GOODBYE with GOODBYE', () => {
    const { transport } = join()
    transport.receive(6, {}, 'wamp.close.close_realm')
    expect(transport.sent).toEqual([[6, {}, 'wamp.error.goodbye_and_out']])
  })

  it('everything after it fails unsent', async () => {
    const { session, transport } = join()
    transport.end('lost')
    const unsent = expect.objectContaining({ uri: 'wamp.error.net_failure', wasSent: false })
    expect(() => startCall(session)).toThrow(unsent)
    const nothing = { args: [], kwargs: {} }
    await expect(session.publish('com.t', nothing, {})).rejects.toEqual(unsent)
    await expect(session.subscribe('com.t', {}, () => undefined)).rejects.toEqual(unsent)
    const handler = () => Promise.resolve(nothing)
    await expect(session.register('com.p', {}, handler)).rejects.toEqual(unsent)
    expect(transport.sent).toEqual([])
  })

  it('a new call from a failing one is refused, not lost', () => {
    const { session, transport } = join()
    const told: string[] = []
    session.call(request(), {
      onResult: () => undefined,
      onFailure: () => {
        try {
          startCall(session)
        } catch (error) {
          told.push((error as WampError).uri)
        }
      },
    })
    transport.end('lost')
    expect(told).toEqual(['wamp.error.net_failure'])
  })
})

describe('close', () => {
  it('fails what waits, says GOODBYE and waits for the router’s', async () => {
    const { opened, session, transport, ends } = join()
    const { told } = startCall(session)
    let isClosed = false
    const closing = opened.close().then(() => (isClosed = true))
    expect(transport.sent.at(-1)).toEqual([6, {}, 'wamp.close.normal'])
    expect(told).toEqual([['failure', 'wamp.error.net_failure']])
    expect(ends).toEqual(endedWith('closed', 'wamp.close.normal'))
    expect(() => startCall(session)).toThrow('has ended')
    transport.receive(50, 1, {})
    transport.receive(1000)
    expect(transport.isClosed).toBe(false)
    transport.receive(6, {}, 'wamp.error.goodbye_and_out')
    expect(transport.isClosed).toBe(true)
    await jest.advanceTimersByTimeAsync(0)
    expect(isClosed).toBe(false)
    transport.end('closed')
    await closing
    expect(ends).toHaveLength(1)
  })

  it('waits a second for a router that does not answer', async () => {
    const { opened, transport, ends } = join()
    let isClosed = false
    const closing = opened.close().then(() => (isClosed = true))
    expect(opened.close()).toBe(opened.close())
    await jest.advanceTimersByTimeAsync(999)
    expect(isClosed).toBe(false)
    await jest.advanceTimersByTimeAsync(1)
    await closing
    expect(transport.isClosed).toBe(true)
    expect(ends).toHaveLength(1)
  })

  it.each<[string, (transport: ScriptedTransport) => void]>([
    ['before its transport is open', () => undefined],
    [
      'before WELCOME',
      (transport) => {
        transport.open()
      },
    ],
  ])('%s: at once', async (_name, prepare) => {
    const { opened, transport, ends, joined } = begin()
    prepare(transport)
    await opened.close()
    expect(transport.isClosed).toBe(true)
    expect(ends).toEqual(endedWith('closed', 'wamp.close.normal'))
    transport.welcome()
    expect(joined).toEqual([])
  })

  it('after the end: at once', async () => {
    const { opened, transport, ends } = join()
    transport.end('lost')
    await opened.close()
    expect(ends).toHaveLength(1)
  })
})
