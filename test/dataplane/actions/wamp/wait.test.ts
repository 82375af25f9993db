// Operations that come while a session is being opened: they wait, in their places, and are never performed late.

import { describe, expect, it, jest } from '@jest/globals'
import { settled } from '../../../support/settled.ts'
import { stopTimers } from '../../stop-timers.ts'
import {
  type FakeClient,
  exchangeOf,
  wampError as error,
  worldOf,
  type WorldOptions,
} from './wamp-fixture.ts'

stopTimers()

const CALLBACK = { callback: 'https://hooks.acme/x' }

/** What was asked of the client by now. */
const askedOf = ({
  calls,
  published,
  follows,
  registered,
  subscribed,
  released,
}: FakeClient): number =>
  [calls, published, follows, registered, subscribed, released].reduce(
    (sum, { length }) => sum + length,
    0,
  )

const WAITING = [
  ['wamp_call', { type: 'wamp_call', procedure: 'com.acme.add' }],
  ['wamp_publish', { type: 'wamp_publish', topic: 'com.acme.orders' }],
  ['wamp_subscribe', { type: 'wamp_subscribe', topic: 'com.acme.orders' }],
  [
    'wamp_subscribe for a callback',
    { type: 'wamp_subscribe', topic: 'com.acme.orders', kwargs: CALLBACK },
  ],
  ['wamp_register', { type: 'wamp_register', procedure: 'com.acme.add', kwargs: CALLBACK }],
] as const

const waiting = (action: object, options: WorldOptions = {}) => {
  const world = worldOf(action, options, { connect_timeout: 3000 })
  world.client.isOpening = true
  const exchange = exchangeOf()
  world.perform(exchange)
  const [wait] = world.client.waits
  if (wait === undefined) throw new Error('nothing waits')
  return { ...world, exchange, wait, asked: () => askedOf(world.client) }
}

describe.each(WAITING)('%s', (_name, action) => {
  it('waits within connect_timeout, and holds a place', async () => {
    const { wait, calls, asked } = waiting(action)
    await settled()
    expect([asked(), wait.longestMs, calls.used]).toEqual([0, 3000, 1])
  })

  it('is performed once, when waiting is over', async () => {
    const { wait, calls, exchange, asked } = waiting(action)
    wait.onOver()
    await settled()
    expect([asked(), calls.used, exchange.failures]).toEqual([1, 1, []])
  })

  it('the client leaves: it is not performed any more, and its place is free', async () => {
    const { wait, calls, deadlines, exchange, asked } = waiting(action)
    exchange.cancel?.()
    await settled()
    expect([wait.isCancelled, asked()]).toEqual([true, 0])
    expect([calls.used, deadlines.size]).toEqual([0, 0])
    expect([exchange.results, exchange.failures]).toEqual([[], []])
  })

  it('its time is up: it is not performed any more, and its place is free', async () => {
    const { wait, calls, deadlines, exchange, asked } = waiting(action, { callTimeoutMs: 100 })
    jest.advanceTimersByTime(100)
    expect(exchange.failures).toEqual([])
    jest.advanceTimersByTime(10)
    await settled()
    expect(exchange.failures).toMatchObject([{ error_uri: 'svc.error.timeout', status_code: 504 }])
    expect([wait.isCancelled, asked()]).toEqual([true, 0])
    expect([calls.used, deadlines.size]).toEqual([0, 0])
  })

  it('the time that it waited is part of its timeout', async () => {
    const { wait, exchange } = waiting(action, { callTimeoutMs: 100 })
    jest.advanceTimersByTime(60)
    wait.onOver()
    await settled()
    jest.advanceTimersByTime(50)
    expect(exchange.failures).toMatchObject([{ error_uri: 'svc.error.timeout' }])
  })

  it('beyond pool_size no request waits', () => {
    const world = waiting(action, { poolSize: 1 })
    const exchange = exchangeOf()
    world.perform(exchange)
    expect(exchange.failures).toMatchObject([{ error_uri: 'svc.error.overloaded' }])
    expect(world.client.waits).toHaveLength(1)
  })
})

it.each(['wamp_unregister', 'wamp_unsubscribe'])(
  '%s asks who holds it, not the router: it does not wait',
  (type) => {
    const world = worldOf({ type, args: [1] })
    world.client.isOpening = true
    world.perform(exchangeOf())
    expect([world.client.waits[0]?.longestMs ?? 0, world.client.released.length]).toEqual([0, 1])
  },
)

it('a call that is tried again may wait again', () => {
  const action = { type: 'wamp_call', procedure: 'com.acme.add', retries: 1, retry_timeout: 60_000 }
  const { client, wait, exchange } = waiting(action)
  client.throws.push(error('wamp.error.net_failure', { wasSent: false }))
  wait.onOver()
  jest.advanceTimersByTime(1000)
  expect(client.waits).toHaveLength(2)
  client.waits[1]?.onOver()
  expect(client.calls).toHaveLength(2)
  exchange.cancel?.()
  expect(client.calls[1]?.isCancelled).toBe(true)
})
