import { describe, expect, it } from '@jest/globals'
import { settled } from '../../../support/settled.ts'
import { exchangeOf, wampError as error, worldOf, type WorldOptions } from './wamp-fixture.ts'

const REGISTER = {
  type: 'wamp_register',
  procedure: 'com.acme.hook',
  options: { invoke: 'roundrobin' },
  kwargs: '{{request.body}}',
}

const started = (callback: unknown, options: WorldOptions = {}, more: object = {}) => {
  const world = worldOf(REGISTER, options)
  const exchange = exchangeOf({ request: { body: { callback, ...more } } })
  world.perform(exchange)
  return { ...world, exchange }
}

describe('wamp_register', () => {
  it('registers the procedure for a callback and gives its id', async () => {
    const handler = () => Promise.resolve({ args: [], kwargs: {} })
    const targets: unknown[] = []
    const callbacks = {
      invocations: (target: unknown) => {
        targets.push(target)
        return handler
      },
    }
    const { client, exchange, calls } = started('https://hooks.acme/x?y=z#f', { callbacks })
    const [registration] = client.registered
    expect(registration).toMatchObject({
      procedure: 'com.acme.hook',
      options: { invoke: 'roundrobin' },
      callback: 'https://hooks.acme/x',
    })
    expect(registration?.handler).toBe(handler)
    expect(targets).toMatchObject([{ url: { origin: 'https://hooks.acme', path: '/x?y=z' } }])
    expect(calls.used).toBe(1)
    registration?.resolve({ id: 12 })
    await settled()
    expect(exchange.results).toEqual([{ registration_id: 12 }])
    expect(calls.used).toBe(0)
  })

  it('fails as the router says', async () => {
    const { client, exchange } = started('https://hooks.acme/')
    client.registered[0]?.reject(error('wamp.error.procedure_already_exists'))
    await settled()
    expect(exchange.failures).toMatchObject([{ status_code: 400 }])
  })

  it('whose id reaches no client is released again', async () => {
    const { client, exchange } = started('https://hooks.acme/')
    exchange.cancel?.()
    client.registered[0]?.resolve({ id: 12 })
    await settled()
    expect(client.released).toMatchObject([{ kind: 'registration', id: 12 }])
    client.released[0]?.resolve(true)
  })

  it.each([
    ['https://HOOKS.acme:443/a', ['https://hooks.acme']],
    ['http://127.0.0.1:8080/a', ['http://127.0.0.1:8080/']],
    ['http://2130706433/', ['http://127.0.0.1']],
    ['https://hooks.acme\\@evil/', ['https://hooks.acme']],
  ])('%s is among %j', (callback, origins) => {
    const { client } = started(callback, { rules: { callback_origins: origins } })
    expect(client.registered).toHaveLength(1)
  })

  it.each([
    ['https://hooks.acme.evil/', ['https://hooks.acme']],
    ['http://hooks.acme/', ['https://hooks.acme']],
    ['https://hooks.acme:8443/', ['https://hooks.acme']],
    ['https://sub.hooks.acme/', ['https://hooks.acme']],
    ['https://hooks.acme/', []],
    ['https://hooks.acme/', ['https://', 'null', '*', 'https://*']],
  ])('%s is not among %j: 403', (callback, origins) => {
    const { client, exchange } = started(callback, { rules: { callback_origins: origins } })
    expect(exchange.failures).toMatchObject([
      {
        error_uri: 'wamp.error.not_authorized',
        status_code: 403,
        message: expect.stringMatching(/^kwargs\.callback: \S+ is not among the callback_origins/),
      },
    ])
    expect(client.registered).toEqual([])
  })

  it('no callback is called where the realm lists no origins', () => {
    const { exchange } = started('https://hooks.acme/', { rules: {} })
    expect(exchange.failures).toMatchObject([{ status_code: 403 }])
  })

  it('without a realm there is none', () => {
    const { exchange } = started('https://hooks.acme/', { rules: undefined })
    expect(exchange.failures).toMatchObject([{ error_uri: 'wamp.error.no_such_realm' }])
  })

  it.each([
    undefined,
    null,
    5,
    '',
    'hooks.acme/x',
    '/x',
    'ftp://hooks.acme/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'javascript:alert(1)',
    'https://user@hooks.acme/',
    'https://:pw@hooks.acme/',
    `https://hooks.acme/${'x'.repeat(5000)}`,
    ['https://hooks.acme/'],
  ])('%j is no callback', (callback) => {
    const { client, exchange } = started(callback)
    expect(exchange.failures).toMatchObject([
      {
        error_uri: 'wamp.error.invalid_argument',
        status_code: 400,
        message: expect.stringMatching(/^kwargs\.callback: /),
      },
    ])
    expect(client.registered).toEqual([])
  })

  it('takes nothing beside it', () => {
    const { client, exchange } = started('https://hooks.acme/', {}, { secret: 'x' })
    expect(exchange.failures).toMatchObject([
      { status_code: 400, message: 'kwargs.secret: this action accepts only `callback`' },
    ])
    expect(client.registered).toEqual([])
  })
})

describe.each([
  ['wamp_unregister', 'registration'],
  ['wamp_unsubscribe', 'subscription'],
] as const)('%s', (type, kind) => {
  const releasing = (id: unknown, members: object = {}) => {
    const world = worldOf({ type, args: ['{{request.body.id}}'], ...members })
    const exchange = exchangeOf({ request: { body: { id } } })
    world.perform(exchange)
    return { ...world, exchange }
  }

  it.each([
    [4711, 4711],
    ['4711', 4711],
    [2 ** 53 - 1, 2 ** 53 - 1],
  ])(`ends the ${kind} %j`, async (id, expected) => {
    const { client, exchange, calls } = releasing(id)
    expect(client.released).toMatchObject([{ kind, id: expected }])
    client.released[0]?.resolve(true)
    await settled()
    expect(exchange.results).toEqual([{}])
    expect(calls.used).toBe(0)
  })

  it('tells that there is none', async () => {
    const { client, exchange } = releasing(1)
    client.released[0]?.resolve(false)
    await settled()
    expect(exchange.failures).toMatchObject([
      { error_uri: `wamp.error.no_such_${kind}`, status_code: 502 },
    ])
  })

  it.each([-1, 1.5, '', 'x', '0x1', '99999999999999999', null, true, {}, [1], 2 ** 53])(
    '%j is no id',
    (id) => {
      const { client, exchange } = releasing(id)
      expect(exchange.failures).toMatchObject([
        { error_uri: 'wamp.error.invalid_argument', status_code: 400 },
      ])
      expect(client.released).toEqual([])
    },
  )

  it.each([{ args: [] }, { args: [1, 2] }, { args: '{{request.body}}' }])('%j', (members) => {
    const { exchange } = releasing(1, members)
    expect(exchange.failures).toMatchObject([{ error_uri: 'wamp.error.invalid_argument' }])
  })
})
