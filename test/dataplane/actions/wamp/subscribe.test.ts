import { describe, expect, it } from '@jest/globals'
import { GatewayError } from '../../../../dataplane/gateway-error.ts'
import { eventually } from '../../../support/eventually.ts'
import { settled } from '../../../support/settled.ts'
import type { ProbeOptions } from '../exchange-probe.ts'
import {
  eventOf,
  exchangeOf,
  wampError as error,
  worldOf,
  type WorldOptions,
} from './wamp-fixture.ts'

const SUBSCRIBE = { type: 'wamp_subscribe', topic: 'com.acme.orders' }

const started = (options: WorldOptions = {}, probe: ProbeOptions = {}) => {
  const world = worldOf(SUBSCRIBE, options)
  const exchange = exchangeOf(probe)
  world.perform(exchange)
  const [follow] = world.client.follows
  if (follow === undefined) throw new Error('nothing is followed')
  return { ...world, exchange, follow, follower: follow.follower }
}

describe('wamp_subscribe', () => {
  it.each([
    [{}, 'com.acme.orders', {}],
    [{ topic: 'com.acme.', options: { match: 'prefix' } }, 'com.acme.', { match: 'prefix' }],
    [
      { topic: '{{request.path}}', options: { match: 'wildcard', get_retained: true, timeout: 5 } },
      'com..orders',
      { match: 'wildcard', get_retained: true },
    ],
  ])('%j follows a topic', (members, topic, options) => {
    const world = worldOf({ ...SUBSCRIBE, ...members })
    world.perform(exchangeOf({ request: { path: 'com..orders' } }))
    expect(world.client.follows).toMatchObject([{ topic, options, isEnded: false }])
  })

  it('writes the head when the router has acknowledged, then an event for each publication', () => {
    const { exchange, follower } = started()
    expect(exchange.streams).toEqual([])
    follower.onFollowed(5)
    follower.onEvent(eventOf({ publicationId: 1, args: ['a'] }))
    follower.onEvent(eventOf({ publicationId: 2, kwargs: { b: 2 } }))
    const details = { topic: 'com.acme.topic' }
    expect(exchange.streams).toMatchObject([
      {
        result: { subscription_id: 5 },
        sent: [
          { id: '1', result: { publication_id: 1, args: ['a'], kwargs: {}, details } },
          { id: '2', result: { publication_id: 2, args: [], kwargs: { b: 2 }, details } },
        ],
        isOpen: true,
      },
    ])
  })

  it('gives all streams of an event the same result', () => {
    const world = worldOf(SUBSCRIBE)
    const exchanges = [exchangeOf(), exchangeOf()]
    exchanges.forEach(world.perform)
    const event = eventOf()
    for (const { follower } of world.client.follows) follower.onFollowed(1)
    for (const { follower } of world.client.follows) follower.onEvent(event)
    const [first, second] = exchanges.map(({ streams }) => streams[0]?.sent[0]?.result)
    expect(first).toBeDefined()
    expect(first).toBe(second)
  })

  it('holds neither a place nor a deadline once it streams', () => {
    const { calls, deadlines, follower } = started()
    expect([calls.used, deadlines.size]).toEqual([1, 1])
    follower.onFollowed(5)
    expect([calls.used, deadlines.size]).toEqual([0, 0])
  })

  it('ends with the client', () => {
    const { exchange, follow, follower } = started()
    follower.onFollowed(5)
    exchange.cancel?.()
    expect(follow.isEnded).toBe(true)
    follower.onEvent(eventOf())
    follower.onInterrupted()
    expect(exchange.streams).toMatchObject([{ sent: [], comments: [] }])
  })

  it('ends with a client that leaves before the head', () => {
    const { exchange, follow, follower, calls } = started()
    exchange.cancel?.()
    expect([follow.isEnded, calls.used]).toEqual([true, 0])
    follower.onFollowed(5)
    expect(exchange.streams).toEqual([])
  })

  it('ends with a client that is cut off', () => {
    const { exchange, follow, follower } = started()
    follower.onFollowed(5)
    for (const stream of exchange.streams) stream.isOpen = false
    follower.onEvent(eventOf())
    expect(follow.isEnded).toBe(true)
  })

  it('ends where the head is refused', () => {
    const { follow, follower } = started({}, { refusesEvents: true })
    follower.onFollowed(5)
    expect(follow.isEnded).toBe(true)
  })

  it('says when the router is away, and when it is back', () => {
    const { exchange, follower } = started()
    follower.onFollowed(5)
    follower.onInterrupted()
    follower.onResumed()
    follower.onEvent(eventOf())
    expect(exchange.streams).toMatchObject([
      {
        comments: ['router connection lost; events may be missed', 'router connection restored'],
        sent: [{ id: '11' }],
      },
    ])
  })

  it('a topic that the router refuses is an ordinary failure', () => {
    const { exchange, follower, calls } = started()
    follower.onFailure(error('wamp.error.not_authorized'))
    expect(exchange.failures).toMatchObject([
      { error_uri: 'wamp.error.not_authorized', status_code: 403 },
    ])
    expect([exchange.streams, calls.used]).toEqual([[], 0])
  })

  it('a later failure is the last event', () => {
    const { exchange, follower } = started()
    follower.onFollowed(5)
    follower.onFailure(error('wamp.error.no_such_realm'))
    expect(exchange.streams).toMatchObject([
      { failure: { error_uri: 'wamp.error.no_such_realm' }, isOpen: false },
    ])
    expect([exchange.failures, exchange.cancel]).toEqual([[], undefined])
  })

  it('has a deadline up to the acknowledgement', async () => {
    const { exchange, follow, calls } = started({ callTimeoutMs: 10 })
    await eventually(() => {
      expect(exchange.failures).toMatchObject([{ error_uri: 'svc.error.timeout' }])
    })
    expect([follow.isEnded, calls.used]).toEqual([true, 0])
  })

  it('learns of its end before it knows what to end', () => {
    const world = worldOf(SUBSCRIBE)
    const { client } = world
    const follow = client.follow.bind(client)
    client.follow = (topic, options, follower) => {
      const following = follow(topic, options, follower)
      follower.onFollowed(5)
      return following
    }
    world.perform(exchangeOf({ refusesEvents: true }))
    expect(client.follows).toMatchObject([{ isEnded: true }])
  })

  it('needs a client that takes events', () => {
    const world = worldOf(SUBSCRIBE)
    const perform = () => {
      world.perform(exchangeOf({ eventStreams: 'refused' }))
    }
    expect(perform).toThrow(GatewayError)
    expect(perform).toThrow(expect.objectContaining({ code: 'svc.error.not_acceptable' }))
    expect([world.client.follows, world.calls.used]).toEqual([[], 0])
  })

  it('counts against pool_size up to the acknowledgement', () => {
    const world = worldOf(SUBSCRIBE, { poolSize: 1 })
    world.perform(exchangeOf())
    const exchange = exchangeOf()
    world.perform(exchange)
    expect(exchange.failures).toMatchObject([{ error_uri: 'svc.error.overloaded' }])
    expect(world.client.follows).toHaveLength(1)
  })

  it.each([
    [{ topic: '{{request.path}}' }, 'wamp.error.invalid_uri'],
    [{ options: { match: '{{request.path}}' } }, 'wamp.error.invalid_argument'],
    [{ kwargs: { calback: 'x' } }, 'wamp.error.invalid_argument'],
  ])('%j is refused', (members, uri) => {
    const world = worldOf({ ...SUBSCRIBE, ...members })
    const exchange = exchangeOf({ request: { path: 'a..b' } })
    world.perform(exchange)
    expect(exchange.failures).toMatchObject([{ error_uri: uri, status_code: 400 }])
    expect(world.client.follows).toEqual([])
  })
})

