// Who is asked: exact, prefix and wildcard registrations, shared ones by each policy, and their end.

import { isList, type ValueMap } from '../../../../language/expression/value.ts'
import { call, idOf, register, unregister } from '../../../support/wamp-peer.ts'
import {
  ABLE_CALLEE,
  type CaseContext,
  type ContractCase,
  errorOf,
  textIn,
} from '../contract-case.ts'

const TWICE = 'wamp.error.procedure_already_exists'

export const REGISTRATION_CASES: readonly ContractCase[] = [
  {
    name: 'the same procedure twice, by the same session and by another',
    same: [TWICE, TWICE],
    run: async ({ callee, open, uri }) => {
      await register(callee, uri, () => ({}))
      const other = await open()
      return [
        errorOf(await register(callee, uri, () => ({}))),
        errorOf(await register(other, uri, () => ({}))),
      ]
    },
  },
  { name: 'invoke single', same: [TWICE], run: (context) => shared(context, 'single') },
  { name: 'invoke first', same: Array(6).fill('a'), run: (context) => shared(context, 'first') },
  { name: 'invoke last', same: Array(6).fill('b'), run: (context) => shared(context, 'last') },
  {
    name: 'invoke roundrobin: in turn',
    same: ['a', 'a', 'a', 'b', 'b', 'b'],
    run: async (context) => [...(await shared(context, 'roundrobin'))].sort(),
  },
  {
    name: 'invoke random: one or the other',
    same: true,
    run: async (context) => /^([ab],){5}[ab]$/.test((await shared(context, 'random')).join()),
  },
  {
    name: 'another policy for the same procedure',
    each: {
      embedded: TWICE,
      nexus: TWICE,
      crossbar: 'wamp.error.procedure_exists_with_different_invocation_policy',
    },
    run: async ({ callee, open, uri }) => {
      await register(callee, uri, () => ({}), { invoke: 'first' })
      return errorOf(await register(await open(), uri, () => ({}), { invoke: 'last' }))
    },
  },
  {
    name: 'prefix: details.procedure is what was called',
    same: '.x.y',
    run: (context) =>
      patterned(context, { match: 'prefix', pattern: context.uri, called: `${context.uri}.x.y` }),
  },
  {
    name: 'wildcard: details.procedure is what was called',
    same: '.x.tail',
    run: (context) =>
      patterned(context, {
        match: 'wildcard',
        pattern: `${context.uri}..tail`,
        called: `${context.uri}.x.tail`,
      }),
  },
  {
    name: 'exact wins over prefix',
    same: { args: ['exact'] },
    run: async ({ caller, callee, uri }) => {
      await register(callee, uri, () => ({ args: ['prefix'] }), { match: 'prefix' })
      await register(callee, `${uri}.a`, () => ({ args: ['exact'] }))
      return call(caller, `${uri}.a`)
    },
  },
  {
    name: 'after UNREGISTER there is no such procedure',
    same: ['wamp.error.no_such_procedure', 'wamp.error.no_such_registration'],
    run: async ({ caller, callee, uri }) => {
      const id = idOf(await register(callee, uri, () => ({})))
      await unregister(callee, id)
      return [errorOf(await call(caller, uri)), errorOf(await unregister(callee, id))]
    },
  },
  {
    name: 'a registration ends with its session',
    same: 'wamp.error.no_such_procedure',
    run: async ({ caller, open, uri }) => {
      const leaving = await open()
      await register(leaving, uri, () => ({}))
      leaving.close()
      await leaving.endsWithin(2000)
      // The router may hear of the call first.
      const first = errorOf(await call(caller, uri))
      return first === 'wamp.error.canceled' ? errorOf(await call(caller, uri)) : first
    },
  },
  {
    name: 'a forbidden procedure',
    same: 'wamp.error.not_authorized',
    run: async ({ callee }) =>
      errorOf(await register(callee, 'com.example.forbidden.x', () => ({}))),
  },
]

/** Who answers six calls of a procedure that two sessions share; or the second one's refusal. */
const shared = async (
  { caller, open, uri }: CaseContext,
  invoke: string,
): Promise<readonly unknown[]> => {
  for (const name of ['a', 'b']) {
    const callee = await open({ roles: ABLE_CALLEE })
    const outcome = await register(callee, uri, () => ({ args: [name] }), { invoke })
    if ('error' in outcome) return [outcome.error]
  }
  const order: unknown[] = []
  for (let i = 0; i < 6; i += 1) {
    const { args } = await call(caller, uri)
    order.push(isList(args) ? args[0] : args)
  }
  return order
}

interface Patterned {
  readonly match: string
  readonly pattern: string
  readonly called: string
}

/** The end of `details.procedure`, beyond what all URIs of the case begin with. */
const patterned = async (
  { caller, callee, uri }: CaseContext,
  { match, pattern, called }: Patterned,
): Promise<unknown> => {
  const seen: ValueMap[] = []
  await register(
    callee,
    pattern,
    ({ details }) => {
      seen.push(details)
      return {}
    },
    { match },
  )
  await call(caller, called)
  return textIn(seen[0], 'procedure').slice(uri.length)
}
