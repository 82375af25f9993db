// Procedures that the bridge registers for callbacks, by every transport and serializer.

import type { ValueMap } from '../../../../language/expression/value.ts'
import type { InvocationHandler } from '../../../../dataplane/wamp/session/joined-session.ts'
import { peerError } from '../../../../dataplane/wamp/session/joined-session.ts'
import { call, register } from '../../../support/wamp-peer.ts'
import { errorOf, textIn } from '../../router/contract-case.ts'
import type { BridgeCase, BridgeContext } from '../bridge-case.ts'
import { settledBy } from '../bridge-rig.ts'

export const REGISTRATION_CASES: readonly BridgeCase[] = [
  {
    name: 'an invocation is answered, and knows what was called',
    same: { result: { args: [1], kwargs: { a: 2 } }, procedure: '' },
    run: async (context) => {
      const { peer, uri } = context
      const seen: ValueMap[] = []
      await registered(context, ({ args, kwargs, details }) => {
        seen.push(details)
        return Promise.resolve({ args, kwargs })
      })
      const result = await call(peer, uri, { args: [1], kwargs: { a: 2 } })
      return { result, procedure: textIn(seen[0], 'procedure').slice(uri.length) }
    },
  },
  {
    name: 'an invocation that fails by a WampError is an ERROR of that URI',
    same: { error: 'com.example.error.sold_out', args: ['ZPK1972'], kwargs: { left: 0 } },
    run: async (context) => {
      await registered(context, () => {
        const more = { args: ['ZPK1972'], kwargs: { left: 0 } }
        return Promise.reject(peerError('com.example.error.sold_out', 'sold out', more))
      })
      return call(context.peer, context.uri)
    },
  },
  {
    name: 'an invocation that fails in any other way is a runtime_error without a secret',
    same: { error: 'wamp.error.runtime_error', leaks: false },
    run: async (context) => {
      await registered(context, () => Promise.reject(new Error('password 1234')))
      const outcome = await call(context.peer, context.uri)
      return { error: errorOf(outcome), leaks: JSON.stringify(outcome).includes('1234') }
    },
  },
  ...(['first', 'last', 'roundrobin', 'random'] as const).map((invoke): BridgeCase => ({
    name: `invoke ${invoke} with a callee that is not ours`,
    same: true,
    run: async (context) => {
      const { open, peer, uri } = context
      await registered(context, () => Promise.resolve({ args: ['a'], kwargs: {} }), { invoke })
      await register(await open(), uri, () => ({ args: ['b'] }), { invoke })
      let order = ''
      for (let i = 0; i < 6; i += 1) {
        const { args } = await call(peer, uri)
        order += Array.isArray(args) ? String(args[0]) : '?'
      }
      return EXPECTED_ORDER[invoke].test(order)
    },
  })),
  {
    name: 'a procedure that another one has',
    same: 'wamp.error.procedure_already_exists',
    run: async (context) => {
      await register(context.peer, context.uri, () => ({}))
      const refused = registered(context, () => Promise.resolve({ args: [], kwargs: {} }))
      return errorOf(await settledBy(refused))
    },
  },
  {
    name: 'prefix: one registration for many procedures',
    same: '.x.y',
    run: async (context) => {
      const { peer, uri } = context
      await registered(
        context,
        ({ details }) => Promise.resolve({ args: [details['procedure'] ?? null], kwargs: {} }),
        { match: 'prefix' },
      )
      const { args } = await call(peer, `${uri}.x.y`)
      return Array.isArray(args) ? String(args[0]).slice(uri.length) : args
    },
  },
  {
    name: 'released: no such procedure, and a second release finds nothing',
    same: { released: [true, false], after: 'wamp.error.no_such_procedure' },
    run: async (context) => {
      const { rig, peer, uri } = context
      const { id } = await registered(context, () => Promise.resolve({ args: [], kwargs: {} }))
      const released = [
        await rig.client.release('registration', id),
        await rig.client.release('registration', id),
      ]
      return { released, after: errorOf(await call(peer, uri)) }
    },
  },
  {
    name: 'many invocations at once, answered in any order, each to its caller',
    same: 50,
    run: async (context) => {
      const { peer, uri } = context
      const waiting: (() => void)[] = []
      await registered(context, async ({ args, kwargs }) => {
        const { promise, resolve } = Promise.withResolvers<undefined>()
        waiting.push(() => {
          resolve(undefined)
        })
        // 13 and 50 have no factor in common: each has its turn, in an order of its own.
        if (waiting.length === 50) for (let n = 0; n < 50; n += 1) waiting[(n * 13) % 50]?.()
        await promise
        return { args, kwargs }
      })
      const calls = Array.from({ length: 50 }, (_, n) => call(peer, uri, { args: [n] }))
      const responses = await Promise.all(calls)
      return responses.filter(({ args }, n) => JSON.stringify(args) === `[${n}]`).length
    },
  },
]

const EXPECTED_ORDER = {
  first: /^a{6}$/,
  last: /^b{6}$/,
  roundrobin: /^(ab){3}$|^(ba){3}$/,
  random: /^[ab]{6}$/,
} as const

const registered = (
  { rig, uri }: BridgeContext,
  handler: InvocationHandler,
  options: ValueMap = {},
): Promise<{ readonly id: number }> =>
  rig.client.register({ procedure: uri, options, handler, callback: 'http://callback/' })
