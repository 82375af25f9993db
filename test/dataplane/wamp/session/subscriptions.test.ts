import { describe, expect, it } from '@jest/globals'
import type { WampEvent } from '../../../../dataplane/wamp/session/joined-session.ts'
import { settled } from '../../../support/settled.ts'
import { join } from '../scripted-session.ts'

describe('subscribe', () => {
  const subscribe = async (options = {}) => {
    const joined = join()
    const events: WampEvent[] = []
    const asked = joined.session.subscribe('com.t', options, (event) => events.push(event))
    expect(joined.transport.sent).toEqual([[32, 1, options, 'com.t']])
    joined.transport.receive(33, 1, 11)
    return { ...joined, events, asked, hold: await asked }
  }

  it('reports events, with their topic', async () => {
    const { transport, events, hold } = await subscribe()
    expect(hold.id).toBe(11)
    transport.receive(36, 11, 5, {}, [1], { a: 1 })
    transport.receive(36, 11, 6, { topic: 'com.t.deep', publisher: 9 })
    transport.receive(36, 11, 7, { topic: 5 }, null)
    expect(events).toEqual([
      { publicationId: 5, args: [1], kwargs: { a: 1 }, details: { topic: 'com.t' } },
      {
        publicationId: 6,
        args: [],
        kwargs: {},
        details: { topic: 'com.t.deep', publisher: 9 },
      },
      { publicationId: 7, args: [], kwargs: {}, details: { topic: 'com.t' } },
    ])
  })

  it('reports an event that follows at once', () => {
    const { session, transport } = join()
    const events: WampEvent[] = []
    void session.subscribe('com.t', {}, (event) => events.push(event))
    transport.receive(33, 1, 11)
    transport.receive(36, 11, 5, {})
    expect(events).toHaveLength(1)
  })

  it('is released once, and hears nothing after', async () => {
    const { transport, events, hold, ends } = await subscribe()
    const released = hold.release()
    expect(hold.release()).toBe(released)
    expect(transport.sent.slice(1)).toEqual([[34, 2, 11]])
    transport.receive(36, 11, 5, {})
    transport.receive(35, 2)
    await released
    transport.receive(36, 11, 6, {})
    expect(events).toEqual([])
    expect(ends).toEqual([])
  })

  it('two that share a router subscription both get events, and the last ends it', async () => {
    const { session, transport, events, hold } = await subscribe()
    const others: WampEvent[] = []
    const asked = session.subscribe('com.t', {}, (event) => others.push(event))
    transport.receive(33, 2, 11)
    const other = await asked
    transport.receive(36, 11, 5, {})
    await hold.release()
    transport.receive(36, 11, 6, {})
    expect([events.length, others.length]).toEqual([1, 2])
    expect(transport.sent).toHaveLength(2)
    void other.release()
    expect(transport.sent.at(-1)).toEqual([34, 3, 11])
  })

  it('a refused release is reported', async () => {
    const { transport, hold, ends } = await subscribe()
    const released = hold.release()
    transport.receive(8, 34, 2, {}, 'wamp.error.no_such_subscription')
    await expect(released).rejects.toMatchObject({ uri: 'wamp.error.no_such_subscription' })
    expect(ends).toEqual([])
  })

  it('what the router revokes is over, and there is nothing to release', async () => {
    const { transport, events, hold, ends } = await subscribe()
    transport.receive(35, 0, { subscription: 11, reason: 'x' })
    transport.receive(36, 11, 5, {})
    await hold.revoked
    await hold.release()
    expect(events).toEqual([])
    expect(transport.sent).toHaveLength(1)
    expect(ends).toEqual([])
  })

  it('what was revoked can be had again, under the same id, and be released', async () => {
    const { transport, session, ends } = await subscribe()
    transport.receive(35, 0, { subscription: 11 })
    const events: unknown[] = []
    const asked = session.subscribe('com.t', {}, (event) => events.push(event))
    transport.receive(33, 2, 11)
    const again = await asked
    transport.receive(36, 11, 5, {})
    const released = again.release()
    expect(transport.sent.at(-1)).toEqual([34, 3, 11])
    transport.receive(35, 3)
    await released
    expect(events).toHaveLength(1)
    expect(ends).toEqual([])
  })

  it('a revocation right after the acknowledgement is reported to all that share it', async () => {
    const { transport, session, hold } = await subscribe()
    const asked = session.subscribe('com.t', {}, () => undefined)
    transport.receive(33, 2, 11)
    transport.receive(35, 0, { subscription: 11 })
    const other = await asked
    await expect(Promise.all([hold.revoked, other.revoked])).resolves.toHaveLength(2)
  })

  it('the end of a session revokes nothing', async () => {
    const { transport, hold } = await subscribe()
    let isRevoked = false
    void hold.revoked.then(() => {
      isRevoked = true
    })
    transport.end('lost')
    await settled()
    expect(isRevoked).toBe(false)
  })

  it.each([
    ['ERROR', [8, 32, 1, {}, 'wamp.error.not_authorized'], 'wamp.error.not_authorized'],
    ['an end', [6, {}, 'wamp.close.normal'], 'wamp.error.net_failure'],
  ])('fails by %s', async (_name, message, uri) => {
    const { session, transport } = join()
    const asked = session.subscribe('com.t', {}, () => undefined)
    transport.receive(...message)
    await expect(asked).rejects.toMatchObject({ uri })
  })
})
