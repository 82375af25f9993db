// Calls by tables: what callers and callees say to the core of the router, and what it says to whom.

import { describe, expect, it } from '@jest/globals'
import { MESSAGE, type WampMessage } from '../../../dataplane/wamp/protocol/messages.ts'
import { converse, createStage, PLAIN_ROLES, type Step, type Told } from './converse.ts'

const REGISTER: Step = ['callee', [MESSAGE.register, 1, {}, 'com.add']]
const REGISTERED: Told = ['callee', [MESSAGE.registered, 1, 1]]
const CALL: Step = ['caller', [MESSAGE.call, 1, {}, 'com.add', [1, 2], { k: null }]]
const INVOKED: Told = ['callee', [MESSAGE.invocation, 1, 1, {}, [1, 2], { k: null }]]
const CANCELED: Told = ['caller', [MESSAGE.error, MESSAGE.call, 1, {}, 'wamp.error.canceled']]

const called = (options: Readonly<Record<string, string | number | boolean>>): Step => [
  'caller',
  [MESSAGE.call, 1, options, 'com.add'],
]
const cancel = (options: Readonly<Record<string, string>>): Step => [
  'caller',
  [MESSAGE.cancel, 1, options],
]
const interrupted = (mode: string): Told => ['callee', [MESSAGE.interrupt, 1, { mode }]]
const failed = (uri: string, ...args: string[]): Told => [
  'caller',
  args.length === 0
    ? [MESSAGE.error, MESSAGE.call, 1, {}, uri]
    : [MESSAGE.error, MESSAGE.call, 1, {}, uri, args],
]
const INVOKED_BARE: Told = ['callee', [MESSAGE.invocation, 1, 1, {}]]
const PROGRESS: WampMessage = [MESSAGE.yield, 1, { progress: true }, ['half']]
const END: WampMessage = [MESSAGE.yield, 1, {}, ['whole']]

const play = (
  steps: readonly Step[],
  options: Parameters<typeof converse>[2] = {},
  callee = undefined as Parameters<typeof converse>[0][string],
): readonly Told[] => converse({ caller: undefined, callee }, steps, options)

describe('calls', () => {
  it.each<[string, Step[], Told[]]>([
    [
      'give the result',
      [['callee', [MESSAGE.yield, 1, {}, [3], { a: 1 }]]],
      [['caller', [MESSAGE.result, 1, {}, [3], { a: 1 }]]],
    ],
    [
      'give no empty arguments',
      [['callee', [MESSAGE.yield, 1, {}, [], {}]]],
      [['caller', [MESSAGE.result, 1, {}]]],
    ],
    [
      'give the error as it is',
      [['callee', [MESSAGE.error, MESSAGE.invocation, 1, { d: 1 }, 'com.bad', ['x'], { y: 1 }]]],
      [['caller', [MESSAGE.error, MESSAGE.call, 1, { d: 1 }, 'com.bad', ['x'], { y: 1 }]]],
    ],
    [
      'are settled once',
      [
        ['callee', END],
        ['callee', END],
        ['callee', [MESSAGE.error, MESSAGE.invocation, 1, {}, 'com.bad']],
      ],
      [['caller', [MESSAGE.result, 1, {}, ['whole']]]],
    ],
    ['are not answered by others', [['caller', END]], []],
    ['end with their callee', [{ lost: 'callee' }], [failed('wamp.error.canceled', 'callee gone')]],
    [
      'interrupt the callee when the caller is gone',
      [{ lost: 'caller' }],
      [interrupted('killnowait')],
    ],
  ])('%s', (_name, steps, told) => {
    expect(play([REGISTER, CALL, ...steps])).toEqual([REGISTERED, INVOKED, ...told])
  })

  it('of what no callee has registered fail', () => {
    expect(play([CALL])).toEqual([failed('wamp.error.no_such_procedure')])
    expect(play([REGISTER, ['callee', [MESSAGE.unregister, 2, 1]], CALL])).toEqual([
      REGISTERED,
      ['callee', [MESSAGE.unregistered, 2]],
      failed('wamp.error.no_such_procedure'),
    ])
  })

  it('may not use a request id that is in flight', () => {
    expect(play([REGISTER, CALL, CALL]).slice(2)).toEqual([
      [
        'caller',
        [
          MESSAGE.abort,
          { message: 'request 1 is still in flight' },
          'wamp.error.protocol_violation',
        ],
      ],
      ['caller', 'closed'],
      interrupted('killnowait'),
    ])
  })

  it('name who calls, to callees that know what that is', () => {
    const steps = [REGISTER, called({ disclose_me: true })]
    const details = { caller: 1001, caller_authid: '3ea', caller_authrole: 'client' }
    expect(play(steps)[1]).toEqual(['callee', [MESSAGE.invocation, 1, 1, details]])
    expect(play(steps, {}, PLAIN_ROLES)[1]).toEqual(INVOKED_BARE)
  })

  it.each(['x', 1, false])('take disclose_me %j for no', (disclose) => {
    expect(play([REGISTER, called({ disclose_me: disclose })])[1]).toEqual(INVOKED_BARE)
  })
})

