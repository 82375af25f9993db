import { describe, expect, it, jest } from '@jest/globals'
import { peerError } from '../../../../dataplane/wamp/session/joined-session.ts'
import { ExpressionError } from '../../../../language/expression/errors.ts'
import { stopTimers } from '../../stop-timers.ts'
import {
  exchangeOf,
  wampError as error,
  resultOf,
  worldOf,
  type WorldOptions,
} from './wamp-fixture.ts'

stopTimers()

const pass = (ms: number): void => {
  jest.advanceTimersByTime(ms)
}

const PLAIN = { type: 'wamp_call', procedure: 'com.acme.add', args: [1], kwargs: { a: 'b' } }

const started = (action: object = PLAIN, options: WorldOptions = {}, exchange = exchangeOf()) => {
  const world = worldOf(action, options)
  world.perform(exchange)
  const [call] = world.client.calls
  return { ...world, exchange, call }
}

describe('wamp_call', () => {
  it('sends what the document says and succeeds with all of the result', () => {
    const { call, exchange, calls, deadlines } = started()
    expect(call?.request).toEqual({
      procedure: 'com.acme.add',
      options: {},
      args: [1],
      kwargs: { a: 'b' },
    })
    expect(call?.handler).not.toHaveProperty('onProgress')
    expect([calls.used, deadlines.size]).toEqual([1, 1])
    call?.handler.onResult(resultOf({ args: [2], kwargs: { c: 3 }, details: { callee: 4 } }))
    expect(exchange.results).toEqual([
      { request_id: 7, args: [2], kwargs: { c: 3 }, details: { callee: 4 } },
    ])
    expect([calls.used, deadlines.size]).toEqual([0, 0])
    expect(exchange.cancel).toBeUndefined()
  })

  it('takes its members from the request', () => {
    const action = {
      type: 'wamp_call',
      procedure: '"com.acme.{{request.bindings.name}}"',
      args: ['{{request.body.n}}'],
      kwargs: '{{request.body.more}}',
    }
    const request = { bindings: { name: 'mul' }, body: { n: 5, more: { deep: [true, null] } } }
    const { call } = started(action, {}, exchangeOf({ request }))
    expect(call?.request).toEqual({
      procedure: 'com.acme.mul',
      options: {},
      args: [5],
      kwargs: { deep: [true, null] },
    })
  })

  it.each([
    ['wamp.error.no_such_procedure', 501],
    ['wamp.error.canceled', 400],
    ['com.acme.error.own', 500],
    ['constructor', 500],
  ])('an ERROR %s fails with status %d and all that came with it', (uri, status) => {
    const { call, exchange, calls } = started()
    call?.handler.onFailure(error(uri, { args: ['why'], kwargs: { k: 1 }, details: { d: 2 } }))
    expect(exchange.failures).toEqual([
      {
        error_uri: uri,
        args: ['why'],
        kwargs: { k: 1 },
        details: { d: 2 },
        status_code: status,
        headers: {},
        body: '',
        message: `it was ${uri}`,
      },
    ])
    expect(calls.used).toBe(0)
  })

  it.each([
    ['wamp.error.no_such_procedure', 'The router knows no such procedure: com.acme.add'],
    ['com.acme.error.own', 'com.acme.error.own'],
    ['constructor', 'constructor'],
  ])('an ERROR %s without a word is reported as %s', (uri, message) => {
    const { call, exchange } = started()
    call?.handler.onFailure(peerError(uri, uri, { args: [{ secret: 1 }] }))
    expect(exchange.failures).toMatchObject([{ error_uri: uri, message }])
  })

  it("the document's own status codes win", () => {
    const exchange = exchangeOf({ statusCodes: { 'com.acme.error.own': 418 } })
    const { call } = started(PLAIN, {}, exchange)
    call?.handler.onFailure(error('com.acme.error.own'))
    expect(exchange.failures).toMatchObject([{ status_code: 418 }])
  })

  it('what is thrown instead of sent fails the action', () => {
    const world = worldOf(PLAIN)
    world.client.throws.push(error('wamp.error.net_failure', { wasSent: false }))
    const exchange = exchangeOf()
    world.perform(exchange)
    expect(exchange.failures).toMatchObject([
      { error_uri: 'wamp.error.net_failure', status_code: 502 },
    ])
    expect(world.calls.used).toBe(0)
  })

  it('a bug is refused, not answered as a failure of the action', () => {
    const world = worldOf(PLAIN)
    world.client.throws.push(new TypeError('a bug'))
    const exchange = exchangeOf()
    expect(() => {
      world.perform(exchange)
    }).toThrow('a bug')
    expect(exchange.refusals).toHaveLength(1)
    expect(world.calls.used).toBe(0)
  })

  it('the client leaves: the call is cancelled and nothing is reported', () => {
    const { call, exchange, calls, deadlines } = started()
    exchange.cancel?.()
    expect(call?.isCancelled).toBe(true)
    call?.handler.onResult(resultOf())
    call?.handler.onFailure(error('wamp.error.canceled'))
    expect([exchange.results, exchange.failures]).toEqual([[], []])
    expect([calls.used, deadlines.size]).toEqual([0, 0])
  })

  it('beyond pool_size it is overloaded at once, and nothing is sent', () => {
    const world = worldOf(PLAIN, { poolSize: 1 })
    world.perform(exchangeOf())
    const exchange = exchangeOf()
    world.perform(exchange)
    expect(exchange.failures).toMatchObject([
      { error_uri: 'svc.error.overloaded', status_code: 503 },
    ])
    expect(world.client.calls).toHaveLength(1)
    world.client.calls[0]?.handler.onResult(resultOf())
    world.perform(exchangeOf())
    expect(world.client.calls).toHaveLength(2)
  })
})

