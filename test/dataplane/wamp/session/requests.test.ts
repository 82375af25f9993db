import { describe, expect, it } from '@jest/globals'
import { endedWith, join, VIOLATION } from '../scripted-session.ts'
import { UNENCODABLE } from '../scripted-transport.ts'

describe('publish', () => {
  it('is acknowledged', async () => {
    const { session, transport } = join()
    const published = session.publish('com.t', { args: [1], kwargs: {} }, { exclude_me: false })
    const options = { exclude_me: false, acknowledge: true }
    expect(transport.sent).toEqual([[16, 1, options, 'com.t', [1]]])
    transport.receive(17, 1, 4242)
    expect(await published).toEqual({ publicationId: 4242 })
  })

  it('fails with ERROR', async () => {
    const { session, transport } = join()
    const published = session.publish('com.t', { args: [], kwargs: {} }, {})
    transport.receive(8, 16, 1, {}, 'wamp.error.not_authorized')
    await expect(published).rejects.toMatchObject({ uri: 'wamp.error.not_authorized' })
  })

  it('rejects unsent what can’t be encoded', async () => {
    const { session, transport, ends } = join()
    const published = session.publish('com.t', { args: [UNENCODABLE], kwargs: {} }, {})
    const error = { uri: 'wamp.error.invalid_argument', wasSent: false }
    await expect(published).rejects.toMatchObject(error)
    expect(transport.sent).toEqual([])
    transport.end('lost')
    expect(ends).toHaveLength(1)
  })

  it('is given up when the router leaves 10,000 younger ones unanswered; its response is late then', async () => {
    const { session, transport, ends } = join()
    const publish = () => session.publish('com.t', { args: [], kwargs: {} }, {})
    const [first, second] = [publish(), publish()]
    const others = Array.from({ length: 9999 }, publish)
    await expect(first).rejects.toMatchObject({ uri: 'svc.error.timeout' })
    transport.receive(17, 1, 4242)
    transport.receive(8, 16, 1, {}, 'wamp.error.not_authorized')
    transport.receive(17, 2, 4243)
    expect(await second).toEqual({ publicationId: 4243 })
    expect(ends).toEqual([])
    transport.end('lost')
    const outcomes = await Promise.allSettled(others)
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']))
  })

  it.each([
    ['SUBSCRIBED', [33, 1, 5]],
    ['REGISTERED', [65, 1, 5]],
    ['ERROR of a call', [8, 32, 1, {}, 'com.e']],
  ])('is not answered by %s', async (_name, message) => {
    const { session, transport, ends } = join()
    const published = session.publish('com.t', { args: [], kwargs: {} }, {})
    transport.receive(...message)
    expect(ends).toEqual(endedWith('lost', VIOLATION))
    await expect(published).rejects.toMatchObject({ uri: 'wamp.error.net_failure' })
  })
})
