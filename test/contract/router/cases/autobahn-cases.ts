// The client that most callees and pages use, over its own transports: a router that it cannot work with is of no
// use to the people behind the gateway.

import { isList, type Value } from '../../../../language/expression/value.ts'
import {
  type AutobahnClientOptions,
  type AutobahnSession,
  loadAutobahn,
  openAutobahn,
} from '../../../support/autobahn-client.ts'
import { eventually } from '../../../support/eventually.ts'
import { OPEN_REALM, SECURED_REALM } from '../../../support/routers/router-config.ts'
import { call, type PeerEvent, publish, register, subscribe } from '../../../support/wamp-peer.ts'
import { type CaseContext, type ContractCase, errorOf } from '../contract-case.ts'

const WIRES = [
  ['ws', 'JSON'],
  ['ws', 'Msgpack'],
  ['ws', 'CBOR'],
  ['rawsocket', 'JSON'],
] as const

const ALL = {
  called: { args: [1, 'é'], kwargs: { a: { b: null } } },
  failed: { error: 'com.example.error.sold_out', args: ['ZPK1972'], kwargs: { left: 0 } },
  plain: 'wamp.error.runtime_error',
  calls: [2],
  published: [[3], { c: 4 }],
  event: [[5], { d: 6 }, '.topic'],
}

export const AUTOBAHN_CASES: readonly ContractCase[] = [
  ...WIRES.map(([transport, serializer]): ContractCase => ({
    name: `calls, is called, publishes and subscribes by ${transport} ${serializer}`,
    same: ALL,
    run: async (context) => {
      const url = context.router[transport]
      await using session = await openAutobahn({ url, realm: OPEN_REALM, serializer })
      return { ...(await asCallee(context, session)), ...(await asUser(context, session)) }
    },
  })),
  {
    name: 'joins with a ticket',
    same: true,
    run: (context) =>
      joins(context, {
        authmethods: ['ticket'],
        authid: 'gateway',
        onchallenge: () => 'gateway-ticket',
      }),
  },
  {
    name: 'joins with wampcra',
    same: true,
    run: async (context) => {
      const { auth_cra: cra } = await loadAutobahn()
      return joins(context, {
        authmethods: ['wampcra'],
        authid: 'gateway-cra',
        onchallenge: (_session, _method, { challenge }) =>
          cra.sign('gateway-cra-secret', challenge),
      })
    },
  },
]

const joins = async (
  { router }: CaseContext,
  options: Partial<AutobahnClientOptions>,
): Promise<boolean> => {
  await using session = await openAutobahn({ url: router.ws, realm: SECURED_REALM, ...options })
  return session.isOpen
}

const asCallee = async (
  { caller, uri }: CaseContext,
  session: AutobahnSession,
): Promise<Partial<typeof ALL>> => {
  const autobahn = await loadAutobahn()
  await session.register(`${uri}.echo`, (args, kwargs) => new autobahn.Result(args, kwargs))
  await session.register(`${uri}.fail`, () => {
    throw new autobahn.Error('com.example.error.sold_out', ['ZPK1972'], { left: 0 })
  })
  await session.register(`${uri}.throw`, () => {
    throw new Error('plain')
  })
  const arguments_ = { args: [1, 'é'], kwargs: { a: { b: null } } }
  return {
    called: (await call(caller, `${uri}.echo`, arguments_)) as typeof ALL.called,
    failed: (await call(caller, `${uri}.fail`)) as typeof ALL.failed,
    plain: String(errorOf(await call(caller, `${uri}.throw`))),
  }
}

const asUser = async (
  { caller, callee, uri }: CaseContext,
  session: AutobahnSession,
): Promise<object> => {
  await register(callee, `${uri}.add`, ({ args }) => ({ args: [sum(args)] }))
  const seen: PeerEvent[] = []
  await subscribe(callee, `${uri}.published`, (event) => seen.push(event))
  const events: unknown[] = []
  await session.subscribe(
    uri,
    (args, kwargs, { topic }) => events.push([args, kwargs, topic.slice(uri.length)]),
    { match: 'prefix' },
  )
  const calls = [await session.call(`${uri}.add`, [1, 1])]
  await session.publish(`${uri}.published`, [3], { c: 4 }, { acknowledge: true })
  await publish(caller, `${uri}.topic`, { args: [5], kwargs: { d: 6 } })
  return await eventually(() => {
    const [first] = seen
    if (first === undefined || events.length === 0) throw new Error('no event yet')
    return { calls, published: [first.args, first.kwargs], event: events[0] }
  })
}

const sum = (args: Value): number =>
  isList(args) ? args.reduce<number>((total, value) => total + Number(value), 0) : NaN
