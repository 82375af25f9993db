// The choice among several hosts of a forward, and what becomes of retries, over real sockets where they matter.

import { describe, expect, it } from '@jest/globals'
import { type HostHealthEvent, prepareHosts } from '../../../../dataplane/actions/forward/hosts.ts'
import type { HostChoice } from '../../../../dataplane/actions/forward/request.ts'
import { Context } from '../../../../dataplane/context.ts'
import { createGuard } from '../../../../dataplane/upstream/destinations/guard.ts'
import { createUpstream } from '../../../../dataplane/upstream/pooled-upstream.ts'
import type { WeightedHost } from '../../../../language/compile/hosts.ts'
import { constant, type Template } from '../../../../language/expression/template.ts'
import type { Value } from '../../../../language/expression/value.ts'
import { listenRaw, type Listening } from '../../upstream/servers.ts'
import { call, operationOf, READ_ALL, read, startGateway, text } from './forward-fixture.ts'
import type { Gateway, GatewayOptions, OperationParts } from './forward-fixture.ts'
import { closers, opened, serving } from './forward-rig.ts'
import { SYSTEM_CLOCK } from '../../../../dataplane/upstream/retry.ts'

const template = (value: Value | Template): Template =>
  typeof value === 'object' && value !== null && 'kind' in value
    ? (value as Template)
    : constant(value)

const hostsOf = (
  ...pairs: readonly (readonly [host: Value | Template, weight: Value | Template])[]
): readonly WeightedHost[] =>
  pairs.map(([host, weight]) => ({ host: template(host), weight: template(weight) }))

const contextWith = (params: Readonly<Record<string, string>>): Context => {
  const context = new Context()
  Object.assign(context.request, { query_params: params, body: null })
  return context
}

const NO_CALLER = contextWith({})
const param = (name: string): Template => read(`request.query_params.${name}`)

/** Every hundredth from 0 on, over and over: shares come out exactly. */
const evenly = (): (() => number) => {
  let at = 0
  return () => (at++ % 100) / 100
}

const countOf = (origins: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const origin of origins) {
    const { hostname } = new URL(origin)
    counts[hostname] = (counts[hostname] ?? 0) + 1
  }
  return counts
}

const hundred = (choose: () => HostChoice): Readonly<Record<string, number>> =>
  countOf(Array.from({ length: 100 }, () => choose().origin))

describe('the shares of hosts', () => {
  it.each<[string, readonly WeightedHost[], Record<string, string>, Record<string, number>]>([
    ['one', hostsOf(['a', 7]), {}, { a: 100 }],
    ['90 and 10', hostsOf(['a', 90], ['b', 10]), {}, { a: 90, b: 10 }],
    ['of a sum that is not 100', hostsOf(['a', 1], ['b', 3]), {}, { a: 25, b: 75 }],
    ['the last one of 0', hostsOf(['a', 1], ['b', 0]), {}, { a: 100 }],
    ['the first one of 0', hostsOf(['a', 0], ['b', 2], ['c', 2]), {}, { b: 50, c: 50 }],
    ['by expression', hostsOf(['a', 1], ['b', param('w')]), { w: '4' }, { a: 20, b: 80 }],
    ['by expression, of 0', hostsOf(['a', param('w')], ['b', 1]), { w: '0' }, { b: 100 }],
    ['of a host by expression', hostsOf(['a', 1], [param('h'), 1]), { h: 'b' }, { a: 50, b: 50 }],
    ['all by expression', hostsOf([param('h'), param('w')]), { h: 'a', w: '1' }, { a: 100 }],
    [
      'of a host that would be none, but gets nothing',
      hostsOf(['a', 1], [param('nope'), 0]),
      {},
      { a: 100 },
    ],
  ])('%s', (_, hosts, params, shares) => {
    const choose = prepareHosts(hosts, { clock: { now: () => 0, random: evenly() } })
    const context = contextWith(params)
    expect(hundred(() => choose(context))).toEqual(shares)
  })

  it.each<[string, readonly WeightedHost[], Record<string, string>, object]>([
    ['null', hostsOf(['a', read('request.body')]), {}, { name: 'ExpressionError' }],
    ['a missing key', hostsOf(['a', param('w')]), {}, { name: 'ExpressionError' }],
    [
      'words',
      hostsOf(['a', param('w')]),
      { w: 'x' },
      { message: expect.stringContaining('hosts 0') },
    ],
    ['nothing', hostsOf(['a', 1], ['b', param('w')]), { w: '' }, { name: 'ExpressionError' }],
    ['too much', hostsOf(['a', param('w')]), { w: '1001' }, { name: 'ExpressionError' }],
    ['a fraction', hostsOf(['a', param('w')]), { w: '0.5' }, { name: 'ExpressionError' }],
    ['less than 0', hostsOf(['a', param('w')]), { w: '-1' }, { name: 'ExpressionError' }],
    [
      '0 for all',
      hostsOf(['a', param('w')], ['b', 0]),
      { w: '0' },
      { code: 'svc.error.invalid_data' },
    ],
    [
      'right beside a host that is none',
      hostsOf(['a', 999], [text('b/', param('h')), 1]),
      { h: 'x' },
      { code: 'svc.error.invalid_data' },
    ],
  ])('are refused where a weight is %s', (_, hosts, params, error) => {
    const choose = prepareHosts(hosts, { clock: { now: () => 0, random: () => 0 } })
    expect(() => choose(contextWith(params))).toThrow(expect.objectContaining(error))
  })
})

