// Sessions by tables: joining, being refused, the router's own procedures, leaving, and what ends a session.

import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { MESSAGE, type WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { converse, createStage, PLAIN_ROLES, type Stage, type Step, type Told } from './converse.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')

const SECURED = {
  uri: 's',
  users: [
    { authid: 'tom', method: 'ticket', secret: 'tom-ticket', role: 'gateway' },
    { authid: 'cra', method: 'wampcra', secret: 'cra-secret', role: 'gateway' },
    {
      authid: 'key',
      method: 'cryptosign',
      secret: Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex'),
      role: 'gateway',
    },
    { authid: 'broken', method: 'cryptosign', secret: 'no key', role: 'gateway' },
  ],
} as const

const createRealms = (): Stage => createStage([{ uri: 'r', anonymous: true }, SECURED])

const hello = (realm: string, details: ValueMap = {}): Step => [
  'client',
  [MESSAGE.hello, realm, { roles: PLAIN_ROLES, ...details }],
]
const told = (steps: readonly Step[]): readonly Told[] => {
  const stage = createRealms()
  for (const step of steps) stage.run(step)
  return stage.told
}
const aborted = (reason: string, message: unknown = expect.any(String)): unknown[] => [
  ['client', [MESSAGE.abort, { message }, reason]],
  ['client', 'closed'],
]

describe('HELLO', () => {
  it('is answered with what the router has', () => {
    expect(told([hello('r', { authmethods: ['anonymous'] })])).toEqual([
      [
        'client',
        [
          MESSAGE.welcome,
          1001,
          {
            authid: '3ea',
            authrole: 'client',
            authmethod: 'anonymous',
            authprovider: 'static',
            roles: {
              broker: {
                features: {
                  pattern_based_subscription: true,
                  publisher_exclusion: true,
                  publisher_identification: true,
                },
              },
              dealer: {
                features: {
                  call_canceling: true,
                  call_timeout: true,
                  caller_identification: true,
                  pattern_based_registration: true,
                  progressive_call_results: true,
                  shared_registration: true,
                },
              },
            },
          },
        ],
      ],
    ])
  })

  it.each<[string, Step, string]>([
    ['another realm', hello('q'), 'wamp.error.no_such_realm'],
    ['a reserved word', hello('__proto__'), 'wamp.error.no_such_realm'],
    ['no role', hello('r', { roles: {} }), 'wamp.error.no_such_role'],
    ['the router’s role', hello('r', { roles: { broker: {} } }), 'wamp.error.no_such_role'],
    ['roles that are no map', hello('r', { roles: 1 }), 'wamp.error.no_such_role'],
    ['nobody', hello('s'), 'wamp.error.authentication_failed'],
    [
      'a method that the realm lacks',
      hello('r', { authmethods: ['ticket', 'constructor', 7], authid: 'tom' }),
      'wamp.error.authentication_failed',
    ],
  ])('for %s is refused', (_name, step, reason) => {
    expect(told([step])).toEqual(aborted(reason))
  })

  it.each([
    [4999, []],
    [5000, aborted('wamp.error.protocol_violation', 'HELLO did not come in time')],
  ])('is awaited: after %d ms', (passMs, expected) => {
    const stage = createRealms()
    stage.core.accept({
      send: (message) => stage.told.push(['client', message]) > 0,
      close: () => stage.told.push(['client', 'closed']),
    })
    stage.run({ passMs })
    expect(stage.told).toEqual(expected)
  })
})

