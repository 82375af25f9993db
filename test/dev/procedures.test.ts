// The example procedures, called as the examples call them.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Procedures, startProcedures } from '../../dev/procedures.ts'
import { type Router, startRouter } from '../../dev/router/router.ts'
import { MESSAGE, type WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import { eventually } from '../support/eventually.ts'
import { openRawPeer, type RawPeer } from '../support/raw-wamp-peer.ts'
import { call, callMessage, type PeerEvent, subscribe } from '../support/wamp-peer.ts'

const REALM = 'com.example.realm'

let router: Router
let procedures: Procedures
let caller: RawPeer

beforeAll(async () => {
  router = await startRouter({ realms: [{ uri: REALM, anonymous: true }] })
  procedures = await startProcedures(router.wsUrl, REALM, 20)
  caller = await openRawPeer({ url: router.wsUrl, realm: REALM })
})

afterAll(async () => {
  caller.close()
  await procedures.close()
  await router.close()
})

const order = { id: '1', sku: 'ZPK1972', quantity: 2, status: 'open' }

describe('each procedure', () => {
  it.each([
    ['com.example.math.add', { args: [2, 3, 4] }, { args: [9] }],
    ['com.example.math.add', {}, { args: [0] }],
    [
      'com.example.math.add',
      { args: [2, '3'] },
      { error: 'wamp.error.invalid_argument', args: ['only numbers can be added'] },
    ],
    ['com.example.orders.get', { args: ['1'] }, { args: [order] }],
    ['com.example.orders.get', { kwargs: { id: 1 } }, { args: [order] }],
    [
      'com.example.orders.get',
      { args: ['__proto__'] },
      {
        error: 'com.example.error.no_such_order',
        args: ['__proto__'],
        kwargs: { id: '__proto__' },
      },
    ],
    [
      'com.example.orders.list',
      { kwargs: { status: 'open' } },
      { kwargs: { items: [order], total: 1 } },
    ],
    [
      'com.example.orders.create',
      { kwargs: { sku: 1 } },
      {
        error: 'wamp.error.invalid_argument',
        args: ['sku (text) and quantity (number) are needed'],
      },
    ],
    ['com.example.slow', { args: [1] }, { args: [1] }],
    ['com.example.slow', { kwargs: { ms: 2 } }, { args: [2] }],
    [
      'com.example.fail',
      { kwargs: { sku: 'A' } },
      { error: 'com.example.error.out_of_stock', args: ['A', 3], kwargs: { sku: 'A', left: 0 } },
    ],
    [
      'com.example.report',
      { kwargs: { steps: 1, every_ms: 1 } },
      { args: [{ title: 'Orders of the day', steps: 1 }] },
    ],
  ])('%s %j', async (procedure, options, outcome) => {
    expect(await call(caller, procedure, options)).toEqual(outcome)
  })
})

describe('an order that is made', () => {
  it('is published to subscribers, and stays', async () => {
    const events: PeerEvent[] = []
    await subscribe(caller, 'com.example.orders.created', (event) => events.push(event))
    const kwargs = { sku: 'C-3', quantity: 4 }
    const made = { id: '3', ...kwargs, status: 'open' }
    expect(await call(caller, 'com.example.orders.create', { kwargs })).toEqual({ args: [made] })
    await eventually(() => {
      expect(events).toMatchObject([{ kwargs: made }])
    })
    expect(await call(caller, 'com.example.orders.get', { args: ['3'] })).toEqual({ args: [made] })
  })
})

describe('the report', () => {
  it('comes in steps for a caller that wants them', async () => {
    const results: WampMessage[] = []
    const asked = callMessage(caller, 'com.example.report', {
      kwargs: { steps: 2, every_ms: 1 },
      options: { receive_progress: true },
    })
    caller.listen((message) => {
      if (message[0] !== MESSAGE.result || message[1] !== asked[1]) return false
      results.push(message)
      return true
    })
    caller.send(asked)
    await eventually(() => {
      expect(results.map((result) => result.slice(2))).toEqual([
        [{ progress: true }, [], { step: 1, steps: 2 }],
        [{ progress: true }, [], { step: 2, steps: 2 }],
        [{}, [{ title: 'Orders of the day', steps: 2 }]],
      ])
    })
  })
})

describe('the clock', () => {
  it('ticks', async () => {
    const events: PeerEvent[] = []
    await subscribe(caller, 'com.example.clock', (event) => events.push(event))
    await eventually(() => {
      expect(events.length).toBeGreaterThan(1)
    })
    expect(events[0]?.kwargs).toEqual({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      seconds: expect.any(Number),
    })
  })
})

describe('startProcedures', () => {
  it('says where it could not start, and leaves nothing behind', async () => {
    const before = router.sessionIds(REALM)
    await expect(startProcedures(router.wsUrl, REALM)).rejects.toThrow(
      `the example procedures cannot be registered at ${router.wsUrl}`,
    )
    await eventually(() => {
      expect(router.sessionIds(REALM)).toEqual(before)
    })
    await expect(startProcedures(router.wsUrl, 'com.example.other')).rejects.toThrow(
      'wamp.error.no_such_realm',
    )
  })
})