describe('wamp_subscribe to a topic that a request completes', () => {
  const TOPIC = 'com.acme.{{request.query_params.room}}.changed'

  it.each([
    [{ topic: TOPIC }, 'lobby', 'com.acme.lobby.changed'],
    [{ topic: TOPIC, options: { match: 'wildcard' } }, 'lobby', 'com.acme.lobby.changed'],
    [{ topic: 'com.acme.{{request.query_params.room}}' }, 'lobby', 'com.acme.lobby'],
  ])('%j and %j', (members, room, topic) => {
    const world = worldOf({ ...SUBSCRIBE, ...members })
    world.perform(exchangeOf({ request: { query_params: { room } } }))
    expect(world.client.follows).toMatchObject([{ topic }])
  })

  it.each([
    [{ topic: TOPIC }, 'a.b'],
    [{ topic: TOPIC, options: { match: 'wildcard' } }, ''],
    [{ topic: TOPIC, options: { match: 'wildcard' } }, '.'],
    [{ topic: 'com.acme.{{request.query_params.room}}', options: { match: 'prefix' } }, ''],
    [{ topic: 'com.acme.{{request.query_params.room}}', options: { match: 'prefix' } }, 'a.'],
  ])('%j and %j are refused', (members, room) => {
    const world = worldOf({ ...SUBSCRIBE, ...members })
    const exchange = exchangeOf({ request: { query_params: { room } } })
    world.perform(exchange)
    expect(exchange.failures).toMatchObject([
      { error_uri: 'wamp.error.invalid_uri', status_code: 400 },
    ])
    expect(world.client.follows).toEqual([])
  })
})

describe('wamp_subscribe with a callback', () => {
  const url = 'https://hooks.acme/events?key=secret'
  const action = { ...SUBSCRIBE, options: { match: 'prefix' }, kwargs: { callback: url } }

  it('has events posted, and answers with the id, whatever the client accepts', async () => {
    const targets: unknown[] = []
    const onEvent = () => undefined
    const callbacks = {
      events: (target: unknown) => {
        targets.push(target)
        return { onEvent, onEnd: () => undefined }
      },
    }
    const world = worldOf(action, { callbacks })
    const exchange = exchangeOf({ eventStreams: 'refused' })
    world.perform(exchange)
    const [subscription] = world.client.subscribed
    expect(subscription).toMatchObject({
      topic: 'com.acme.orders',
      options: { match: 'prefix' },
      callback: 'https://hooks.acme/events',
    })
    expect(subscription?.onEvent).toBe(onEvent)
    expect(targets).toMatchObject([
      { url: { origin: 'https://hooks.acme', path: '/events?key=secret' } },
    ])
    subscription?.resolve({ id: 4711 })
    await settled()
    expect(exchange.results).toEqual([{ subscription_id: 4711 }])
    expect(world.client.follows).toEqual([])
  })

  it('whose id reaches no client is released again', async () => {
    const world = worldOf(action)
    const exchange = exchangeOf()
    world.perform(exchange)
    exchange.cancel?.()
    world.client.subscribed[0]?.resolve({ id: 4711 })
    await settled()
    expect(world.client.released).toMatchObject([{ kind: 'subscription', id: 4711 }])
    world.client.released[0]?.reject(error('wamp.error.net_failure'))
    await settled()
    expect(exchange.failures).toEqual([])
  })
})