describe('authentication', () => {
  type Respond = (extra: ValueMap) => string

  const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '')
  const ofTicket: Respond = () => 'tom-ticket'
  const ofCra: Respond = ({ challenge }) =>
    createHmac('sha256', 'cra-secret').update(text(challenge)).digest('base64')
  const signed = (hex: Value | undefined): string => {
    const challenge = Buffer.from(text(hex), 'hex')
    return Buffer.concat([sign(null, challenge, privateKey), challenge]).toString('hex')
  }
  const ofKey: Respond = ({ challenge }) => signed(challenge)

  const joining = (method: string, authid: string, answer: Respond): WampMessage | 'closed' => {
    const stage = createRealms()
    stage.run(hello('s', { authmethods: [method], authid }))
    const [, challenge] = stage.told[0] ?? []
    expect(challenge?.slice(0, 2)).toEqual([MESSAGE.challenge, method])
    const extra = challenge?.[2] as ValueMap
    stage.run(['client', [MESSAGE.authenticate, answer(extra), {}]])
    return stage.told[1]?.[1] ?? 'closed'
  }

  it.each<[string, string, Respond]>([
    ['ticket', 'tom', ofTicket],
    ['wampcra', 'cra', ofCra],
    ['cryptosign', 'key', ofKey],
  ])('by %s', (method, authid, response) => {
    const identity = { authid, authrole: 'gateway', authmethod: method }
    expect(joining(method, authid, response)).toMatchObject([MESSAGE.welcome, 1001, identity])
  })

  it.each<[string, string, Respond]>([
    ['ticket', 'tom', () => ''],
    ['ticket', 'tom', () => 'tom-ticket '],
    ['ticket', 'nobody', ofTicket],
    ['ticket', '', ofTicket],
    ['ticket', 'cra', () => 'cra-secret'],
    ['wampcra', 'cra', () => 'cra-secret'],
    ['wampcra', 'nobody', ofCra],
    ['cryptosign', 'key', () => ''],
    ['cryptosign', 'key', () => 'no hex'],
    ['cryptosign', 'key', () => signed('00'.repeat(32))],
    ['cryptosign', 'key', ({ challenge }) => text(challenge).repeat(3)],
    ['cryptosign', 'nobody', ofKey],
    ['cryptosign', 'broken', ofKey],
  ])('by %s of %j with a wrong response', (method, authid, response) => {
    const [abort, details, reason] = joining(method, authid, response) as WampMessage
    expect([abort, reason]).toEqual([MESSAGE.abort, 'wamp.error.authentication_failed'])
    expect(details).toEqual({ message: 'the response to the challenge is wrong' })
  })

  it('tells a stranger from a user in nothing', () => {
    const challengeOf = (authid: string): string => {
      const [, challenge] = told([hello('s', { authmethods: ['wampcra'], authid })])[0] ?? []
      expect(JSON.stringify(challenge)).toContain(authid)
      return JSON.stringify(challenge)
        .replace(`"authid\\":\\"${authid}`, '')
        .replace(/nonce[^,]*/, '')
    }
    expect(challengeOf('nobody')).toBe(challengeOf('cra'))
  })

  it.each<[string, Step]>([
    ['not in time', { passMs: 5000 }],
    ['by another message', ['client', [MESSAGE.subscribe, 1, {}, 'com.t']]],
  ])('answered %s', (_name, step) => {
    const challenged = hello('s', { authmethods: ['ticket'], authid: 'tom' })
    expect(told([challenged, step]).slice(1)).toEqual(aborted('wamp.error.protocol_violation'))
  })

  it('given up by the client', () => {
    const challenged = hello('s', { authmethods: ['ticket'], authid: 'tom' })
    const giveUp: Step = ['client', [MESSAGE.abort, {}, 'wamp.error.cannot_authenticate']]
    expect(told([challenged, giveUp]).slice(1)).toEqual([['client', 'closed']])
  })
})