describe('progressive results', () => {
  const asked = called({ receive_progress: true })

  it('go to the caller that requested them', () => {
    expect(play([REGISTER, asked, ['callee', PROGRESS], ['callee', END]])).toEqual([
      REGISTERED,
      ['callee', [MESSAGE.invocation, 1, 1, { receive_progress: true }]],
      ['caller', [MESSAGE.result, 1, { progress: true }, ['half']]],
      ['caller', [MESSAGE.result, 1, {}, ['whole']]],
    ])
  })

  it('are dropped when no caller requested them', () => {
    expect(play([REGISTER, called({}), ['callee', PROGRESS], ['callee', END]]).slice(2)).toEqual([
      ['caller', [MESSAGE.result, 1, {}, ['whole']]],
    ])
  })

  it('are not requested of a callee that does not know them', () => {
    expect(play([REGISTER, asked], {}, PLAIN_ROLES)[1]).toEqual(INVOKED_BARE)
  })

  it('of a call that is over are stopped', () => {
    const steps = [REGISTER, asked, cancel({ mode: 'skip' }), ['callee', PROGRESS]] satisfies Step[]
    expect(play(steps).slice(2)).toEqual([CANCELED, interrupted('killnowait')])
  })
})

describe('CANCEL', () => {
  it.each<[string, Readonly<Record<string, string>>, Told[]]>([
    ['skip', { mode: 'skip' }, [CANCELED]],
    ['killnowait', { mode: 'killnowait' }, [interrupted('killnowait'), CANCELED]],
    ['no mode', {}, [interrupted('killnowait'), CANCELED]],
    ['kill', { mode: 'kill' }, [interrupted('kill')]],
    [
      'another mode',
      { mode: 'constructor' },
      [
        [
          'caller',
          [
            MESSAGE.error,
            MESSAGE.cancel,
            1,
            {},
            'wamp.error.invalid_argument',
            ['mode must be skip, kill or killnowait'],
          ],
        ],
      ],
    ],
  ])('%s', (_name, options, told) => {
    expect(play([REGISTER, called({}), cancel(options)]).slice(2)).toEqual(told)
  })

  it.each(['kill', 'killnowait', 'skip'])('%s of a callee that knows no INTERRUPT', (mode) => {
    const told = play([REGISTER, called({}), cancel({ mode })], {}, PLAIN_ROLES)
    expect(told.slice(2)).toEqual([CANCELED])
  })

  it('kill waits for the callee, and is not said twice', () => {
    const kill = cancel({ mode: 'kill' })
    const error: WampMessage = [MESSAGE.error, MESSAGE.invocation, 1, {}, 'com.stopped']
    expect(play([REGISTER, called({}), kill, kill, ['callee', error]]).slice(2)).toEqual([
      interrupted('kill'),
      failed('com.stopped'),
    ])
  })

  it('of what is not in flight is ignored', () => {
    expect(play([cancel({ mode: 'kill' })])).toEqual([])
  })

  it('drops a late response', () => {
    const late: Step[] = [cancel({ mode: 'skip' }), ['callee', END]]
    expect(play([REGISTER, called({}), ...late]).slice(2)).toEqual([CANCELED])
  })
})

describe('a timeout', () => {
  it.each([
    [299, []],
    [300, [interrupted('killnowait'), failed('wamp.error.timeout', 'call timeout')]],
  ])('after %d of 300 ms', (passMs, told) => {
    expect(play([REGISTER, called({ timeout: 300 }), { passMs }]).slice(2)).toEqual(told)
  })

  it.each(['x', 1.5, -1, 0, true])('of %j is none', (timeout) => {
    const steps = [REGISTER, called({ timeout }), { passMs: 1e9 }]
    expect(play(steps).slice(2)).toEqual([])
  })

  it('longer than timers go is as long as they go', () => {
    expect(play([REGISTER, called({ timeout: 2 ** 52 }), { passMs: 1e9 }]).slice(2)).toEqual([])
  })

  it('does not come after the result', () => {
    const steps: Step[] = [REGISTER, called({ timeout: 300 }), ['callee', END], { passMs: 1000 }]
    expect(play(steps)).toHaveLength(3)
  })
})

describe('what cannot be carried', () => {
  const refusing = (client: string, type: number): readonly Told[] => {
    const stage = createStage(
      [{ uri: 'r', anonymous: true }],
      (to, message) => to !== client || message[0] !== type,
    )
    for (const name of ['caller', 'callee']) {
      stage.run([name, [MESSAGE.hello, 'r', { roles: PLAIN_ROLES }]])
    }
    stage.told.length = 0
    const end: WampMessage = [MESSAGE.yield, 1, {}, ['huge']]
    for (const step of [REGISTER, CALL, ['callee', end] as const]) stage.run(step)
    return stage.told.filter(([who]) => who === 'caller')
  }

  it.each([
    ['callee', MESSAGE.invocation, 'the callee cannot be sent these arguments'],
    ['caller', MESSAGE.result, 'the caller cannot be sent this result'],
  ])('to the %s is an ERROR to the caller', (client, type, why) => {
    expect(refusing(client, type)).toEqual([failed('wamp.error.invalid_payload', why)])
  })
})