describe('the deadline of a call', () => {
  it.each([
    ["the realm's", {}, { callTimeoutMs: 20 }],
    ["the operation's", { timeout: 20 }, {}],
    ['options.timeout', { options: { timeout: 20 }, timeout: 90_000 }, {}],
    ['timeout where options.timeout is 0', { options: { timeout: 0 }, timeout: 20 }, {}],
  ])('is %s', (_, members, options) => {
    const { call, exchange, calls } = started({ ...PLAIN, ...members }, options)
    pass(20)
    expect(exchange.failures).toEqual([])
    pass(10)
    expect(exchange.failures).toMatchObject([{ error_uri: 'svc.error.timeout', status_code: 504 }])
    expect(call?.isCancelled).toBe(true)
    expect(call?.request.options).toEqual({})
    expect(calls.used).toBe(0)
    call?.handler.onResult(resultOf())
    expect(exchange.results).toEqual([])
  })

  it('does not strike before its time', () => {
    const { call, exchange } = started(
      { ...PLAIN, options: { timeout: 60_000 } },
      { callTimeoutMs: 5 },
    )
    pass(60_000)
    expect(exchange.failures).toEqual([])
    call?.handler.onResult(resultOf())
    expect(exchange.results).toHaveLength(1)
  })

  it.each([
    [undefined, 1500, {}],
    ['ms', 1500, { timeout: 1500 }],
    ['s', 1500, { timeout: 2 }],
    ['s', 1, { timeout: 1 }],
    ['ms', 0, {}],
  ] as const)('realm unit %s: options.timeout %d is sent as %j', (unit, timeout, sent) => {
    const world = worldOf({ ...PLAIN, options: { timeout } })
    world.client.callTimeoutUnit = unit
    world.perform(exchangeOf())
    expect(world.client.calls[0]?.request.options).toEqual(sent)
  })
})