describe('what is no WAMP', () => {
  it.each<[string, WampMessage]>([
    ['no HELLO first', [MESSAGE.subscribe, 1, {}, 'com.t']],
    ['HELLO without realm', [MESSAGE.hello]],
    ['HELLO without details', [MESSAGE.hello, 'r']],
    ['an unknown type', [99, 1]],
    ['a type that is no number', ['constructor']],
    ['nothing', []],
  ])('before joining: %s', (_name, message) => {
    expect(told([['client', message]])).toEqual(aborted('wamp.error.protocol_violation'))
  })

  it.each<[string, WampMessage]>([
    ['HELLO again', [MESSAGE.hello, 'r', { roles: PLAIN_ROLES }]],
    ['AUTHENTICATE', [MESSAGE.authenticate, '', {}]],
    ['a message of routers', [MESSAGE.event, 1, 1, {}]],
    ['an unknown type', [99, 1]],
    ['args that are no list', [MESSAGE.call, 1, {}, 'com.x', 'a']],
    ['kwargs that are no map', [MESSAGE.call, 1, {}, 'com.x', [], []]],
    ['kwargs that are bytes', [MESSAGE.call, 1, {}, 'com.x', [], Buffer.alloc(1)]],
    ['options that are no map', [MESSAGE.publish, 1, [], 'com.x']],
    ['a URI that is no text', [MESSAGE.register, 1, {}, 7]],
    ['an id that is none', [MESSAGE.subscribe, 1.5, {}, 'com.x']],
    ['an id below them all', [MESSAGE.subscribe, -1, {}, 'com.x']],
    ['an id above them all', [MESSAGE.subscribe, 2 ** 54, {}, 'com.x']],
    ['no id', [MESSAGE.unsubscribe, 1]],
    ['an ERROR of what is no invocation', [MESSAGE.error, MESSAGE.call, 1, {}, 'com.x']],
  ])('after it: %s', (_name, message) => {
    const steps: Step[] = [['client', message]]
    const [abort, closed, ...others] = converse({ client: undefined, other: undefined }, steps)
    expect([abort, closed]).toEqual(aborted('wamp.error.protocol_violation'))
    expect(others).toEqual([])
  })

  it('that cannot be read ends the session, and nothing is taken after that', () => {
    const steps: Step[] = [{ unreadable: 'client' }, ['client', [MESSAGE.goodbye, {}, 'x']]]
    const expected = aborted('wamp.error.protocol_violation', 'no JSON')
    expect(converse({ client: undefined }, steps)).toEqual(expected)
  })

  it('is reported with no more of the message than its type and the place', () => {
    const steps: Step[] = [['client', [MESSAGE.call, 1, {}, { secret: 'hidden' }]]]
    expect(JSON.stringify(converse({ client: undefined }, steps))).not.toContain('hidden')
  })

  it('but for elements that are too many, which are ignored', () => {
    const steps: Step[] = [['client', [MESSAGE.subscribe, 1, {}, 'com.x', 'more']]]
    expect(converse({ client: undefined }, steps)).toEqual([['client', [MESSAGE.subscribed, 1, 1]]])
  })
})

describe('GOODBYE', () => {
  it('is answered', () => {
    const steps: Step[] = [['client', [MESSAGE.goodbye, {}, 'wamp.close.normal']]]
    expect(converse({ client: undefined }, steps)).toEqual([
      ['client', [MESSAGE.goodbye, {}, 'wamp.close.goodbye_and_out']],
      ['client', 'closed'],
    ])
  })

  it('is said to all who have joined when the router shuts down', () => {
    const stage = createRealms()
    stage.run(hello('r'))
    stage.run(['guest', [MESSAGE.hello, 's', { roles: {}, authmethods: ['ticket'] }]])
    stage.run(['asked', [MESSAGE.hello, 's', { roles: PLAIN_ROLES, authmethods: ['ticket'] }]])
    stage.told.length = 0
    stage.core.shutDown()
    expect(stage.told).toEqual([
      ['client', [MESSAGE.goodbye, {}, 'wamp.close.system_shutdown']],
      ['client', 'closed'],
      ['asked', [MESSAGE.abort, {}, 'wamp.close.system_shutdown']],
      ['asked', 'closed'],
    ])
  })
})

