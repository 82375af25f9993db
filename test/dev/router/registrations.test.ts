// Registrations by tables: patterns, shared procedures, and what is refused.

import { describe, expect, it } from '@jest/globals'
import { MESSAGE, type WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import { converse, type Step, type Told } from './converse.ts'

const clients = { caller: undefined, a: undefined, b: undefined, c: undefined }

const register = (who: string, id: number, uri: string, options = {}): Step => [
  who,
  [MESSAGE.register, id, options, uri],
]

const refused = (who: string, id: number, uri: string, ...args: string[]): Told => [
  who,
  [MESSAGE.error, MESSAGE.register, id, {}, uri, ...(args.length > 0 ? [args] : [])],
]

/** Who is invoked by so many calls, and with which details. */
const invoked = (steps: readonly Step[], uri: string, calls: number): readonly Told[] => {
  const call = (_: unknown, id: number): Step => ['caller', [MESSAGE.call, id + 1, {}, uri]]
  const told = converse(clients, [...steps, ...Array.from({ length: calls }, call)])
  return told.filter(([, message]) => message[0] === MESSAGE.invocation)
}

describe('a shared procedure', () => {
  it.each([
    ['first', 'aaaaaa'],
    ['last', 'cccccc'],
    ['roundrobin', 'abcabc'],
  ])('with %s', (invoke, order) => {
    const steps = ['a', 'b', 'c'].map((who) => register(who, 1, 'com.x', { invoke }))
    const told = invoked(steps, 'com.x', 6)
    expect(told.map(([who]) => who).join('')).toBe(order)
  })

  it('with random asks chance, which a publication moves on here', () => {
    const steps: Step[] = [
      ...['a', 'b', 'c'].map((who) => register(who, 1, 'com.x', { invoke: 'random' })),
      ['caller', [MESSAGE.publish, 9, {}, 'com.t']],
    ]
    expect(invoked(steps, 'com.x', 4).map(([who]) => who)).toEqual(['b', 'c', 'a', 'b'])
  })

  it('goes on with those who stay', () => {
    const steps: Step[] = [
      ...['a', 'b'].map((who) => register(who, 1, 'com.x', { invoke: 'roundrobin' })),
      { lost: 'a' },
    ]
    expect(invoked(steps, 'com.x', 2).map(([who]) => who)).toEqual(['b', 'b'])
  })

  it.each([
    ['single', 'single'],
    ['single', 'roundrobin'],
    ['roundrobin', 'single'],
    ['roundrobin', 'random'],
  ])('of %s cannot be joined with %s', (first, second) => {
    const told = converse(clients, [
      register('a', 1, 'com.x', { invoke: first }),
      register('b', 1, 'com.x', { invoke: second }),
    ])
    expect(told[1]).toEqual(refused('b', 1, 'wamp.error.procedure_already_exists'))
  })

  it('cannot be joined twice by one callee', () => {
    const step = register('a', 1, 'com.x', { invoke: 'last' })
    const told = converse(clients, [step, step])
    expect(told[1]).toEqual(refused('a', 1, 'wamp.error.procedure_already_exists'))
  })
})

describe('patterns', () => {
  it.each<[uri: string, who: string, details: object]>([
    ['com.x.y', 'a', {}],
    ['com.x.y.z', 'b', { procedure: 'com.x.y.z' }],
    ['com.x.yy', 'b', { procedure: 'com.x.yy' }],
    ['net.q.y', 'c', { procedure: 'net.q.y' }],
  ])('%s goes to %s', (uri, who, details) => {
    const steps = [
      register('a', 1, 'com.x.y'),
      register('c', 1, 'com.x', { match: 'prefix' }),
      register('b', 1, 'com.x.y', { match: 'prefix' }),
      register('c', 2, '..y', { match: 'wildcard' }),
    ]
    const [told] = invoked(steps, uri, 1)
    expect(told?.[0]).toBe(who)
    expect(told?.[1][3]).toEqual(details)
  })

  it('of the same text by other rules are other procedures', () => {
    const told = converse(clients, [
      register('a', 1, 'com.x'),
      register('b', 1, 'com.x', { match: 'prefix' }),
      register('c', 1, 'com.x', { match: 'wildcard' }),
    ])
    expect(told.map(([, message]) => message[0])).toEqual(Array(3).fill(MESSAGE.registered))
  })
})

describe('REGISTER refuses', () => {
  it.each<[string, object, string]>([
    ['', {}, 'wamp.error.invalid_uri'],
    ['a..b', {}, 'wamp.error.invalid_uri'],
    ['a b', { match: 'wildcard' }, 'wamp.error.invalid_uri'],
    ['a..', { match: 'prefix' }, 'wamp.error.invalid_uri'],
    ['wamp.x', {}, 'wamp.error.invalid_uri'],
    ['wamp.', { match: 'prefix' }, 'wamp.error.invalid_uri'],
    ['a', { match: 'constructor' }, 'wamp.error.invalid_argument'],
    ['a', { match: 1 }, 'wamp.error.invalid_argument'],
    ['a', { invoke: 'constructor' }, 'wamp.error.invalid_argument'],
    ['com.secret.x', {}, 'wamp.error.not_authorized'],
  ])('%j with %j', (uri, options, error) => {
    const [told] = converse(clients, [register('a', 1, uri, options)], { deny: ['com.secret.'] })
    expect(told?.[1].slice(0, 5)).toEqual([MESSAGE.error, MESSAGE.register, 1, {}, error])
  })
})

describe('UNREGISTER', () => {
  const NO_SUCH: WampMessage = [
    MESSAGE.error,
    MESSAGE.unregister,
    2,
    {},
    'wamp.error.no_such_registration',
  ]

  it.each<[string, string, number, WampMessage]>([
    ['one’s own', 'a', 1, [MESSAGE.unregistered, 2]],
    ['another’s', 'b', 1, NO_SUCH],
    ['an unknown one', 'a', 4711, NO_SUCH],
  ])('%s', (_name, who, id, response) => {
    const steps: Step[] = [register('a', 1, 'com.x'), [who, [MESSAGE.unregister, 2, id]]]
    expect(converse(clients, steps)[1]).toEqual([who, response])
  })
})