describe('another attempt', () => {
  const attempts = (hosts: readonly WeightedHost[], count: number): readonly string[] => {
    const choose = prepareHosts(hosts, { clock: { now: () => 0, random: () => 0 } })
    const choice = choose(NO_CALLER)
    return Array.from({ length: count }, () => {
      const { hostname } = new URL(choice.origin)
      choice.goOn()
      return hostname
    })
  }

  it.each<[string, readonly WeightedHost[], readonly string[]]>([
    ['goes to the other one', hostsOf(['a', 900], ['b', 1]), ['a', 'b', 'a', 'b']],
    [
      'goes to all, one after the other',
      hostsOf(['a', 1], ['b', 1], ['c', 1]),
      ['a', 'b', 'c', 'a', 'b'],
    ],
    ['stays where there is no other', hostsOf(['a', 1]), ['a', 'a', 'a']],
    ['goes to none of weight 0', hostsOf(['a', 1], ['b', 0]), ['a', 'a', 'a']],
    [
      'goes to sixteen',
      hostsOf(...Array.from({ length: 16 }, (_, at) => [`h${at}`, 1] as const)),
      [...Array.from({ length: 16 }, (_, at) => `h${at}`), 'h0'],
    ],
  ])('%s', (_, hosts, origins) => {
    expect(attempts(hosts, origins.length)).toEqual(origins)
  })
})

describe('a host that cannot be reached', () => {
  const start = (hosts: readonly WeightedHost[]) => {
    let nowMs = 0
    const events: HostHealthEvent[] = []
    const choose = prepareHosts(hosts, {
      clock: { now: () => nowMs, random: evenly() },
      onHealth: (event) => events.push(event),
    })
    const isDown = new Set<string>()
    const send = (context = NO_CALLER): HostChoice => {
      const choice = choose(context)
      if (isDown.has(new URL(choice.origin).hostname)) choice.onUnreached()
      else choice.onReached()
      return choice
    }
    return {
      events,
      isDown,
      send,
      pass: (ms: number) => {
        nowMs += ms
      },
    }
  }

  it('gets nothing after five failures in a row, is tried after ten seconds, and comes back slowly', () => {
    const { events, isDown, send, pass } = start(hostsOf(['a', 1], ['b', 1]))
    isDown.add('b')
    expect(hundred(send)).toEqual({ a: 95, b: 5 })
    expect(events).toMatchObject([{ origin: 'http://b', change: { kind: 'ejected' } }])
    expect(hundred(send)).toEqual({ a: 100 })
    pass(10_000)
    // One request tries it.
    expect(hundred(send)).toEqual({ a: 99, b: 1 })
    pass(20_000)
    isDown.clear()
    const { a = 0, b = 0 } = hundred(send)
    expect(events.at(-1)).toEqual({ origin: 'http://b', change: { kind: 'readmitted' } })
    expect(b).toBeGreaterThan(1)
    expect(a).toBeGreaterThan(80)
    pass(10_000)
    expect(hundred(send)).toEqual({ a: 50, b: 50 })
  })

  it('gets a retry only where no other host is left', () => {
    const { isDown, send } = start(hostsOf(['a', 1], ['b', 1]))
    isDown.add('b')
    hundred(send)
    const choice = send()
    choice.goOn()
    // `a` has other addresses, or recovers; no request has reached `b`.
    expect(choice.origin).toBe('http://a')
  })

  it.each<[string, readonly WeightedHost[], Record<string, string>]>([
    ['the only one', hostsOf(['b', 1]), {}],
    ['the only one that has a weight', hostsOf(['a', param('w')], ['b', 1]), { w: '0' }],
    ['one of data', hostsOf(['a', 1], [param('h'), 1]), { h: 'b' }],
  ])('gets its share for it is %s', (_, hosts, params) => {
    const { isDown, send } = start(hosts)
    isDown.add('b')
    const context = contextWith(params)
    const first = hundred(() => send(context))
    expect(first['b']).toBeGreaterThanOrEqual(50)
    expect(hundred(() => send(context))).toEqual(first)
  })

  it('leaves at least half of them in use', () => {
    const { events, isDown, send } = start(hostsOf(['a', 1], ['b', 1], ['c', 1], ['d', 1]))
    for (const each of ['a', 'b', 'c', 'd']) isDown.add(each)
    hundred(send)
    expect(events).toHaveLength(2)
    expect(Object.keys(hundred(send))).toHaveLength(2)
  })
})