describe('the router’s own procedures', () => {
  const clients = { one: undefined, two: undefined }
  const ONE = 1001
  const TWO = 1003

  const call = (uri: string, args: readonly Value[] = [], kwargs: ValueMap = {}): Step => [
    'one',
    [MESSAGE.call, 1, {}, uri, args, kwargs],
  ]
  const failed = (uri: string): Told => ['one', [MESSAGE.error, MESSAGE.call, 1, {}, uri]]
  const gave = (...args: Value[]): Told => [
    'one',
    args.length > 0 ? [MESSAGE.result, 1, {}, args] : [MESSAGE.result, 1, {}],
  ]
  const left = (reason: string, details = {}): Told[] => [
    ['two', [MESSAGE.goodbye, details, reason]],
    ['two', 'closed'],
  ]

  it.each<[string, Step, Told[]]>([
    ['count', call('wamp.session.count'), [gave(2)]],
    ['count of a role', call('wamp.session.count', [['client', 'x']]), [gave(2)]],
    ['count of another role', call('wamp.session.count', [['x']]), [gave(0)]],
    [
      'count of no list',
      call('wamp.session.count', ['client']),
      [failed('wamp.error.invalid_argument')],
    ],
    ['kill', call('wamp.session.kill', [TWO]), [...left('wamp.close.normal'), gave()]],
    [
      'kill with words',
      call('wamp.session.kill', [TWO], { reason: 'com.bye', message: 'enough' }),
      [...left('com.bye', { message: 'enough' }), gave()],
    ],
    [
      'kill for no reason',
      call('wamp.session.kill', [TWO], { reason: 'a b' }),
      [failed('wamp.error.invalid_uri')],
    ],
    ['kill of no session', call('wamp.session.kill'), [failed('wamp.error.no_such_session')]],
    ['kill of a stranger', call('wamp.session.kill', [7]), [failed('wamp.error.no_such_session')]],
    ['kill of oneself', call('wamp.session.kill', [ONE]), [failed('wamp.error.no_such_session')]],
    ['what is not there', call('wamp.registration.list'), [failed('wamp.error.no_such_procedure')]],
    ['history', call('wamp.subscription.get_events'), [failed('wamp.error.no_such_procedure')]],
  ])('%s', (_name, step, expected) => {
    expect(converse(clients, [step])).toEqual(expected)
  })

  it('see who has left', () => {
    const steps: Step[] = [{ lost: 'two' }, call('wamp.session.count')]
    expect(converse(clients, steps)).toEqual([gave(1)])
  })
})

describe('realms', () => {
  it('know nothing of each other', () => {
    const stage = createStage([
      { uri: 'r', anonymous: true },
      { uri: 'q', anonymous: true },
    ])
    stage.run(['one', [MESSAGE.hello, 'r', { roles: PLAIN_ROLES }]])
    stage.run(['two', [MESSAGE.hello, 'q', { roles: PLAIN_ROLES }]])
    stage.run(['one', [MESSAGE.register, 1, {}, 'com.x']])
    stage.told.length = 0
    stage.run(['two', [MESSAGE.call, 1, {}, 'com.x']])
    const error = [MESSAGE.error, MESSAGE.call, 1, {}, 'wamp.error.no_such_procedure']
    expect(stage.told).toEqual([['two', error]])
    expect([stage.core.sessionIds('r'), stage.core.sessionIds('q')]).toEqual([[1001], [1003]])
  })

  it('have sessions that can be ended by id', () => {
    const stage = createStage([{ uri: 'r', anonymous: true }])
    stage.run(['one', [MESSAGE.hello, 'r', { roles: PLAIN_ROLES }]])
    expect(stage.core.kill('q', 1001, 'com.bye')).toBe(false)
    expect(stage.core.kill('r', 7, 'com.bye')).toBe(false)
    expect(stage.core.kill('r', 1001, 'com.bye')).toBe(true)
    expect(stage.told.slice(1)).toEqual([
      ['one', [MESSAGE.goodbye, {}, 'com.bye']],
      ['one', 'closed'],
    ])
    expect(stage.core.sessionIds('r')).toEqual([])
  })
})