describe('retries of a call', () => {
  const RETRIED = { ...PLAIN, retries: 2, retry_timeout: 60_000 }

  it.each([
    ['wamp.error.net_failure', false],
    ['wamp.error.no_such_realm', false],
    ['wamp.error.no_eligible_callee', true],
    ['wamp.error.network_failure', true],
  ])('%s, sent %s: again, up to the count', (uri, wasSent) => {
    const { client, exchange, calls } = started(RETRIED)
    for (let attempt = 1; attempt <= 3; attempt++) {
      expect(client.calls).toHaveLength(attempt)
      expect(exchange.failures).toEqual([])
      expect(calls.used).toBe(1)
      client.calls[attempt - 1]?.handler.onFailure(error(uri, { wasSent }))
      pass(1000)
    }
    expect(exchange.failures).toMatchObject([{ error_uri: uri }])
    expect(calls.used).toBe(0)
  })

  it.each([
    ['wamp.error.net_failure', true],
    ['wamp.error.no_such_procedure', true],
    ['wamp.error.canceled', true],
    ['wamp.error.invalid_argument', false],
    ['svc.error.overloaded', false],
  ])('%s, sent %s: not again', (uri, wasSent) => {
    const { call, exchange } = started(RETRIED)
    call?.handler.onFailure(error(uri, { wasSent }))
    expect(exchange.failures).toMatchObject([{ error_uri: uri }])
  })

  it('what is thrown is tried again too, and a later response counts', () => {
    const world = worldOf(RETRIED)
    world.client.throws.push(error('wamp.error.net_failure', { wasSent: false }))
    const exchange = exchangeOf()
    world.perform(exchange)
    pass(1000)
    expect(world.client.calls).toHaveLength(2)
    world.client.calls[1]?.handler.onResult(resultOf({ args: ['second'] }))
    expect(exchange.results).toMatchObject([{ args: ['second'] }])
  })

  it('not beyond retry_timeout', () => {
    const { call, exchange } = started({ ...RETRIED, retry_timeout: 1 })
    call?.handler.onFailure(error('wamp.error.no_eligible_callee'))
    expect(exchange.failures).toHaveLength(1)
  })

  it('ends with the client', () => {
    const { call, client, exchange, calls } = started(RETRIED)
    call?.handler.onFailure(error('wamp.error.no_eligible_callee'))
    exchange.cancel?.()
    expect(calls.used).toBe(0)
    pass(60_000)
    expect(client.calls).toHaveLength(1)
  })
})

describe('progressive results of a call', () => {
  const streaming = (options: WorldOptions = {}) =>
    started(PLAIN, options, exchangeOf({ eventStreams: 'preferred' }))

  it('are events, and so is the result', () => {
    const { call, exchange, calls } = streaming()
    expect(exchange.streams).toEqual([])
    call?.handler.onProgress?.(resultOf({ args: [1] }))
    call?.handler.onProgress?.(resultOf({ args: [2] }))
    call?.handler.onResult(resultOf({ args: [3] }))
    const view = (n: number) => ({ request_id: 7, args: [n], kwargs: {}, details: {} })
    expect(exchange.streams).toMatchObject([
      {
        result: view(1),
        sent: [
          { name: 'progress', result: view(1) },
          { name: 'progress', result: view(2) },
          { name: 'result', result: view(3) },
        ],
        failure: undefined,
        isOpen: false,
      },
    ])
    expect([exchange.results, calls.used]).toEqual([[], 0])
  })

  it('a result alone is a stream of one event', () => {
    const { call, exchange } = streaming()
    call?.handler.onResult(resultOf({ args: [3] }))
    expect(exchange.streams).toMatchObject([{ sent: [{ name: 'result' }], isOpen: false }])
  })

  it('a failure before the first event is an ordinary response', () => {
    const { call, exchange } = streaming()
    call?.handler.onFailure(error('wamp.error.no_such_procedure'))
    expect(exchange.failures).toMatchObject([{ status_code: 501 }])
    expect(exchange.streams).toEqual([])
  })

  it('a failure after it is an event, and nothing is tried again', () => {
    const exchange = exchangeOf({ eventStreams: 'preferred' })
    const { call, client } = started({ ...PLAIN, retries: 3 }, {}, exchange)
    call?.handler.onProgress?.(resultOf())
    call?.handler.onFailure(error('wamp.error.no_eligible_callee'))
    expect(exchange.failures).toEqual([])
    expect(exchange.streams).toMatchObject([
      { failure: { error_uri: 'wamp.error.no_eligible_callee' } },
    ])
    expect(client.calls).toHaveLength(1)
  })

  it('the deadline holds for each pause', () => {
    const { call, exchange } = streaming({ callTimeoutMs: 40 })
    for (let n = 0; n < 4; n++) {
      pass(40)
      call?.handler.onProgress?.(resultOf())
    }
    expect(exchange.streams[0]?.sent).toHaveLength(4)
    pass(50)
    expect(exchange.streams[0]?.failure).toMatchObject({ error_uri: 'svc.error.timeout' })
    expect(call?.isCancelled).toBe(true)
  })

  it.each(['a head that is refused', 'a client that is cut off'])('%s ends the call', (what) => {
    const isHead = what.startsWith('a head')
    const exchange = exchangeOf({ eventStreams: 'preferred', refusesEvents: isHead })
    const { call, calls } = started(PLAIN, {}, exchange)
    if (!isHead) {
      call?.handler.onProgress?.(resultOf())
      for (const stream of exchange.streams) stream.isOpen = false
    }
    call?.handler.onProgress?.(resultOf())
    expect([call?.isCancelled, calls.used]).toEqual([true, 0])
    call?.handler.onProgress?.(resultOf())
    call?.handler.onResult(resultOf())
    expect([exchange.results, exchange.failures]).toEqual([[], []])
  })

  it.each(['accepted', 'refused'] as const)('are not requested where events are %s', (events) => {
    const { call } = started(PLAIN, {}, exchangeOf({ eventStreams: events }))
    expect(call?.handler).not.toHaveProperty('onProgress')
  })
})

