import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import {
  peerError,
  WampError,
  type WampSession,
} from '../../../../dataplane/wamp/session/joined-session.ts'
import { settled } from '../../../support/settled.ts'
import { join } from '../scripted-session.ts'
import { UNENCODABLE } from '../scripted-transport.ts'

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] })
})
afterEach(() => {
  jest.useRealTimers()
})

describe('register', () => {
  const register = async (handler: Parameters<WampSession['register']>[2]) => {
    const joined = join()
    const asked = joined.session.register('com.p', { invoke: 'roundrobin' }, handler)
    joined.transport.receive(65, 1, 12)
    const hold = await asked
    joined.transport.sent.length = 0
    return { ...joined, hold }
  }

  it('runs the handler with the procedure and sends its payload', async () => {
    const { transport, hold } = await register((invocation) =>
      Promise.resolve({
        args: [...invocation.args, invocation.details],
        kwargs: invocation.kwargs,
      }),
    )
    expect(hold.id).toBe(12)
    transport.receive(68, 5, 12, { caller: 9 }, [1], { a: 1 })
    transport.receive(68, 6, 12, { procedure: 'com.p.deep' })
    await settled()
    expect(transport.sent).toEqual([
      [70, 5, {}, [1, { caller: 9, procedure: 'com.p' }], { a: 1 }],
      [70, 6, {}, [{ procedure: 'com.p.deep' }]],
    ])
  })

  it.each<[string, Error, readonly unknown[]]>([
    [
      'a fault is the ERROR',
      peerError('com.e', 'text', { args: [1], kwargs: { a: 1 } }),
      [8, 68, 5, {}, 'com.e', [1], { a: 1 }],
    ],
    [
      'a bug is reported as one, without its text',
      new Error('SECRET-TEXT'),
      [8, 68, 5, {}, 'wamp.error.runtime_error', ['the handler failed']],
    ],
    [
      'an error that can’t be encoded is reported as that',
      peerError('com.e', 'text', { args: [UNENCODABLE] }),
      [8, 68, 5, {}, 'wamp.error.invalid_argument', [expect.any(String)]],
    ],
  ])('%s', async (_name, reason, message) => {
    const { transport } = await register(() => Promise.reject(reason))
    transport.receive(68, 5, 12, {})
    await settled()
    expect(transport.sent).toEqual([message])
  })

  it('a handler that throws at once is a bug too', async () => {
    const { transport, errors } = await register(() => {
      throw new Error('at once')
    })
    transport.receive(68, 5, 12, {})
    await settled()
    expect(transport.sent).toMatchObject([
      [8, 68, 5, {}, 'wamp.error.runtime_error', [expect.any(String)]],
    ])
    expect(errors).toHaveLength(1)
  })

  it('a result that can’t be encoded is an error for the caller', async () => {
    const { transport } = await register(() => Promise.resolve({ args: [UNENCODABLE], kwargs: {} }))
    transport.receive(68, 5, 12, {})
    await settled()
    expect(transport.sent).toMatchObject([
      [8, 68, 5, {}, 'wamp.error.invalid_argument', [expect.any(String)]],
    ])
  })

  it('INTERRUPT: the late result is not sent, and only `kill` is answered', async () => {
    const results: (() => void)[] = []
    const { transport } = await register(
      () =>
        new Promise((resolve) => {
          results.push(() => {
            resolve({ args: [], kwargs: {} })
          })
        }),
    )
    transport.receive(68, 5, 12, {})
    transport.receive(68, 6, 12, {})
    transport.receive(69, 5, { mode: 'kill' })
    transport.receive(69, 6, { mode: 'killnowait' })
    for (const result of results) result()
    await settled()
    expect(transport.sent).toMatchObject([
      [8, 68, 5, {}, 'wamp.error.canceled', [expect.any(String)]],
    ])
  })

  it('an invocation after the release is refused', async () => {
    const { transport, hold, ends } = await register(() =>
      Promise.resolve({ args: [], kwargs: {} }),
    )
    const released = hold.release()
    transport.receive(68, 5, 12, {})
    await settled()
    transport.receive(67, 2)
    await released
    transport.receive(68, 6, 12, {})
    expect(transport.sent).toMatchObject([
      [66, 2, 12],
      [70, 5, {}],
      [8, 68, 6, {}, 'wamp.error.no_such_procedure', [expect.any(String)]],
    ])
    expect(ends).toEqual([])
  })

  it('results after the end of the session go nowhere', async () => {
    const { transport } = await register(() => Promise.resolve({ args: [], kwargs: {} }))
    transport.receive(68, 5, 12, {})
    transport.end('lost')
    await settled()
    expect(transport.sent).toEqual([])
  })

  it('a revoked one is over', async () => {
    const { transport, hold, ends } = await register(() =>
      Promise.resolve({ args: [], kwargs: {} }),
    )
    transport.receive(67, 0, { registration: 12 })
    await hold.revoked
    transport.receive(68, 5, 12, {})
    await hold.release()
    expect(transport.sent).toMatchObject([
      [8, 68, 5, {}, 'wamp.error.no_such_procedure', [expect.any(String)]],
    ])
    expect(ends).toEqual([])
  })

  it('one whose release the router refuses answers nothing any more', async () => {
    const { transport, hold } = await register(() => Promise.resolve({ args: [], kwargs: {} }))
    const released = hold.release()
    transport.receive(8, 66, 2, {}, 'wamp.error.not_authorized')
    await expect(released).rejects.toMatchObject({ uri: 'wamp.error.not_authorized' })
    transport.receive(68, 5, 12, {})
    expect(transport.sent.at(-1)).toMatchObject([
      8,
      68,
      5,
      {},
      'wamp.error.no_such_procedure',
      [expect.any(String)],
    ])
  })

  it('a router that reads nothing gets small responses for large ones', async () => {
    const { transport, ends } = await register(() =>
      Promise.resolve({ args: ['large'], kwargs: {} }),
    )
    transport.receive(68, 5, 12, {})
    transport.bufferedBytes = 64 * 1024 * 1024 + 1
    await settled()
    expect(transport.sent).toEqual([[8, 68, 5, {}, 'svc.error.overloaded', [expect.any(String)]]])
    expect(ends).toEqual([])
  })

  it.each([
    ['is made up', 99],
    ['was registered', 12],
  ])('a router that asks and asks what %s, and reads nothing, is left', async (_, registration) => {
    const { transport, ends, session } = await register(() =>
      Promise.resolve({ args: [], kwargs: {} }),
    )
    transport.bufferedBytes = 128 * 1024 * 1024
    transport.receive(68, 5, registration, {})
    await settled()
    expect(transport.sent).toHaveLength(1)
    transport.bufferedBytes += 1
    transport.receive(68, 6, registration, {})
    await settled()
    expect(transport.sent).toHaveLength(1)
    expect(transport.isClosed).toBe(true)
    expect(ends).toMatchObject([{ kind: 'lost', text: 'the router reads no responses' }])
    await expect(session.register('com.q', {}, () => Promise.reject(new Error()))).rejects.toThrow(
      WampError,
    )
  })

  it('bounds invocations at once', async () => {
    const { transport } = await register(() => new Promise(() => undefined))
    for (let id = 1; id <= 10_001; id++) transport.receive(68, id, 12, {})
    expect(transport.sent).toMatchObject([
      [8, 68, 10_001, {}, 'svc.error.overloaded', [expect.any(String)]],
    ])
  })
})