const gatewayTo = async (
  hosts: readonly WeightedHost[],
  parts: Partial<Omit<OperationParts, 'action'>> = {},
  options: GatewayOptions = {},
): Promise<Gateway> => {
  const gateway = await startGateway(operationOf({ ...parts, action: { hosts } }), {
    ...options,
  })
  closers.push(() => gateway.close())
  return gateway
}

/** Nothing listens there any more. */
const deserted = async (): Promise<string> => {
  const server: Listening = await listenRaw(() => undefined)
  await server.close()
  return server.origin
}

describe('requests', () => {
  /** The dice always fall on the first one. */
  const clock = { ...SYSTEM_CLOCK, now: () => 0, random: () => 0 }
  const ONE_RETRY = { limits: { retries: constant(1) } }

  it('carry the Host of the one that they go to, and are counted for it', async () => {
    const hosts: Record<string, string | undefined> = {}
    const all = await Promise.all(
      ['a', 'b'].map((name) =>
        serving(({ headers }, response) => {
          hosts[name] = headers.host
          response.end(name)
        }),
      ),
    )
    const random = evenly()
    const gateway = await gatewayTo(
      hostsOf(...all.map(({ origin }) => [origin, 50] as const)),
      {},
      { clock: { ...SYSTEM_CLOCK, now: () => 0, random } },
    )
    for (let at = 0; at < 100; at++) await call(gateway)
    expect(hosts).toEqual({ a: `127.0.0.1:${all[0]?.port}`, b: `127.0.0.1:${all[1]?.port}` })
    expect(
      gateway.upstream
        .stats()
        .map(({ origin }) => origin)
        .sort(),
    ).toEqual(all.map(({ origin }) => origin).sort())
    expect(gateway.scope.size).toBe(0)
  })

  it.each<[string, () => Promise<string>, string]>([
    [
      'answers 503',
      async () => (await serving((_, res) => res.writeHead(503).end())).origin,
      'GET',
    ],
    [
      'breaks off',
      async () => (await opened(listenRaw((socket) => socket.destroy()))).origin,
      'GET',
    ],
    ['refuses connections', deserted, 'POST'],
  ])('are sent again, to another one, where the first one %s', async (_, bad, method) => {
    const good = await serving((_request, response) => response.end('good'))
    const gateway = await gatewayTo(hostsOf([await bad(), 999], [good.origin, 1]), ONE_RETRY, {
      clock,
    })
    expect(await call(gateway, { method })).toMatchObject({ status: 200, text: 'good' })
    expect(gateway.scope.size).toBe(0)
  })

  it('are not sent to one that may not be reached, and to no other instead', async () => {
    const good = await serving((_request, response) => response.end('good'))
    const upstream = createUpstream({ guard: createGuard() })
    const gateway = await gatewayTo(
      hostsOf(['http://169.254.169.254', 1], [good.origin, 1]),
      { ...ONE_RETRY, ...READ_ALL },
      { clock, upstream },
    )
    const { error } = (await call(gateway)).json()
    expect(error).toMatchObject({
      error_uri: 'svc.error.bad_gateway',
      message: 'The upstream could not be reached.',
    })
  })

  it('take no slot of the others', async () => {
    const [slow, quick] = await Promise.all([
      serving(() => undefined),
      serving((_request, response) => response.end('quick')),
    ])
    let roll = 0
    const gateway = await gatewayTo(
      hostsOf([slow.origin, 1], [quick.origin, 1]),
      { limits: { connectTimeout: constant(50) } },
      { clock: { ...SYSTEM_CLOCK, now: () => 0, random: () => roll }, poolSize: 1 },
    )
    const stuck = call(gateway).catch(() => undefined)
    while (gateway.scope.size === 0) await new Promise(setImmediate)
    expect(await call(gateway)).toMatchObject({ status: 503 })
    roll = 0.9
    expect(await call(gateway)).toMatchObject({ text: 'quick' })
    await gateway.close()
    closers.pop()
    await stuck
  })
})