describe('what a call refuses before it is sent', () => {
  it.each([
    ['a procedure', { procedure: '{{request.body.x}}' }, 'a b', 'wamp.error.invalid_uri'],
    ['no procedure', { procedure: '{{request.body.x}}' }, 5, 'wamp.error.invalid_uri'],
    ['args', { args: '{{request.body.x}}' }, 'no list', 'wamp.error.invalid_argument'],
    ['kwargs', { kwargs: '{{request.body.x}}' }, [], 'wamp.error.invalid_argument'],
    ['options', { options: '{{request.body.x}}' }, 'no map', 'wamp.error.invalid_argument'],
    [
      'an option',
      { options: { timeout: '{{request.body.x}}' } },
      1.5,
      'wamp.error.invalid_argument',
    ],
    ['text', { args: ['{{request.body.x}}'] }, '\ud800', 'wamp.error.invalid_argument'],
  ])('%s', (_, members, x, uri) => {
    const exchange = exchangeOf({ request: { body: { x } } })
    const { client, calls } = started({ ...PLAIN, ...members }, {}, exchange)
    expect(exchange.failures).toMatchObject([{ error_uri: uri, status_code: 400 }])
    expect([client.calls, calls.used]).toEqual([[], 0])
  })

  describe('of values inside a longer procedure', () => {
    const variables = {
      id: '{{request.bindings.id}}',
      orders: 'com.acme.orders',
      late: 'com.acme.{{request.bindings.id}}',
      early: 'com.acme.{{request.bindings.plain}}',
      kinds: { new: 'create.now', old: 'update' },
    }
    const security = { authid: 'a.b', client_id: 'c.d', realm_uri: 'com.acme', type: 'basic' }
    const request = {
      bindings: { id: 'admin.purge_all', plain: 'x', kind: 'new' },
      body: { uri: 'com.acme.any', n: 1.5, list: ['a.b'] },
      host: 'api.acme.com',
    }
    const performed = (procedure: string) => {
      const exchange = exchangeOf({ request, security })
      const { client, perform } = worldOf({ ...PLAIN, procedure }, {}, {}, { variables })
      perform(exchange)
      return { exchange, client }
    }

    it.each([
      'com.acme.orders.{{request.bindings.id}}',
      '"com.acme.orders.{{request.bindings.id}}"',
      '{{request.bindings.id}}.get',
      'x{{request.bindings.id}}',
      'com.acme.{{variables.id}}',
      '{{variables.late}}',
      '"{{variables.late}}"',
      '{{variables.late}}.get',
      'com.{{request.bindings.id |> string}}',
      'com.{{request.body.n}}',
      'com.{{request.body.list}}',
      'com.{{request.host}}.get',
      'com.users.{{security.authid}}.get',
      'com.clients.{{security.client_id}}',
    ])('%s is refused', (procedure) => {
      const { exchange, client } = performed(procedure)
      expect(exchange.failures).toMatchObject([
        { error_uri: 'wamp.error.invalid_uri', status_code: 400 },
      ])
      expect(client.calls).toEqual([])
      expect(JSON.stringify(exchange.failures)).not.toContain('purge_all')
    })

    it.each([
      ['com.acme.{{request.bindings.plain}}', 'com.acme.x'],
      ['{{variables.early}}.get', 'com.acme.x.get'],
      ['{{request.bindings.id}}', 'admin.purge_all'],
      ['"{{request.body.uri}}"', 'com.acme.any'],
      ['"{{variables.id}}"', 'admin.purge_all'],
      ['{{variables.orders}}.{{request.bindings.plain}}', 'com.acme.orders.x'],
      ['com.{{variables.kinds |> get({{request.bindings.kind}})}}', 'com.create.now'],
      ['{{security.realm_uri}}.{{security.type}}', 'com.acme.basic'],
      ['com.{{request.bindings.id |> base64:encode}}', 'com.YWRtaW4ucHVyZ2VfYWxs'],
    ])('%s calls %s', (procedure, called) => {
      const { exchange, client } = performed(procedure)
      expect(exchange.failures).toEqual([])
      expect(client.calls.map(({ request }) => request.procedure)).toEqual([called])
    })
  })

  it('constants are refused at each request', () => {
    const { perform } = worldOf({ ...PLAIN, args: ['\u0000'] })
    for (const exchange of [exchangeOf(), exchangeOf()]) {
      perform(exchange)
      expect(exchange.failures).toMatchObject([
        {
          error_uri: 'wamp.error.invalid_argument',
          message: 'args[0]: the text begins with U+0000, which not every WAMP router carries',
        },
      ])
    }
  })

  it.each(['procedure', 'args', 'kwargs', 'options', 'timeout'])(
    'an expression of %s that fails comes before what is wrong with the data',
    (name) => {
      const failing = '{{request.body.nope}}'
      const members = { args: ['\u0000'], [name]: name === 'args' ? [failing] : failing }
      expect(() => started({ ...PLAIN, ...members })).toThrow(ExpressionError)
    },
  )
})

