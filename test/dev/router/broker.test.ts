// Publications by tables: what publishers and subscribers say to the core of the router, and what it says.

import { describe, expect, it } from '@jest/globals'
import { MESSAGE, type WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import { converse, PLAIN_ROLES, type Step, type Told } from './converse.ts'

const clients = { pub: undefined, sub: undefined, plain: PLAIN_ROLES }
/** Three clients have drawn the six before. */
const PUBLICATION = 1007

const subscribe = (who: string, id: number, uri: string, options = {}): Step => [
  who,
  [MESSAGE.subscribe, id, options, uri],
]
const publish = (options: object, uri = 'com.t.a', ...payload: WampMessage): Step => [
  'pub',
  [MESSAGE.publish, 1, { ...options }, uri, ...payload],
]
const event = (who: string, subscription: number, details = {}, ...payload: WampMessage): Told => [
  who,
  [MESSAGE.event, subscription, PUBLICATION, details, ...payload],
]
const PUBLISHED: Told = ['pub', [MESSAGE.published, 1, PUBLICATION]]

/** What is told by the last step. */
const last = (steps: readonly Step[], options = {}): readonly Told[] => {
  const before = converse(clients, steps.slice(0, -1), options).length
  return converse(clients, steps, options).slice(before)
}

describe('a publication', () => {
  it.each<[string, Step[], Step, Told[]]>([
    [
      'goes to its subscribers',
      [subscribe('sub', 1, 'com.t.a'), subscribe('plain', 1, 'com.t.a')],
      publish({}, 'com.t.a', [1], { k: null }),
      [event('sub', 1, {}, [1], { k: null }), event('plain', 1, {}, [1], { k: null })],
    ],
    ['without a subscriber is acknowledged too', [], publish({ acknowledge: true }), [PUBLISHED]],
    ['is acknowledged when that is true alone', [], publish({ acknowledge: 1 }), []],
    [
      'is sent once per matching subscription, with its topic where that is not known',
      [
        subscribe('sub', 1, 'com.t', { match: 'prefix' }),
        subscribe('sub', 2, 'com..a', { match: 'wildcard' }),
        subscribe('sub', 3, 'com.t.a', { match: 'exact' }),
        subscribe('sub', 4, 'com.t.b'),
      ],
      publish({ acknowledge: true }),
      [
        event('sub', 3),
        event('sub', 1, { topic: 'com.t.a' }),
        event('sub', 2, { topic: 'com.t.a' }),
        PUBLISHED,
      ],
    ],
    ['is not told to its publisher', [subscribe('pub', 1, 'com.t.a')], publish({}), []],
    [
      'is sent to its publisher when it wants that',
      [subscribe('pub', 1, 'com.t.a')],
      publish({ exclude_me: false }),
      [event('pub', 1)],
    ],
    [
      'names its publisher to those who know what that is',
      [subscribe('sub', 1, 'com.t.a'), subscribe('plain', 1, 'com.t.a')],
      publish({ disclose_me: true }),
      [
        event('sub', 1, {
          publisher: 1001,
          publisher_authid: (1002).toString(16),
          publisher_authrole: 'client',
        }),
        event('plain', 1),
      ],
    ],
  ])('%s', (_name, steps, said, told) => {
    expect(last([...steps, said])).toEqual(told)
  })

  it.each<[string, object, Told[]]>([
    ['a b', {}, []],
    ['com.secret.x', {}, []],
    [
      'a b',
      { acknowledge: true },
      [
        [
          'pub',
          [
            MESSAGE.error,
            MESSAGE.publish,
            1,
            {},
            'wamp.error.invalid_uri',
            ['"a b" is no URI: no empty part, blank or # is allowed'],
          ],
        ],
      ],
    ],
    [
      'com.secret.x',
      { acknowledge: true },
      [['pub', [MESSAGE.error, MESSAGE.publish, 1, {}, 'wamp.error.not_authorized']]],
    ],
  ])('to %j with %j', (uri, options, told) => {
    expect(last([publish(options, uri)], { deny: ['com.secret.'] })).toEqual(told)
  })
})

describe('SUBSCRIBE', () => {
  it('of the same gives the same subscription', () => {
    const steps = [subscribe('sub', 1, 'com.t.a'), subscribe('sub', 2, 'com.t.a')]
    expect(last(steps)).toEqual([['sub', [MESSAGE.subscribed, 2, 1]]])
  })

  it.each<[string, object, string]>([
    ['', {}, 'wamp.error.invalid_uri'],
    ['a..b', {}, 'wamp.error.invalid_uri'],
    ['a#b', { match: 'wildcard' }, 'wamp.error.invalid_uri'],
    ['a', { match: 'constructor' }, 'wamp.error.invalid_argument'],
    ['com.secret.x', {}, 'wamp.error.not_authorized'],
  ])('refuses %j with %j', (uri, options, error) => {
    const [told] = last([subscribe('sub', 1, uri, options)], { deny: ['com.secret.'] })
    expect(told?.[1].slice(0, 5)).toEqual([MESSAGE.error, MESSAGE.subscribe, 1, {}, error])
  })
})

describe('UNSUBSCRIBE', () => {
  const NO_SUCH: WampMessage = [
    MESSAGE.error,
    MESSAGE.unsubscribe,
    2,
    {},
    'wamp.error.no_such_subscription',
  ]

  it.each<[string, string, number, WampMessage]>([
    ['one’s own', 'sub', 1, [MESSAGE.unsubscribed, 2]],
    ['another’s', 'pub', 1, NO_SUCH],
    ['an unknown one', 'sub', 4711, NO_SUCH],
  ])('%s', (_name, who, id, response) => {
    const steps: Step[] = [subscribe('sub', 1, 'com.t.a'), [who, [MESSAGE.unsubscribe, 2, id]]]
    expect(last(steps)).toEqual([[who, response]])
  })

  it.each<[string, Step]>([
    ['by word', ['sub', [MESSAGE.unsubscribe, 2, 1]]],
    ['by leaving', { lost: 'sub' }],
  ])('ends events, %s', (_name, step) => {
    expect(last([subscribe('sub', 1, 'com.t.a'), step, publish({})])).toEqual([])
  })
})
