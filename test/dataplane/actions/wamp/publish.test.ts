import { describe, expect, it } from '@jest/globals'
import { eventually } from '../../../support/eventually.ts'
import { settled } from '../../../support/settled.ts'
import { exchangeOf, wampError as error, worldOf, type WorldOptions } from './wamp-fixture.ts'

const PUBLISH = {
  type: 'wamp_publish',
  topic: 'com.acme.orders',
  args: ['{{request.body.n}}'],
  kwargs: { a: 1 },
}

const started = (members: object = {}, options: WorldOptions = {}, body: object = { n: 5 }) => {
  const world = worldOf({ ...PUBLISH, ...members }, options)
  const exchange = exchangeOf({ request: { body } })
  world.perform(exchange)
  const [publication] = world.client.published
  return { ...world, exchange, publication }
}

describe('wamp_publish', () => {
  it.each([{}, { procedure: 'com.acme.orders', topic: undefined }])(
    'is acknowledged and gives the id of the publication (%j)',
    async (members) => {
      const document: Record<string, unknown> = { ...PUBLISH, ...members }
      if (document['topic'] === undefined) delete document['topic']
      const world = worldOf(document)
      const exchange = exchangeOf({ request: { body: { n: 5 } } })
      world.perform(exchange)
      const [publication] = world.client.published
      expect(publication).toMatchObject({
        topic: 'com.acme.orders',
        payload: { args: [5], kwargs: { a: 1 } },
        options: { exclude_me: false, acknowledge: true },
      })
      expect(world.calls.used).toBe(1)
      publication?.resolve({ publicationId: 99 })
      await settled()
      expect(exchange.results).toEqual([{ publication_id: 99 }])
      expect([world.calls.used, world.deadlines.size]).toEqual([0, 0])
    },
  )

  it('fails as the router says', async () => {
    const { publication, exchange } = started()
    publication?.reject(error('wamp.error.not_authorized'))
    await settled()
    expect(exchange.failures).toMatchObject([
      { error_uri: 'wamp.error.not_authorized', status_code: 403 },
    ])
  })

  it('has a deadline', async () => {
    const { publication, exchange, calls } = started({}, { callTimeoutMs: 10 })
    await eventually(() => {
      expect(exchange.failures).toMatchObject([{ error_uri: 'svc.error.timeout' }])
    })
    expect(calls.used).toBe(0)
    publication?.resolve({ publicationId: 1 })
    await settled()
    expect(exchange.results).toEqual([])
  })

  it('counts against pool_size', () => {
    const world = worldOf(PUBLISH, { poolSize: 0 })
    const exchange = exchangeOf({ request: { body: { n: 5 } } })
    world.perform(exchange)
    expect(exchange.failures).toMatchObject([{ error_uri: 'svc.error.overloaded' }])
    expect(world.client.published).toEqual([])
  })

  it('reports nothing to a client that has left', async () => {
    const { publication, exchange, calls } = started()
    exchange.cancel?.()
    publication?.reject(error('wamp.error.net_failure'))
    await settled()
    expect([exchange.failures, calls.used]).toEqual([[], 0])
  })

  it.each([
    [{ topic: '{{request.body.n}}' }, { n: 'a b' }, 'wamp.error.invalid_uri', 'topic: '],
    [{}, { n: '\ud800' }, 'wamp.error.invalid_argument', 'args[0]: '],
    [
      { kwargs: '{{request.body}}' },
      { n: 1, _caller: 1 },
      'wamp.error.invalid_argument',
      'kwargs._caller: ',
    ],
    [{ options: { exclude: 'x' } }, { n: 1 }, 'wamp.error.invalid_argument', 'options.exclude: '],
  ])('%j refuses %j', (members, body, uri, place) => {
    const { exchange, client } = started(members, {}, body)
    expect(exchange.failures).toMatchObject([
      { error_uri: uri, status_code: 400, message: expect.stringContaining(place) },
    ])
    expect(client.published).toEqual([])
  })

  it('passes the caller on where the document says so', () => {
    const { publication } = started({ options: { forward_identity: true } })
    expect(publication?.payload.kwargs).toMatchObject({ a: 1, _caller: { realm: 'com.acme' } })
    expect(publication?.options).toEqual({ exclude_me: false, acknowledge: true })
  })
})