describe('the caller of a call', () => {
  const security = {
    type: 'basic',
    authid: 'alice',
    authmethod: 'password',
    authroles: ['admin', 'user'],
    meta: { secret: 1 },
  }
  const FORWARDING = {
    ...PLAIN,
    kwargs: '{{request.body}}',
    options: { forward_identity: true, disclose_me: true },
  }
  const kwargsOf = (body: object, who = security) => {
    const { call } = started(FORWARDING, {}, exchangeOf({ request: { body }, security: who }))
    expect(call?.request.options).toEqual({ disclose_me: true })
    return call?.request.kwargs
  }
  const ALICE = { authid: 'alice', authrole: 'admin', authmethod: 'password', realm: 'com.acme' }

  it('is passed on where the document says so', () => {
    expect(kwargsOf({ a: 1 })).toEqual({ a: 1, _caller: ALICE })
  })

  it('overwrites what the client says of it', () => {
    expect(kwargsOf({ _caller: { authid: 'root' } })).toEqual({ _caller: ALICE })
  })

  it('is empty where no caller was authenticated', () => {
    const { call } = started(FORWARDING, {}, exchangeOf({ request: { body: {} } }))
    expect(call?.request.kwargs).toEqual({
      _caller: {
        authid: null,
        authrole: 'anonymous',
        authmethod: 'anonymous',
        realm: 'com.acme',
      },
    })
  })

  it('has no role where there is none', () => {
    expect(kwargsOf({}, { ...security, authroles: [] })).toEqual({
      _caller: { ...ALICE, authrole: null },
    })
  })

  it.each([{}, { options: { forward_identity: false } }])(
    'can not be forged with %j',
    (members) => {
      const exchange = exchangeOf({ request: { body: { _caller: { authid: 'root' } } }, security })
      const action = { ...PLAIN, kwargs: '{{request.body}}', ...members }
      const { client } = started(action, {}, exchange)
      expect(exchange.failures).toMatchObject([
        { error_uri: 'wamp.error.invalid_argument', status_code: 400 },
      ])
      expect(client.calls).toEqual([])
    },
  )
})
