import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { WampError } from '../../../../dataplane/wamp/session/joined-session.ts'
import { join, listen, plainly, request, startCall, type Told } from '../scripted-session.ts'
import { UNENCODABLE } from '../scripted-transport.ts'

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

describe('a router that reads too slowly', () => {
  it.each([
    ['64 MiB wait', { bufferedBytes: 64 * 1024 * 1024 + 1 }],
    ['memory is tight', { hasRoom: false }],
  ])('gets no more of what can be refused while %s', async (_, state) => {
    const { session, transport, ends } = join()
    Object.assign(transport, state)
    const overloaded = { uri: 'svc.error.overloaded', wasSent: false }
    expect(() => startCall(session)).toThrow(expect.objectContaining(overloaded))
    await expect(session.publish('com.t', { args: [], kwargs: {} }, {})).rejects.toMatchObject(
      overloaded,
    )
    expect(transport.sent).toEqual([])
    Object.assign(transport, { bufferedBytes: 64 * 1024 * 1024, hasRoom: true })
    startCall(session)
    expect(transport.sent).toHaveLength(1)
    expect([ends, session.pendingCalls]).toEqual([[], 1])
  })
})

describe('call', () => {
  it.each([
    [{}, [48, 1, {}, 'com.p']],
    [{ args: [1] }, [48, 1, {}, 'com.p', [1]]],
    [{ kwargs: { a: 1 } }, [48, 1, {}, 'com.p', [], { a: 1 }]],
    [{ args: [1], kwargs: { a: 1 } }, [48, 1, {}, 'com.p', [1], { a: 1 }]],
    [{ options: { disclose_me: true } }, [48, 1, { disclose_me: true }, 'com.p']],
    [{ procedure: 'constructor:x' }, [48, 1, {}, 'constructor:x']],
    [{ procedure: '__proto__:x' }, [48, 1, {}, '__proto__:x']],
  ])('goes out at once: %j', (more, message) => {
    const { session, transport } = join()
    startCall(session, more)
    expect(transport.sent).toEqual([message])
  })

  it.each([
    [[50, 1, {}], [], {}, {}],
    [[50, 1, { callee: 5 }, null, { a: 1 }], [], { a: 1 }, { callee: 5 }],
    [[50, 1, {}, ['x'], null], ['x'], {}, {}],
    [[50, 1, {}, [null, [1]], { b: {} }, 'more'], [null, [1]], { b: {} }, {}],
  ])('%j: args, kwargs and details', (message, args, kwargs, details) => {
    const { session, transport } = join()
    const { told } = startCall(session)
    expect(session.pendingCalls).toBe(1)
    transport.receive(...message)
    expect(told).toEqual([['result', { requestId: 1, args, kwargs, details }]])
    expect(session.pendingCalls).toBe(0)
  })

  it('fails with the whole of the ERROR', () => {
    const { session, transport } = join()
    const errors: WampError[] = []
    const onFailure = (error: WampError) => errors.push(error)
    session.call(request(), { onResult: () => undefined, onFailure })
    transport.receive(8, 48, 1, { d: 1 }, 'com.error', ['no way', 5], { k: 1 })
    expect(errors).toEqual([
      expect.objectContaining({
        uri: 'com.error',
        message: 'no way',
        args: ['no way', 5],
        kwargs: { k: 1 },
        details: { d: 1 },
        wasSent: true,
      }),
    ])
    expect(session.pendingCalls).toBe(0)
  })

  it('gives progressive results to who takes them', () => {
    const { session, transport } = join()
    const { handler, told } = listen()
    session.call(request({ options: { x: 1 } }), handler)
    expect(transport.sent).toEqual([[48, 1, { x: 1, receive_progress: true }, 'com.p']])
    transport.receive(50, 1, { progress: true }, [1])
    transport.receive(50, 1, { progress: true }, [2])
    expect(session.pendingCalls).toBe(1)
    transport.receive(50, 1, {}, [3])
    expect(told).toEqual([
      ['progress', [1]],
      ['progress', [2]],
      ['result', expect.objectContaining({ args: [3] })],
    ])
  })

  it('drops progressive results that were not requested, and takes other marks for none', () => {
    const { session, transport, ends } = join()
    const { told } = startCall(session, { options: { receive_progress: true } })
    transport.receive(50, 1, { progress: true }, [1])
    expect(told).toEqual([])
    transport.receive(50, 1, { progress: 1 }, [2])
    expect(told).toHaveLength(1)
    expect(ends).toEqual([])
  })

  it('settles in the order of the responses, not of the calls', () => {
    const { session, transport } = join()
    const told: Told[] = []
    for (let count = 0; count < 3; count++) {
      session.call(request(), plainly(listen(told).handler))
    }
    transport.receive(50, 3, {}, [3])
    transport.receive(8, 48, 1, {}, 'com.e')
    transport.receive(50, 2, {}, [2])
    expect(told).toMatchObject([
      ['result', { requestId: 3 }],
      ['failure', 'com.e'],
      ['result', { requestId: 2 }],
    ])
  })

  it('that is cancelled says CANCEL once and hears nothing more', () => {
    const { session, transport, ends } = join()
    const { pending, told } = startCall(session)
    pending.cancel()
    pending.cancel()
    expect(transport.sent.slice(1)).toEqual([[49, 1, { mode: 'killnowait' }]])
    expect(session.pendingCalls).toBe(0)
    transport.receive(8, 48, 1, {}, 'wamp.error.canceled')
    transport.receive(50, 1, { progress: true }, [1])
    transport.receive(50, 1, {}, [1])
    expect(told).toEqual([])
    expect(ends).toEqual([])
    const next = startCall(session)
    transport.receive(50, 2, {}, [2])
    expect(next.told).toHaveLength(1)
  })

  it('cancelling what has been answered does nothing', () => {
    const { session, transport } = join()
    const { pending } = startCall(session)
    transport.receive(50, 1, {})
    pending.cancel()
    expect(transport.sent).toHaveLength(1)
  })

  it('forgets what is cancelled and never answered', () => {
    const { session, transport, ends } = join()
    for (let count = 0; count < 100_000; count++) {
      startCall(session).pending.cancel()
      transport.sent.length = 0
    }
    expect(session.pendingCalls).toBe(0)
    transport.receive(50, 7, {})
    expect(ends).toEqual([])
  })

  it.each<[string, object]>([
    ['arguments', { args: [UNENCODABLE] }],
    ['options', { options: { a: UNENCODABLE } }],
    ['a URI', { procedure: UNENCODABLE }],
  ])('%s that can’t be encoded fail it unsent, and nothing else', (_name, more) => {
    const { session, transport, ends } = join()
    const before = startCall(session)
    const { handler, told } = listen()
    expect(() => session.call(request(more), handler)).toThrow(
      expect.objectContaining({ uri: 'wamp.error.invalid_argument', wasSent: false }),
    )
    expect(session.pendingCalls).toBe(1)
    expect(transport.sent).toHaveLength(1)
    transport.receive(50, 1, {})
    expect(before.told).toHaveLength(1)
    expect(told).toEqual([])
    const after = startCall(session)
    transport.receive(50, 3, {})
    expect(after.told).toHaveLength(1)
    expect(ends).toEqual([])
  })

  it('is never settled within itself', async () => {
    const { session, transport } = join()
    transport.onSend = () => {
      transport.receive(50, 1, {}, ['at once'])
      transport.end('lost')
    }
    const { told } = startCall(session)
    expect(told).toEqual([])
    await jest.advanceTimersByTimeAsync(0)
    expect(told).toEqual([['result', expect.objectContaining({ args: ['at once'] })]])
    expect(() => startCall(session)).toThrow('has ended')
  })

  it('a handler that throws harms no other', () => {
    const { session, transport, errors, ends } = join()
    const angry = (): never => {
      throw new Error('angry')
    }
    session.call(request(), { onResult: angry, onFailure: angry })
    session.call(request(), { onResult: angry, onFailure: angry })
    const { told } = startCall(session)
    transport.receive(50, 1, {})
    transport.end('lost')
    expect(told).toEqual([['failure', 'wamp.error.net_failure']])
    expect(errors).toHaveLength(2)
    expect(ends).toHaveLength(1)
  })
})
